"""Shapes of answers: what is told of a picture, and how errors are described."""

import pytest
from pydantic import ValidationError

from manyclass.server.answers import BODY, ErrorAnswer, JobAnswer, PictureAnswer, refusals
from manyclass.server.jobs import Job

PICTURE = {
    "id": "a/b.jpg", "number": 3, "name": "b.jpg", "folder": "a", "class": "cat", "label": None, "set_aside": False,
    "url": "/api/pictures/3/thumbnail",
}  # fmt: skip


def test_a_picture_is_answered_as_it_is_told():
    assert PictureAnswer(**PICTURE).model_dump(by_alias=True) == PICTURE


def test_more_may_be_told_of_a_picture_but_not_less():
    assert PictureAnswer(**PICTURE, width=7).model_dump()["width"] == 7
    with pytest.raises(ValidationError):
        PictureAnswer(**{key: value for key, value in PICTURE.items() if key != "url"})


def test_a_job_is_answered_as_it_is():
    job = Job("1", "audit", "looking", "images", lambda job: None)
    assert JobAnswer(**job.json()).model_dump() == job.json()


def test_every_refusal_is_one_sentence_and_a_wrong_shape_is_always_one():
    said = refusals(404, *BODY)
    assert set(said) == {404, *BODY, 422}
    assert {one["model"] for one in said.values()} == {ErrorAnswer}
    assert all(one["description"] for one in said.values())
