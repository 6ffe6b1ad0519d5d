"""A row is given the same class however the classes are divided, and it is the best of all scores."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass import _native
from manyclass.solvers import shortlist
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import judging
from manyclass.solvers.sgd.descent import AveragedWeights
from manyclass.solvers.sgd.judging import Jury, Opening, Verdict, mean_class_accuracy
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights


def right_twin(X, y, machines):
    """By all scores in float64, of equals the first."""
    S = X.astype(np.float64) @ (machines.W.astype(np.float64) * machines.scales[:, None]).T + machines.biases
    return S.argmax(axis=1) == y


def whole(n, k, d, seed=0):
    """Rows and weights of small whole numbers, whose sums are exact in any order and often equal."""
    rng = np.random.default_rng(seed)
    machines = LinearWeights.of(rng.integers(-1, 2, (k, d)), rng.integers(-1, 2, k))
    X = rng.integers(-1, 2, (n, d)).astype(np.float32)
    return X, rng.integers(0, k, n), machines


def trained(n, k, d, seed=0, noise=3.0):
    """Machines that share a subspace, and rows of which about half are given their own class."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(k, 16)) @ rng.normal(size=(16, d))
    y = rng.integers(0, k, n)
    X = means[y] + noise * 4 * rng.normal(size=(n, d))
    W = means + 2 * rng.normal(size=(k, d))
    machines = LinearWeights.of(W, -0.5 * np.square(means).sum(axis=1) + rng.normal(size=k))
    return X.astype(np.float32), y, machines


def ranges(machines, starts):
    """Machines of ranges that begin at 0 and at these multiples of PANEL."""
    bounds = [0, *(PANEL * start for start in sorted(starts) if 0 < PANEL * start < len(machines.W)), len(machines.W)]
    return [LinearWeights(*(array[a:b] for array in machines.arrays().values()), first=a) for a, b in pairwise(bounds)]


def judged_apart(jury, parts):
    opening = Opening.join([jury.opening(part) for part in parts])
    return jury.is_own(Verdict.join([jury.verdict(part, opening) for part in parts]))


def spy(monkeypatch):
    """The number of rows that each call to the packed loop judges."""
    rows, kept = [], _native.find_rivals
    monkeypatch.setattr(_native, "find_rivals", lambda **given: rows.append(len(given["X"])) or kept(**given))
    return rows


@pytest.fixture
def small(monkeypatch):
    """Packed weights for problems of any size; the numbers of rows that they judge."""
    monkeypatch.setattr(judging, "_ROWS", 128)
    for name, value in {"ROWS": 100, "CLASSES": 300, "COLUMNS": 64}.items():
        monkeypatch.setattr(shortlist, name, value)
    monkeypatch.setattr(_native, "lookups_are_fast", lambda: True)
    return spy(monkeypatch)


@pytest.fixture(params=_native.levels())
def level(request):
    before = _native.level()
    _native.set_level(request.param)
    yield request.param
    _native.set_level(before)


@given(
    n=st.integers(1, 80), k=st.integers(1, 600), d=st.integers(1, 40), starts=st.sets(st.integers(1, 4)),
    seed=st.integers(0, 999),
)  # fmt: skip
def test_any_division_gives_the_best_of_all_scores(n, k, d, starts, seed):
    X, y, machines = whole(n, k, d, seed)
    jury = Jury(Problem.whole(mc.as_matrix(X), y, k))
    expected = right_twin(X, y, machines)
    np.testing.assert_array_equal(jury.right(machines), expected)
    np.testing.assert_array_equal(judged_apart(jury, ranges(machines, starts)), expected)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("k", "d"), [(700, 130), (513, 97), (384, 512)])
def test_packed_weights_give_it_too(small, level, k, d, seed):
    X, y, machines = trained(300, k, d, seed, noise=d / 60)
    jury = Jury(Problem.whole(mc.as_matrix(X), y, k))
    expected = right_twin(X, y, machines)
    assert 0.1 < expected.mean() < 0.95
    np.testing.assert_array_equal(jury.right(machines), expected)
    assert sorted(small) == [44, 64, 128, 128]  # blocks, and the trial
    for starts in ({1}, {2}, {1, 2, 3, 4, 5}):
        np.testing.assert_array_equal(judged_apart(jury, ranges(machines, starts)), expected)


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_divisions_agree_even_where_packed_weights_err(small, monkeypatch, margin):
    # A class is ruled out or not by itself. So narrow a margin misses rivals, the same whoever looks for them.
    monkeypatch.setattr(shortlist, "MARGIN", margin)
    missed = 0
    for seed in range(10):
        X, y, machines = trained(2000, 700, 130, seed)
        jury = Jury(Problem.whole(mc.as_matrix(X), y, 700))
        monkeypatch.setattr(Jury, "_units", units_without_trial)
        found = jury.right(machines)
        missed += np.count_nonzero(found != right_twin(X, y, machines))
        for starts in ({3}, {1, 2, 3, 4, 5}):
            np.testing.assert_array_equal(judged_apart(jury, ranges(machines, starts)), found)
    assert missed > 0


def units_without_trial(jury, opening):
    units = shortlist.ClassUnits.of(opening.some, jury._rows(np.arange(64)).mean(axis=0))
    return units, shortlist.ClassShortlist.pack(opening.some, opening.biases, units)[0].usual_rounding()


