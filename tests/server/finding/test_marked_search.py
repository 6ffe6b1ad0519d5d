"""One picture or several marked ones as one query."""

import shlex

import numpy as np
import pytest

import manyclass as mc
from manyclass.server.collection import open_collection
from manyclass.server.finding.marked_search import MarkedQuery, MarkedSearch, as_command, as_python
from manyclass.server.finding.picture_filter import Condition
from manyclass.server.finding.query_pictures import QueryPicture
from tests.commands import give


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    base, rng = tmp_path_factory.mktemp("marked"), np.random.default_rng(0)
    y = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 128))[y] + 0.4 * rng.normal(size=(400, 128))
    gallery = mc.Gallery(mc.SquareLossExemplar(random_state=0).fit(rng.normal(size=(500, 128))), things="class")
    gallery.add(X, ids=[f"it's {i}.jpg" for i in range(400)], metadata={"class": [str(c) for c in y]})
    gallery.save(base / "a gallery")
    made = open_collection(base / "a gallery", base / "home")
    yield made
    made.close()


def asked(positives, negatives=(), world="negatives", condition=None, leave_out=True):
    return MarkedQuery(tuple(positives), tuple(negatives), world, condition or Condition(), leave_out)


def found(collection, *given, most=20, mask=None, **more):
    return MarkedSearch(collection).find(asked(*given, **more), mask, 0, most)


def test_one_picture_is_searched_for_as_the_gallery_does(collection):
    hits = collection.gallery.search_ids([collection.raw_ids[3]], k=240)
    one = found(collection, [3])
    assert one.numbers == collection.numbers(hits.ids[0].tolist())
    assert one.scores == hits.scores[0].tolist()
    assert one.p_value == hits.p_values[0]
    assert (one.matched, one.total) == (True, 399)
    assert one.words.startswith("matched: ")


def test_marks_find_their_class_and_leave_out_another(collection):
    one = found(collection, [0, 1, 10], [20])
    assert {number // 10 for number in one.numbers[:8]} <= {0, 1}
    assert not {0, 1, 10, 20} & set(one.numbers)
    kept = found(collection, [0, 1, 10], [20], leave_out=False)
    assert {0, 1, 10} <= set(kept.numbers[:15])
    assert kept.total == 400


def test_the_line_is_where_chance_begins(collection):
    one = found(collection, [0, 1, 2])
    assert 5 <= one.line <= 9
    assert one.expected[one.line - 1] <= 0.0513 < one.expected[one.line]


def test_where_all_hits_are_above_the_line_more_are_looked_for(collection, monkeypatch):
    monkeypatch.setattr("manyclass.server.finding.marked_search._AT_LEAST", 2)
    assert found(collection, [0, 1, 2], most=2).line == found(collection, [0, 1, 2], most=300).line > 2


def test_a_filtered_search_stays_within_the_filter(collection):
    mask = np.arange(400) >= 390
    for marks in (([0],), ([0, 1],), ([0], [1])):
        one = found(collection, *marks, mask=mask, condition=Condition(text="x"))
        assert sorted(one.numbers) == list(range(390, 400))
        assert one.total == 10


def test_nothing_may_be_left_to_be_found(collection):
    one = found(collection, [0], mask=np.zeros(400, bool), condition=Condition(text="x"))
    assert (one.numbers, one.words, one.total) == ([], "there is nothing to be found", 0)


def test_the_next_page_needs_no_other_search(collection, monkeypatch):
    searches = MarkedSearch(collection)
    first = searches.find(asked([5, 6]), None, 0, 20)
    monkeypatch.setattr(searches, "_find", lambda *given: pytest.fail("searched again"))
    assert searches.find(asked([5, 6]), None, 0, 120) is first


def test_a_filter_is_asked_again_when_people_said_something(collection):
    searches, condition = MarkedSearch(collection), Condition(label="x")
    one = searches.find(asked([5], condition=condition), np.arange(400) < 20, 1, 10)
    two = searches.find(asked([5], condition=condition), np.arange(400) < 9, 2, 10)
    assert (one.total, two.total) == (19, 8)


@pytest.mark.parametrize("given", [asked([3]), asked([3, 4], [50]), asked([3], condition=Condition(class_="7"))])
def test_the_command_and_the_python_find_the_same(collection, given):
    mask = None
    if given.condition:
        mask = np.array([one == "7" for one in collection.given])
    ids = [collection.ids[n] for n in MarkedSearch(collection).find(given, mask, 0, 5).numbers[:5]]
    scope = {}
    exec(as_python(collection, given, 8), scope)
    assert scope["hits"].ids[0].tolist()[:5] == ids
    words = shlex.split(as_command(collection, given, 8))
    assert words[0] == "manyclass"
    assert ids[0] in give(*words[1:], "--json")


def test_pictures_that_were_sent_are_files_in_python(collection):
    none = np.zeros((1, 128), np.float32)
    sent = QueryPicture("token", None, none, none, 1, 1, {})
    marks = f"['PICTURE', {collection.raw_ids[3]!r}], [{collection.raw_ids[4]!r}]"
    told = as_python(collection, asked([sent, 3], [4]), 8).splitlines()[-1]
    assert told == f"hits = mc.runs.search_marked(gallery, {marks}, k=8)"


def test_another_world_is_named_in_python(collection):
    scope = {}
    exec(as_python(collection, asked([3, 4], [50], world="gallery"), 8), scope)
    assert len(scope["world"]) == len(collection)
    assert scope["hits"].ids.shape == (1, 8)
    told = as_python(collection, asked([3, 4], [50], world="folder:it's a"), 8)
    assert """if one.startswith("it's a/")""" in told
