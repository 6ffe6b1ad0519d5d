"""Rows of one process: sums by what makes their scores, and what is kept between two questions changes no bit."""

import numpy as np
import pytest

from manyclass.data.dense import DenseMatrix
from manyclass.losses.multiclass import as_score_loss
from manyclass.solvers.batch.points import AtomWeights, DenseWeights, LowRankWeights
from manyclass.solvers.row_sums import HeldRows
from manyclass.solvers.weighted_loss import WeightedLoss

N, D, K = 200, 7, 5


def held(budget=1 << 30, remembers=False, dtype=np.float32, loss="softmax"):
    rng = np.random.default_rng(0)
    X, p = DenseMatrix(rng.standard_normal((N, D)).astype(dtype)), rng.random(N)
    y = rng.integers(0, K, N)
    return HeldRows(X, WeightedLoss(as_score_loss(loss), y, p / p.sum(), K), budget, remembers)


def weights(kind, seed=0, r=3, dtype=np.float32):
    rng = np.random.default_rng(seed)
    A, B, b = rng.standard_normal((D, r)).astype(dtype), rng.standard_normal((K, r)).astype(dtype), rng.random(K)
    return DenseWeights(A @ B.T, b) if kind is DenseWeights else kind(A, B, b)


KINDS = [DenseWeights, LowRankWeights, AtomWeights]


def plain(rows, point):
    """The loss of each row and its gradient by the scores, the obvious way."""
    S = rows.X.toarray().astype(np.float64) @ point.to_dense().astype(np.float64) + point.b
    return rows.rows.loss.value_and_gradient(S, rows.rows.y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [1 << 30, 1])
def test_sums_are_those_of_a_plain_loop(kind, budget):
    rows, point = held(budget, dtype=np.float64), weights(kind, dtype=np.float64)
    X, p, y = rows.X.toarray(), rows.rows.p, rows.rows.y
    losses, R = plain(rows, point)
    Q = p[:, None] * R
    found = rows.gradient(point)
    np.testing.assert_allclose(found.loss, p @ losses)
    np.testing.assert_allclose(found.W, X.T @ Q, atol=1e-12)
    np.testing.assert_allclose(found.b, Q.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(rows.loss_of(point), p @ losses)
    np.testing.assert_allclose(rows.label_sums(point), np.eye(K)[y].T @ Q, atol=1e-12)
    np.testing.assert_allclose(rows.dual_gradient(point, lambda R, y: 2 * R), 2 * X.T @ Q, atol=1e-12)
    np.testing.assert_allclose(rows.class_sums(), np.eye(K)[y].T @ (p[:, None] * X), atol=1e-12)
    np.testing.assert_allclose(rows.largest_score(point.to_dense()), np.abs(X @ point.to_dense()).max())
    np.testing.assert_allclose(rows.covariance(np.ones(D)), (p[:, None] * (X - 1)).T @ (X - 1))
    conjugates = rows.rows.loss.conjugate(0.5 * R, y)
    np.testing.assert_allclose(rows.conjugate_sum(point, lambda R, y: R, 0.5), p @ conjugates)
    moved = DenseWeights(point.to_dense(), point.b + np.arange(K))
    np.testing.assert_allclose(rows.intercept_gradient(point, np.arange(K)), p @ plain(rows, moved)[1], atol=1e-12)


@pytest.mark.parametrize("kind", [LowRankWeights, AtomWeights])
def test_gradients_by_factors_are_those_by_the_weights(kind):
    rows, point = held(dtype=np.float64), weights(kind, dtype=np.float64)
    whole, found = rows.gradient(point), rows.factor_gradient(point)
    np.testing.assert_allclose(found.loss, whole.loss)
    np.testing.assert_allclose(found.A, whole.W @ point.B, atol=1e-12)
    np.testing.assert_allclose(found.B, whole.W.T @ point.A, atol=1e-12)
    np.testing.assert_allclose(found.b, whole.b, atol=1e-12)
    half = rows.factor_gradient(point, left=False)
    assert half.A.shape == (D, 0)
    assert half.B.tobytes() == found.B.tobytes()
    Z = rows.X.toarray() @ point.A
    np.testing.assert_allclose(rows.squared_latent(point), rows.rows.p @ (Z * Z).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_changes_no_bit(kind):
    used, points = held(remembers=True), [weights(kind, seed) for seed in range(3)]
    for _ in range(2):
        for point in [*points, *points[::-1], weights(LowRankWeights, 9), weights(DenseWeights, 9)]:
            for method in ("gradient", "loss_of", "label_sums"):
                fresh, again = (getattr(one, method)(point) for one in (held(remembers=True), used))
                assert np.asarray(fresh[1] if method == "gradient" else fresh).tobytes() == (
                    np.asarray(again[1] if method == "gradient" else again).tobytes()
                )


def test_the_last_product_is_not_made_again():
    rows, point = held(remembers=True), weights(LowRankWeights)
    rows.loss_of(point)
    assert rows.passes == 1
    rows.factor_gradient(point)
    rows.loss_of(LowRankWeights(point.A, 2 * point.B, point.b + 1))
    assert rows.passes == 2
    dense = weights(DenseWeights, 1)
    rows.loss_of(dense)
    rows.loss_of(DenseWeights(dense.W, dense.b + 1))
    assert rows.passes == 3


def test_columns_that_come_and_go_are_multiplied_once_each():
    rows, point = held(), weights(AtomWeights, r=4)
    rows.loss_of(point)
    assert rows.passes == 4
    more = AtomWeights(np.hstack([point.A[:, [3, 1]], weights(AtomWeights, 5, 1).A]), point.B[:, :3], point.b)
    found = rows.loss_of(more)
    assert rows.passes == 5
    assert found == held().loss_of(more)


def test_some_classes_are_seen_alone():
    rows = held()
    rows.rows.p[rows.rows.y == 2] = 0
    some = rows.of_classes(np.array([0, 1, 3, 4]))
    assert some.k == 4
    np.testing.assert_allclose(some.class_sums(), np.delete(rows.class_sums(), 2, axis=0))
