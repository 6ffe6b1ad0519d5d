"""Search by marks: ids and pictures as one query, against the world of the gallery."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.galleries.search_by_marks import gallery_world


def images(seed=0):
    """Ten images of each of six kinds."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.standard_normal((6, 16)), 10, axis=0) + 0.6 * rng.standard_normal((60, 16))


def gallery(background=200):
    rng = np.random.default_rng(1)
    g = mc.Gallery(background=rng.standard_normal((background, 16)) if background else None)
    g.add(images(), ids=[f"im{i}" for i in range(60)], metadata={"kind": [i // 10 for i in range(60)]})
    return g


def test_it_is_the_machine_of_the_marks_against_the_background_set():
    g = gallery()
    query = (
        mc.RelevanceFeedback()
        .fit(g.state().indexes[0].encoder.background_)
        .query(g.codes(["im0", "im1"]), g.codes(["im10"]))
    )
    mask = ~np.isin(g.ids, ["im0", "im1", "im10"])
    expected = g.search_embeddings(query.direction, 9, mask, query.background)
    found = mc.runs.search_marked(g, ["im0", "im1"], ["im10"], k=9)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.percentiles, expected.percentiles)


def test_one_image_alone_is_searched_for_as_ever():
    g = gallery()
    found, plain = mc.runs.search_marked(g, ["im7"], k=5), g.search_ids("im7", 5)
    np.testing.assert_array_equal(found.ids, plain.ids)
    np.testing.assert_array_equal(found.p_values, plain.p_values)


def test_a_world_may_be_given_as_rows_or_fitted():
    g = gallery()
    world = mc.Gallery(background=np.random.default_rng(5).standard_normal((90, 16)))
    rows = world.state().indexes[0].encoder.background_
    one = mc.runs.search_marked(g, ["im7"], world=rows)
    other = mc.runs.search_marked(g, ["im7"], world=mc.RelevanceFeedback().fit(rows))
    np.testing.assert_array_equal(one.ids, other.ids)
    assert one.percentiles.shape == (1, 10)
    assert "im7" not in one.ids


def test_marks_are_not_found_and_conditions_hold():
    g = gallery()
    g.remove("im5")
    found = mc.runs.search_marked(g, ["im0", "im1"], ["im10"], k=99, where={"kind": [0, 1]}).ids[0]
    assert set(found) == {f"im{i}" for i in range(20)} - {"im0", "im1", "im5", "im10"}


def test_a_gallery_that_knows_no_others_is_its_own_world():
    g = gallery(background=None)
    np.testing.assert_array_equal(gallery_world(g), g.codes(g.ids))
    assert mc.runs.search_marked(g, ["im0", "im1"], ["im30"]).percentiles is not None
    few = gallery(background=10)
    assert len(gallery_world(few)) == 60
    assert len(gallery_world(gallery(background=40))) == 40


def test_what_a_gallery_that_is_its_own_world_finds_is_told_from_chance():
    rng = np.random.default_rng(2)
    kinds = np.repeat(rng.standard_normal((20, 64)), 20, axis=0)
    g = mc.Gallery()
    g.add(np.vstack([kinds + 0.5 * rng.standard_normal(kinds.shape), rng.standard_normal((2, 64))]))
    found = mc.runs.search_marked(g, [0, 1, 2, 3], [25], k=30)
    assert found.matched.tolist() == [True]
    assert set(found.ids[0, :5]) <= set(range(20))
    assert found.expected_false_matches[0, :5].max() < 0.05 < found.expected_false_matches[0, 25:].min()
    assert mc.runs.search_marked(g, [400, 401], [25]).matched.tolist() == [False]


def test_a_background_set_that_was_drawn_from_the_gallery_is_its_own_world():
    g = gallery()
    plain = mc.runs.search_marked(g, ["im0", "im1"], ["im10"])
    g.own_background = True
    bulk = mc.runs.search_marked(g, ["im0", "im1"], ["im10"])
    np.testing.assert_array_equal(bulk.ids, plain.ids)
    assert not np.allclose(bulk.expected_false_matches, plain.expected_false_matches)


def test_of_a_large_gallery_a_sample_is_the_world(monkeypatch):
    monkeypatch.setattr("manyclass.runs.galleries.search_by_marks.MOST_ROWS", 12)
    g = gallery(background=None)
    world = gallery_world(g)
    assert world.shape == (12, 16)
    np.testing.assert_array_equal(world, gallery_world(g))


@pytest.mark.parametrize(
    ("like", "unlike", "sentence"),
    [
        ([], [], r"like must be a list of at least one image; got \[\]"),
        ("im0", [], "like must be a list of at least one image; got 'im0'"),
        (["im0"], ["no"], "marks must be ids of the gallery or files of pictures; 'no' is neither"),
        (["im0", 3], [], "marks must be ids of the gallery or files of pictures; '3' is neither"),
    ],
)
def test_a_mistake_is_one_sentence(like, unlike, sentence):
    with pytest.raises(ValueError, match=sentence):
        mc.runs.search_marked(gallery(), like, unlike)
