"""The real ground truth of Holidays, Oxford and Paris, where MANYCLASS_DATA has it, under the official arithmetic."""

import os
from pathlib import Path

import numpy as np
import pytest

from manyclass.evaluation import Query, Truth, average_precisions, mean_average_precision, mean_precision_at, read_truth
from tests.evaluation import official_programs as official

FOLDER = Path(os.environ.get("MANYCLASS_DATA", "nowhere"))
SIZES = {"gnd_holidays.mat": (1491, 500), "gnd_oxford5k.mat": (5062, 55), "gnd_paris6k.mat": (6392, 55)}


def found(name):
    paths = sorted(FOLDER.rglob(name))
    if not paths:
        pytest.skip(f"{name} is not in MANYCLASS_DATA")
    return read_truth(paths[0])


def scores_with_ties(truth, levels=200):
    """Random levels, a little higher for what is right, so that average precisions are of all sizes."""
    rng = np.random.default_rng(0)
    scores = rng.random((len(truth.queries), len(truth.names)))
    for row, query in zip(scores, truth.queries, strict=True):
        row[query.positives] += rng.random()
    return np.floor(levels * scores) / levels


@pytest.mark.parametrize("name", SIZES)
def test_the_files_have_their_known_sizes(name):
    truth = found(name)
    assert (len(truth.names), len(truth.queries)) == SIZES[name]


def test_holidays_list_and_mat_tell_the_same():
    listed, mat = found("holidays_images.dat"), found("gnd_holidays.mat")
    for one, other in zip(listed.queries, mat.queries, strict=True):
        assert one.row == other.row
        np.testing.assert_array_equal(one.positives, other.positives)
    assert sum(len(query.positives) for query in listed.queries) == 991


@pytest.mark.parametrize("name", ["holidays_images.dat", "gnd_holidays.mat"])
def test_holidays_as_its_program_scores_it(name):
    truth = found(name)
    scores = scores_with_ties(truth)
    expected = [
        official.holidays(query.row, set(query.positives), official.ranked_by(row))
        for query, row in zip(truth.queries, scores, strict=True)
    ]
    np.testing.assert_allclose(average_precisions(scores, truth, "holidays"), expected, atol=1e-6, rtol=0)
    assert mean_average_precision(scores, truth, "holidays") == pytest.approx(np.mean(expected), abs=1e-6)


@pytest.mark.parametrize("name", ["gnd_oxford5k.mat", "gnd_paris6k.mat"])
def test_oxford_and_paris_as_their_program_scores_them(name):
    truth = found(name)
    scores = scores_with_ties(truth)
    expected = [
        official.walk_the_list(set(query.positives), set(query.junk), official.ranked_by(row))
        for query, row in zip(truth.queries, scores, strict=True)
    ]
    np.testing.assert_allclose(average_precisions(scores, truth, "oxford"), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
@pytest.mark.parametrize("name", ["gnd_oxford5k.mat", "gnd_paris6k.mat"])
def test_a_revisited_form_of_them_as_its_program_scores_it(name, difficulty):
    classic = found(name)
    # Every other positive is called hard, and the query is taken to be outside.
    queries = [Query(query.name, query.positives[::2], query.positives[1::2], query.junk) for query in classic.queries]
    truth = Truth(classic.names, tuple(queries))
    scores = scores_with_ties(classic)
    expected, precisions = [], []
    for query, row in zip(truth.queries, scores, strict=True):
        right = {"easy": query.easy, "medium": query.positives, "hard": query.hard}[difficulty]
        junk = np.setdiff1d(np.concatenate([query.easy, query.hard, query.junk]), right)
        ap, at = official.revisited(right, junk, official.ranked_by(row), [1, 5, 10])
        expected.append(ap)
        precisions.append(at)
    np.testing.assert_allclose(average_precisions(scores, truth, "revisited", difficulty), expected, atol=1e-6, rtol=0)
    found_at = [mean_precision_at(scores, truth, k, "revisited", difficulty) for k in (1, 5, 10)]
    np.testing.assert_allclose(found_at, np.mean(precisions, axis=0), atol=1e-6)
