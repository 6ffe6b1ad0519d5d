"""A loss over rows by their weights: chunks make up all rows, and sums are those of a plain loop."""

import numpy as np
import pytest

from manyclass.losses.multiclass import as_score_loss
from manyclass.solvers.weighted_loss import WeightedLoss

N, K = 90, 4


def made(loss="softmax"):
    rng = np.random.default_rng(0)
    p = rng.random(N)
    return WeightedLoss(as_score_loss(loss), rng.integers(0, K, N), p / p.sum(), K), rng.standard_normal((N, K))


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_sums_and_gradients_are_those_of_a_plain_loop(loss):
    rows, S = made(loss)
    losses, R = rows.loss.value_and_gradient(S, rows.y)
    some = slice(10, 40)
    found, Q = rows.at(S[some], some)
    np.testing.assert_allclose(found, rows.p[some] @ losses[some])
    np.testing.assert_allclose(Q, rows.p[some, None] * R[some])


def test_all_rows_with_the_same_scores_need_them_once():
    rows, S = made()
    losses, R = rows.loss.value_and_gradient(np.tile(S[0], (N, 1)), rows.y)
    loss, gradient = rows.at_intercept(S[0])
    np.testing.assert_allclose(loss, rows.p @ losses)
    np.testing.assert_allclose(gradient, rows.p @ R)


@pytest.mark.parametrize("k", [2, 1000, 10**6])
def test_chunks_make_up_all_rows_and_have_scores_for_a_cache(k):
    rows = WeightedLoss(as_score_loss("softmax"), np.zeros(5000, np.intp), np.ones(5000), k)
    chunks = rows.chunks(slice(7, 5000))
    assert [chunk.start for chunk in chunks[1:]] == [chunk.stop for chunk in chunks[:-1]]
    assert (chunks[0].start, chunks[-1].stop) == (7, 5000)
    assert 32 <= rows.chunk_size <= 1024


def test_some_classes_have_their_places():
    rows, _ = made()
    rows.p[rows.y == 1] = 0
    some = rows.of_classes(np.array([0, 2, 3]))
    np.testing.assert_allclose(some.class_fractions, rows.class_fractions[[0, 2, 3]])
