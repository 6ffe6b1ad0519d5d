"""Rows that workers hold: the sums of one process, the bits of a number of shards, and little that travels."""

from itertools import pairwise

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.data.dense import DenseMatrix
from manyclass.losses.multiclass import as_score_loss
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers import row_shards, weighted_loss
from manyclass.solvers.batch.duality import MixedRows, ScaledRows
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.path import ridge_max
from manyclass.solvers.batch.points import AtomWeights, DenseWeights, LowRankWeights
from manyclass.solvers.batch.solve import solve
from manyclass.solvers.problem import Objective, Problem
from manyclass.solvers.row_shards import SharedRows, TreeSum, leaf_count, merge, ranges
from tests.solvers.lossy_workers import LossyWorkers


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    """Leaves of 64 rows."""
    monkeypatch.setattr(weighted_loss, "_CHUNK", 1)
    monkeypatch.setattr(row_shards, "_LEAST_CHUNKS", 2)


def problem(n=600, d=20, k=12, kind="dense", dtype=np.float32, weights=True, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    means = rng.standard_normal((k, 4)) @ rng.standard_normal((4, d))
    X = DenseMatrix((means[y] + 1.5 * rng.standard_normal((n, d))).astype(dtype))
    if kind == "quantized":
        X = mc.ProductQuantizer(block=4, n_centroids=16, iterations=3, random_state=0).fit(X).encode(X)
    return Problem.whole(X, y, k, rng.uniform(0.5, 2, n) if weights else None)


def trace_objective(made, share=0.1, ridge=0.001, **options):
    first = Objective(made, as_score_loss("softmax"), TraceNorm(1.0), **options)
    strength = share * first.gauge.polar(fit_null_model(first).gradient)
    return first.with_penalty(TraceNorm(strength) + Ridge(ridge))


def points(made, seed=1):
    rng = np.random.default_rng(seed)
    A, B = (rng.standard_normal((size, 3)).astype(made.dtype) for size in (made.d, made.k))
    b = rng.standard_normal(made.k)
    W = (A @ B.T).astype(made.dtype)
    return [LowRankWeights(A, B, b), AtomWeights(A, B, b), DenseWeights(W, b)]


TOLERANCES = {"factored": 1e-4, "rank_one": 0.2, "ridge": 1e-4}


def same(a, b):
    """Whether two answers have the same bits."""
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["dense", "quantized"])
def test_all_sums_have_the_bits_of_one_process_and_are_those_of_all_rows(count, kind):
    made = problem(kind=kind)
    here, workers = trace_objective(made), LossyWorkers(count, loss=0.2)
    with using_workers(workers):
        there = trace_objective(made)
    assert not there.sums.is_here
    whole, rng = here.held, np.random.default_rng(0)
    duals = [MixedRows(0.1, 0.01 * rng.random(here.k)), MixedRows(0.0, None), ScaledRows(rng.random(here.k))]
    for point in points(here):
        questions = [("loss_of", point), ("gradient", point), ("intercept_gradient", point, rng.random(here.k))]
        questions += [("label_sums", point), ("largest_score", point.to_dense()), ("class_sums",)]
        questions += [("dual_gradient", point, dual) for dual in duals]
        questions += [("conjugate_sum", point, dual, 0.9) for dual in duals]
        questions += [("covariance", rng.random(here.d))]
        if isinstance(point, LowRankWeights):
            questions += [("factor_gradient", point), ("factor_gradient", point, False), ("squared_latent", point)]
        for method, *arguments in questions:
            mine, theirs, exact = (getattr(one, method)(*arguments) for one in (here.sums, there.sums, whole))
            assert same(mine, theirs), method
            for a, b in zip(mine, exact, strict=True) if isinstance(mine, tuple) else [(mine, exact)]:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=method)
    assert workers.lost > 5