@pytest.mark.parametrize("packed", [False, True])
def test_of_equal_classes_the_first_is_given(request, packed):
    rows = request.getfixturevalue("small") if packed else []
    X, y, machines = trained(400, 600, 128, noise=0.5)
    # Every class has a twin 300 classes later, and in the same panel where there are such: bits are the same.
    machines.W[300:], machines.biases[300:] = machines.W[:300].copy(), machines.biases[:300].copy()
    machines.W[1:300:2], machines.biases[1:300:2] = machines.W[:299:2], machines.biases[:299:2]
    jury = Jury(Problem.whole(mc.as_matrix(X), y, 600))
    S = X.astype(np.float64) @ machines.W.T.astype(np.float64) + machines.biases
    expected = (S.max(axis=1) == S[np.arange(len(y)), y]) & (y < 300) & (y % 2 == 0)
    assert 0.1 < expected.mean() < 0.5
    np.testing.assert_array_equal(jury.right(machines), expected)
    np.testing.assert_array_equal(judged_apart(jury, ranges(machines, {1, 2, 3, 4})), expected)
    assert bool(rows) == packed


@pytest.mark.parametrize("packed", [False, True])
def test_codes_are_judged_as_their_rows_are(request, packed):
    rows = request.getfixturevalue("small") if packed else []
    X, y, machines = trained(500, 400, 128)
    codes = mc.ProductQuantizer(block=8).fit(X).encode(X)
    index = np.arange(len(X))[::-2]
    coded, plain = (
        Jury(Problem.whole(matrix, y, 400).part(index)) for matrix in (codes, mc.as_matrix(codes.toarray()))
    )
    found = coded.right(machines)
    np.testing.assert_array_equal(found, plain.right(machines))
    np.testing.assert_array_equal(judged_apart(coded, ranges(machines, {2})), found)
    np.testing.assert_array_equal(found, right_twin(codes.toarray()[index], y[index], machines))
    assert bool(rows) == packed


def odd(change, X, y, machines):
    """Rows or classes of which packed weights say nothing."""
    rng = np.random.default_rng(0)
    if change == "short rows":
        for x in X[::9]:
            x[rng.permutation(len(x))[3:]] = 0
    elif change == "huge rows":
        X[2:7] *= np.float32(1e20)  # between rows of the sample
    elif change == "zero rows":
        X[::50] = 0
    elif change == "sparse classes":
        for w in machines.W[5::90]:
            w[rng.permutation(len(w))[2:]] = 0
    elif change == "huge classes":
        machines.W[5::90] *= np.float32(1e12)
    elif change == "scales":
        machines.scales[::3] = 0.5
    elif change == "zero classes":
        machines.W[5::90], machines.biases[5::90] = 0, -100


@pytest.mark.parametrize(
    "change", ["short rows", "huge rows", "zero rows", "sparse classes", "huge classes", "scales", "zero classes"]
)
def test_odd_rows_and_classes_are_scored_whole(small, change):
    X, y, machines = trained(450, 700, 256, noise=2.0)
    odd(change, X, y, machines)
    jury = Jury(Problem.whole(mc.as_matrix(X), y, 700))
    expected = right_twin(X, y, machines)
    np.testing.assert_array_equal(jury.right(machines), expected)
    np.testing.assert_array_equal(judged_apart(jury, ranges(machines, {1, 4})), expected)
    assert len(small) > 2  # the trial did not speak against packed weights


@pytest.mark.parametrize("change", ["margin", "long", "nan"])
def test_packed_weights_that_miss_something_or_take_long_are_not_used(small, monkeypatch, change):
    X, y, machines = trained(300, 700, 128)
    if change == "margin":
        monkeypatch.setattr(shortlist, "MARGIN", -9.0)
    elif change == "long":
        monkeypatch.setattr(judging, "LONGEST", 0)
    else:
        machines.biases[::32] = np.nan
    Jury(Problem.whole(mc.as_matrix(X), y, 700)).right(machines)
    assert small in ([], [64])


def test_the_number_of_threads_changes_nothing(small):
    X, y, machines = trained(1000, 400, 128)
    jury = Jury(Problem.whole(mc.as_matrix(X), y, 400))
    with mc.threads(1):
        one = jury.verdict(machines, jury.opening(machines))
    with mc.threads(3):
        three = jury.verdict(machines, jury.opening(machines))
    np.testing.assert_array_equal(one.scores, three.scores)
    np.testing.assert_array_equal(one.classes, three.classes)


@pytest.mark.parametrize(("n", "k", "d"), [(50, 5000, 3), (1100, 101, 700), (30, 20, 70_000)])
def test_the_best_class_is_found_whatever_the_shape(level, n, k, d):
    X, y, machines = whole(n, k, d)
    machines.scales[::2] = 0.5
    jury = Jury(Problem.whole(mc.as_matrix(X), y, k))
    verdict = jury.verdict(machines, jury.opening(machines))
    S = X.astype(np.float64) @ machines.W.T * machines.scales + machines.biases
    np.testing.assert_array_equal(verdict.classes, S.argmax(axis=1))
    np.testing.assert_array_equal(verdict.scores, S.max(axis=1))


def test_accuracy_is_the_mean_over_classes():
    X, y, machines = trained(400, 7, 60)
    index = np.arange(0, 400, 3)
    problem = Problem.whole(mc.as_matrix(X), y, 9).part(index)
    machines = LinearWeights.of(np.pad(machines.W, ((0, 2), (0, 0))), np.pad(machines.biases, (0, 2)) - 9)
    right = right_twin(X[index], y[index], machines)
    expected = np.mean([right[y[index] == c].mean() for c in range(7)])
    assert mean_class_accuracy(problem)(AveragedWeights.start(machines)) == pytest.approx(expected)
