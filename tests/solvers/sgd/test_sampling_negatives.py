"""Every class meets beta negatives for each of its positives, whatever the sizes of the classes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers import twins

import manyclass as mc
from manyclass import _native
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule, cumulative_rates, negative_rates

SIZES = [4, 12, 40, 200, 300, 444]


def labels(sizes):
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def pairs(y, offsets, P, threads=1):
    """(n, k) which classes the compiled loop shows each example to: rows at right angles each leave a mark of 1."""
    n, k = len(y), len(P) - 1
    machines = LinearWeights.zeros(k, n)
    _native.one_vs_rest(
        np.eye(n, dtype=np.float32), y, np.ones(n, np.float32), offsets, P, **machines.arrays(),
        loss=_native.Loss.hinge, step=1.0, regularization=0.0, bias_rate=0.0, decay=0.0,
        losses=np.zeros(k), threads=threads,
    )  # fmt: skip
    assert (machines.steps == (machines.W != 0).sum(axis=1)).all()
    return machines.W.T != 0


def pairs_of_block(y, offsets, P, threads=1):
    n, k = len(y), len(P) - 1
    eye, S, machines = np.eye(n, dtype=np.float32), np.zeros((n, k), np.float32), LinearWeights.zeros(k, n)
    _native.one_vs_rest_block(
        eye, y, np.ones(n, np.float32), offsets, P, **machines.arrays(),
        loss=_native.Loss.hinge, step=1.0, regularization=0.0, bias_rate=0.0, decay=0.0,
        G=eye, S=S, losses=np.zeros(k), threads=threads,
    )  # fmt: skip
    return S != 0


def steps_per_epoch(sizes, beta, epochs):
    problem = Problem.whole(mc.as_matrix(np.ones((sum(sizes), 1), np.float32)), labels(sizes), len(sizes))
    machines = LinearWeights.zeros(problem.k, 1)
    for epoch in range(epochs):
        OneVsRest(MARGIN_LOSSES["hinge"], beta).epoch(problem, machines, Schedule(0.1), epoch)
    return machines.steps / epochs


# The shares.


@pytest.mark.parametrize("beta", [0.5, 1, 3])
def test_negatives_per_positive_are_beta_on_unequal_classes(beta):
    sizes, epochs = np.array(SIZES), 300
    p = beta * sizes / (sum(sizes) - sizes)
    expected = sizes * np.where(p < 1, beta, (sum(sizes) - sizes) / sizes)
    deviation = np.sqrt((sum(sizes) - sizes) * p * np.maximum(0, 1 - p) / epochs)
    found = steps_per_epoch(SIZES, beta, epochs) - sizes
    assert (np.abs(found - expected) <= 4 * deviation).all()


@pytest.mark.parametrize("sizes", [SIZES, [5, 0, 3], [1] * 40])
@pytest.mark.parametrize("beta", [None, 1e9])
def test_none_and_more_than_there_are_take_all(sizes, beta):
    np.testing.assert_array_equal(steps_per_epoch(sizes, beta, 2), np.full(len(sizes), sum(sizes)))


def test_every_offset_counts_so_that_the_probability_is_the_share_exactly():
    # Shares of 1/8, 3/8, 1/2, 3/4 and 1: of 64 offsets that stand for all, each class is drawn by 64 times its share.
    p = np.array([1, 3, 4, 6, 8]) / 8
    y, offsets = np.full(64, 5, np.int32), np.arange(64) / 64
    hits = pairs(y, offsets, cumulative_rates(np.append(p, 0.0)))
    np.testing.assert_array_equal(hits[:, :5].sum(axis=0), 64 * p)


def test_the_number_of_negatives_varies_by_one_at_most():
    p = np.random.default_rng(0).uniform(0, 1, 50)
    y, offsets = np.full(200, 50, np.int32), np.random.default_rng(1).random(200)
    numbers = pairs(y, offsets, cumulative_rates(np.append(p, 0.0)))[:, :50].sum(axis=1)
    assert set(numbers) == {int(p.sum()), int(p.sum()) + 1}


@pytest.mark.parametrize(
    ("sizes", "beta", "expected"),
    [
        ([30, 10, 0], 2, [1, 2 / 3, 2 / 40]),  # like one example
        ([2, 0, 0, 0, 0, 0, 0, 0], 2, [1] + [1 / 4] * 7),  # a batch of few: like 2 / 8 of one
        ([0, 0], 2, [1, 1]),
        ([7], 2, [1]),
    ],
)  # fmt: skip
def test_absent_classes_are_pushed_down_a_little(sizes, beta, expected):
    np.testing.assert_allclose(negative_rates(np.array(sizes), beta), expected)


@given(k=st.integers(1, 400), seed=st.integers(0, 99), least=st.sampled_from([1e-12, 1e-3, 1.0]))
def test_shares_are_added_without_rounding(k, seed, least):
    p = np.exp(np.random.default_rng(seed).uniform(np.log(least), 0, k))
    p[:: 1 + seed % 7] = 1
    P = cumulative_rates(p)
    np.testing.assert_allclose(np.diff(P), p, atol=1e-15 * k, rtol=0)
    assert sum(map(Fraction, np.diff(P))) == Fraction(P[-1])
    assert (np.diff(P)[p == 1] == 1).all()


# Which classes an offset draws.


@given(
    sizes=st.lists(st.sampled_from([0, 1, 2, 3, 7, 20]), min_size=2, max_size=40).filter(any),
    beta=st.one_of(st.none(), st.floats(0.05, 60)),
    threads=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_the_compiled_loops_draw_the_classes_of_the_twin(sizes, beta, threads, seed):
    rng = np.random.default_rng(seed)
    P, y = cumulative_rates(np.array(twins.probabilities(sizes, beta))), rng.permutation(labels(sizes))
    # The ends of shares and the last offset below 1 are where rounding would show.
    hard = np.concatenate([P % 1, [0, 1 - 2**-53]])
    offsets = np.where(rng.random(len(y)) < 0.5, rng.random(len(y)), rng.choice(hard, len(y)))
    expected = np.zeros((len(y), len(sizes)), bool)
    for i, u in enumerate(offsets):
        expected[i, [y[i], *twins.drawn(P, u)]] = True
    np.testing.assert_array_equal(pairs(y, offsets, P, threads), expected)
    np.testing.assert_array_equal(pairs_of_block(y, offsets, P, threads), expected)


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12), u=st.floats(0, 1, exclude_max=True))
def test_the_twin_draws_the_classes_whose_share_holds_a_point(p, u):
    P = cumulative_rates(np.array(p))
    points = [Fraction(u) + j for j in range(len(p) + 1)]
    holding = [c for c in range(len(p)) if any(P[c] <= point < P[c + 1] for point in points)]
    np.testing.assert_array_equal(twins.drawn(P, u), holding)


def test_many_examples_of_a_block_are_met_in_order():
    # More examples than one group of the set that orders them (4,096), and decay: the order shows in the weights.
    k, n = 40, 9000
    rng = np.random.default_rng(0)
    y, offsets = rng.integers(0, k, n).astype(np.int32), rng.random(n)
    P = cumulative_rates(np.full(k, 1e-3))
    X, machines = np.ones((n, 1), np.float32), LinearWeights.zeros(k, 1)
    weights = rng.uniform(0.5, 2, n).astype(np.float32)
    _native.one_vs_rest(
        X, y, weights, offsets, P, **machines.arrays(),
        loss=_native.Loss.squared, step=0.3, regularization=0.0, bias_rate=0.0, decay=0.0,
        losses=np.zeros(k), threads=1,
    )  # fmt: skip
    expected = np.zeros(k)
    for i in range(n):
        for c in {y[i], *twins.drawn(P, offsets[i])}:
            expected[c] += 0.3 * weights[i] * ((1 if c == y[i] else -1) - expected[c])
    np.testing.assert_allclose(machines.W[:, 0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("offsets", "P", "words"),
    [
        ([0.5, 1.0], [0, 1, 2], "offsets must be in"),
        ([0.5, np.nan], [0, 1, 2], "offsets must be in"),
        ([0.5], [0, 1, 2], "offsets must have one entry per row"),
        ([0.5, 0.5], [0, 1], "shares one per class and one more"),
        ([0.5, 0.5], [-0.1, 0.5, 1], "shares must begin with 0"),
        ([0.5, 0.5], [0, 1, 0.5], "shares must have lengths"),
        ([0.5, 0.5], [0, 1.5, 2], "shares must have lengths"),
        ([0.5, 0.5], [0, 1, np.inf], "shares must have lengths"),
    ],
)
def test_offsets_and_shares_that_cannot_be_are_refused(offsets, P, words):
    machines = LinearWeights.zeros(2, 2)
    with pytest.raises(ValueError, match=words):
        _native.one_vs_rest(
            np.eye(2, dtype=np.float32), np.array([0, 1], np.int32), np.ones(2, np.float32),
            np.array(offsets, float), np.array(P, float), **machines.arrays(),
            loss=_native.Loss.hinge, step=1.0, regularization=0.0, bias_rate=0.0, decay=0.0,
            losses=np.zeros(2), threads=1,
        )  # fmt: skip