@pytest.mark.parametrize(
    ("solver", "dtype", "fit_intercept"),
    [
        ("factored", np.float32, True),
        ("factored", np.float32, False),
        ("factored", np.float64, True),
        ("rank_one", np.float32, True),
    ],
)
def test_solvers_find_the_bits_of_one_process(solver, dtype, fit_intercept):
    made = problem(dtype=dtype)

    def found():
        return solve(trace_objective(made, fit_intercept=fit_intercept), solver, TOLERANCES[solver], max_iter=300)

    alone = found()
    for count in (1, 2, 3) if solver == "factored" else (2,):
        with using_workers(LossyWorkers(count)):
            shared = found()
        assert same((alone.W, alone.b), (shared.W, shared.b))
        assert (alone.objective, alone.gap, alone.status) == (shared.objective, shared.gap, "optimal")
        assert alone.passes == shared.passes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_ridge_alone_is_as_near_its_optimum_and_has_the_same_bits_for_any_number_of_workers(dtype):
    made = problem(dtype=dtype)

    def found():
        return solve(trace_objective(made).with_penalty(Ridge(0.003)), "ridge", 1e-4)

    alone, shared = found(), []
    for count in (2, 3):
        with using_workers(LossyWorkers(count, loss=0.05)):
            shared.append(found())
    assert same(shared[0].W, shared[1].W)
    assert shared[0].status == "optimal"
    assert abs(shared[0].objective - alone.objective) <= max(alone.gap, shared[0].gap)


@pytest.mark.parametrize(("solver", "seed"), [("factored", 0), ("factored", 1), ("rank_one", 2), ("ridge", 3)])
def test_workers_that_are_lost_cost_no_bit(solver, seed):
    made = problem(kind="quantized" if seed == 1 else "dense")

    def found(workers):
        with using_workers(workers):
            here = trace_objective(made)
            here = here.with_penalty(Ridge(0.003)) if solver == "ridge" else here
            return solve(here, solver, TOLERANCES[solver])

    lossy = LossyWorkers(3, loss=0.2, seed=seed)
    one, other = found(LocalWorkers(3)), found(lossy)
    assert lossy.lost > 5
    assert same((one.W, one.b), (other.W, other.b))
    assert (one.objective, one.gap, one.passes) == (other.objective, other.gap, other.passes)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_change_no_bit(n_threads):
    made = problem(1000)
    one = solve(trace_objective(made))
    with mc.threads(n_threads):
        assert same(one.W, solve(trace_objective(made)).W)


def test_leaves_are_added_as_a_tree_from_wherever_they_come():
    def add(a, b):
        return f"({a}{b})"

    leaves = [TreeSum(0, i, str(i)) for i in range(8)]
    for shares in ([8], [4, 4], [3, 2, 3], [1] * 8):
        ends = np.cumsum([0, *shares])
        parts = [merge(leaves[a:b], add) for a, b in pairwise(ends)]
        assert merge([node for part in parts for node in part], add) == [TreeSum(3, 0, "(((01)(23))((45)(67)))")]


def test_leaves_depend_on_shapes_alone(monkeypatch):
    monkeypatch.undo()
    assert [leaf_count(n, 1024) for n in (1, 8191, 8192, 50_000, 10**7)] == [1, 1, 2, 8, 64]


def test_a_step_sends_columns_and_never_scores():
    n, d, k = 3000, 40, 100
    made = problem(n, d, k)
    workers = LossyWorkers(2)
    with using_workers(workers):
        here = trace_objective(made, share=0.5)
        A, B = np.ones((d, 2), np.float32), np.ones((k, 2), np.float32)
        here.sums.class_sums()
        group = workers.groups[0]
        group.bytes_back = group.bytes_sent = 0
        here.sums.factor_gradient(LowRankWeights(A, B, np.zeros(k)))
    assert group.bytes_back <= 8 * (d + k) * 3 + 2000
    assert group.bytes_sent <= 8 * (d + k) * 3 + 2000


