"""Which picture to ask for next."""

from itertools import islice

import numpy as np
import pytest

from manyclass.runs.labeling.choosing import (
    Candidates,
    covering,
    learning_picks,
    rare_picks,
    typical_picks,
    uncertain_picks,
    wrong_picks,
)


def unit(Z):
    return (Z / np.linalg.norm(Z, axis=1, keepdims=True)).astype(np.float32)


def among(Z, labeled=None, P=None, counts=()):
    labeled = Z[:0] if labeled is None else labeled
    classes = [] if P is None else ["ant", "bee", "cat"][: P.shape[1]]
    return Candidates(Z, labeled, P, classes, np.array(counts, np.intp))


@pytest.fixture
def groups():
    """Three groups of 30, 20 and 10 around the axes, and one picture apart."""
    rng = np.random.default_rng(0)
    Z = np.repeat(np.eye(4), [30, 20, 10, 1], axis=0) + 0.05 * rng.normal(size=(61, 4))
    return unit(Z), np.repeat(np.arange(4), [30, 20, 10, 1])


def test_typical_pictures_come_from_the_largest_groups_first_and_from_each_once(groups):
    Z, group = groups
    assert [group[pick.number] for pick in islice(typical_picks(among(Z)), 4)] == [0, 1, 2, 3]


def test_groups_that_have_a_label_come_last(groups):
    Z, group = groups
    first = [group[pick.number] for pick in islice(typical_picks(among(Z, Z[:1])), 3)]
    assert first == [1, 2, 3]


@pytest.mark.parametrize("picks", [typical_picks, uncertain_picks, learning_picks, rare_picks])
def test_every_picture_comes_once(groups, picks):
    Z, _ = groups
    for P in (None, np.full((61, 3), 1 / 3)):
        found = [pick.number for pick in picks(among(Z, P=P, counts=[1, 1, 1]))]
        assert sorted(found) == list(range(61))


def test_coverage_is_the_plain_greedy_one():
    rng = np.random.default_rng(1)
    Z, labeled, h = unit(rng.normal(size=(40, 3))), unit(rng.normal(size=(5, 3))), rng.uniform(size=40)
    N = np.exp(10 * (Z @ Z.T - 1))
    covered, expected = np.exp(10 * (Z @ labeled.T - 1)).max(axis=1), []
    for _ in range(40):
        gains = np.maximum(N - covered, 0) @ h
        gains[expected] = -1
        expected.append(int(gains.argmax()))
        covered = np.maximum(covered, N[expected[-1]])
    found = list(covering(among(Z, labeled), h))
    assert found[:25] == expected[:25]  # what follows adds next to nothing, where rounding decides


def test_the_model_hesitates_most_over_the_first_uncertain_one_and_says_between_what():
    P = np.array([[0.9, 0.1, 0.0], [0.45, 0.1, 0.44], [0.2, 0.6, 0.2]])
    first, *_, last = uncertain_picks(among(np.eye(3, dtype=np.float32), P=P))
    assert (first.number, first.reason, last.number) == (1, "uncertain", 0)
    assert first.words == "the model hesitates between ant and cat"


def test_pictures_that_the_model_knows_count_little_however_many_they_are(groups):
    Z, group = groups
    sure = np.array([0.98, 0.01, 0.01])
    P = np.where((group == 0)[:, None], sure, np.array([0.34, 0.33, 0.33]))
    first = next(learning_picks(among(Z, P=P)))
    assert group[first.number] == 1
    assert first.reason == "uncertain"
    P[:] = sure
    assert next(learning_picks(among(Z, P=P))).reason == "typical"


def test_rare_classes_come_first_and_in_turns():
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.6, 0.4]])
    found = list(rare_picks(among(np.eye(4, dtype=np.float32), P=P, counts=[3, 2])))
    assert [pick.number for pick in found] == [2, 0, 1, 3]
    assert found[0].words == "perhaps bee: only 2 pictures of this class yet"
    assert found[0].reason == "rare"


def test_labels_that_are_contradicted_come_first_and_others_not_at_all():
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.1, 0.9]])
    found = list(wrong_picks(P, np.array([0, 0, 0, 0]), ["ant", "bee"]))
    assert [pick.number for pick in found] == [3, 1, 2]
    assert found[0].words == "its label is ant, but it looks like bee"


def test_one_class_and_no_class_are_no_reason_to_fail(groups):
    Z, _ = groups
    for P in (np.ones((61, 1)), np.ones((61, 0))):
        for picks in (uncertain_picks, rare_picks, learning_picks):
            assert len(list(picks(among(Z, P=P, counts=[1] * P.shape[1])))) == 61
    assert list(typical_picks(among(Z[:0]))) == []


@pytest.mark.parametrize("P", [None, np.full((61, 2), 0.3)])
def test_of_many_pictures_some_are_covered_at_a_time(groups, P, monkeypatch):
    sizes = []

    def nearness(Z, others):
        sizes.append(Z.shape[0] * others.shape[0])
        return Z @ others.T

    monkeypatch.setattr("manyclass.runs.labeling.choosing._nearness", nearness)
    monkeypatch.setattr("manyclass.runs.labeling.choosing.COVERED", 20)
    found = [pick.number for pick in rare_picks(among(groups[0], groups[0][:1], P, [1, 1]))]
    assert sorted(found) == list(range(61))
    assert max(sizes) == 20 * 20


def test_while_there_are_classes_not_seen_yet_every_other_rare_pick_is_unlike_what_has_a_label(groups):
    Z, group = groups
    P = np.tile([0.3, 0.2], (61, 1))  # half of all is of other classes
    found = list(islice(rare_picks(among(Z, Z[:1], P=P, counts=[5, 5])), 6))
    assert [group[pick.number] for pick in found[::2]] == [1, 2, 3]
    assert found[0].words == "unlike what has a label: perhaps a class of its own"
    assert found[1].words.startswith("perhaps ant")
