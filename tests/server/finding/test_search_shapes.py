"""What may be asked."""

import pytest
from pydantic import ValidationError

from manyclass.server.finding.picture_filter import Condition
from manyclass.server.finding.search_shapes import CropRequest, Ref, SearchRequest, Where


def test_where_becomes_a_condition():
    where = Where.model_validate({"class": "cat", "folder": "a", "text": "b", "label": "c"})
    assert where.condition() == Condition("cat", "a", "b", "c")
    assert not Where.model_validate({}).condition()


@pytest.mark.parametrize(
    "values", [{}, {"id": "a", "query": "b"}, {"id": "a" * 5000}, {"path": "/etc/passwd"}, {"id": 3}]
)
def test_a_picture_is_named_in_one_way(values):
    with pytest.raises(ValidationError):
        Ref.model_validate(values)


def test_a_search_needs_something_to_search_for():
    assert SearchRequest.model_validate({"positives": [{"id": "a"}]}).where.condition() == Condition()
    for wrong in ({}, {"positives": []}, {"positives": [{"id": "a"}], "start": -1}, {"positives": [{"id": "a"}] * 501}):
        with pytest.raises(ValidationError):
            SearchRequest.model_validate(wrong)


@pytest.mark.parametrize("box", [(0, 0, 1, 1), (0.2, 0.3, 0.4, 0.5)])
def test_a_box_within_the_picture(box):
    assert CropRequest.model_validate({"of": {"id": "a"}, "box": box}).box == box


@pytest.mark.parametrize("box", [(0, 0, 0, 1), (0.5, 0, 0.4, 1), (0, 0, 2, 1), (float("nan"), 0, 1, 1)])
def test_a_box_that_is_none(box):
    with pytest.raises(ValidationError, match="left < right"):
        CropRequest.model_validate({"of": {"id": "a"}, "box": box})