def test_no_answer_has_a_number_for_every_row():
    n, d, k = 5000, 8, 6
    workers = LossyWorkers(2)
    with using_workers(workers):
        path = mc.TraceNormPath(traces=2, ridges=2, random_state=0)
        made = problem(n, d, k)
        path.fit(made.X, made.y)
    assert workers.bytes_back < n


@pytest.mark.parametrize("weights", [True, False])
def test_a_path_is_that_of_one_machine(weights):
    made = problem(n=500, d=15, k=8, dtype=np.float64, weights=weights)

    def fitted():
        path = mc.TraceNormPath(traces=2, ridges=2, random_state=0)
        return path.fit(made.X, made.y, sample_weight=made.weights)

    here, workers = fitted(), LossyWorkers(3, loss=0.02)
    with using_workers(workers):
        there = fitted()
    assert (here.best_.trace, here.best_.ridge) == (there.best_.trace, there.best_.ridge)
    for mine, theirs in zip(here.table_, there.table_, strict=True):
        assert {**mine, "seconds": 0} == {**theirs, "seconds": 0}
    assert same(here.coef_, there.coef_)
    assert workers.open == 0


def test_classes_without_rows_are_left_out_by_the_same_workers():
    few = problem(k=4)
    made = Problem.whole(few.X, 2 * few.y, 8)
    here = solve(trace_objective(made), tolerance=1e-5)
    workers = LossyWorkers(2, loss=0.05)
    with using_workers(workers):
        there = solve(trace_objective(made), tolerance=1e-5)
    assert same(there.W, here.W)
    assert not there.W[:, 1::2].any()
    assert all(len(group) == 2 for group in workers.groups)


@pytest.mark.parametrize("solver", ["fista", "stochastic"])
def test_a_solver_that_needs_all_rows_together_runs_here_and_says_so(solver):
    made = problem(200, 8, 5)
    alone = solve(trace_objective(made), solver, 0.05)
    with (
        using_workers(LocalWorkers(2)),
        pytest.warns(UserWarning, match=f"solver '{solver}' is computed by this process alone"),
    ):
        shared = solve(trace_objective(made), solver, 0.05)
    np.testing.assert_allclose(shared.objective, alone.objective, rtol=1e-3)
    assert shared.passes > 2


def test_a_fit_in_the_row_space_runs_here_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20_000)).astype(np.float32), np.arange(60) % 4
    workers = LossyWorkers(2)
    with using_workers(workers), pytest.warns(UserWarning, match="fewer rows than columns is computed by this process"):
        mc.TraceNormClassifier(trace=0.1).fit(X, y)
    assert workers.groups == []


def test_an_estimator_lets_its_workers_go():
    made, workers = problem(), LossyWorkers(2)
    with using_workers(workers):
        mc.TraceNormClassifier(trace=0.01, ridge=0.001).fit(made.X, made.y)
        with pytest.raises(ValueError, match="trace"):
            mc.TraceNormClassifier(trace=-1.0).fit(made.X, made.y)
    assert len(workers.groups) == 1
    assert workers.open == 0


def test_the_strength_of_a_ridge_is_that_of_one_machine():
    made = problem()
    with using_workers(LocalWorkers(3)):
        shared = ridge_max(trace_objective(made))
    assert shared == ridge_max(trace_objective(made))


def test_functions_of_scores_cannot_be_sent():
    with using_workers(LocalWorkers(2)):
        made = trace_objective(problem())
    with pytest.raises(TypeError, match="must be told by weights; got a function"):
        made.loss_of(lambda rows: np.zeros((made.n, made.k)))
    with pytest.raises(TypeError, match="workers hold them"):
        made.matmat(np.zeros((made.d, 1)))


def test_fewer_leaves_than_workers_make_fewer_shards():
    assert ranges(2, 5) == [slice(0, 1), slice(1, 2)]
    workers = LossyWorkers(9)
    with using_workers(workers):
        made = trace_objective(problem(140, 3, 2))
    assert isinstance(made.sums, SharedRows)
    assert len(workers.groups[0]) == 2
