"""Every batch solver keeps the contract, on any matrix, within its budgets, and on data that tell little."""

from typing import get_type_hints

import numpy as np
import pytest
from contracts.solver import CHECKS, GAUGES, SOLVERS, every_solver, objective, rows, value

import manyclass as mc
from manyclass.cli.train import train
from manyclass.solvers.batch.rank_one import rank_one
from manyclass.solvers.batch.solution import Status
from manyclass.solvers.batch.solve import SOLVERS as REGISTRY
from manyclass.solvers.batch.solve import solve, solvers_of
from manyclass.solvers.batch.stochastic_rank_one import stochastic_atoms


@every_solver
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_contract(solver, gauge, check):
    check(solver, objective(gauge), SOLVERS[solver].tolerance)


def test_the_contract_checks_every_solver_but_the_published_one():
    assert set(REGISTRY) - set(SOLVERS) == {"published"}


def test_the_contract_checks_a_solver_on_every_penalty_that_it_takes():
    assert all(kind.gauges for kind in SOLVERS.values())
    assert set(SOLVERS["fista"].gauges) == {*GAUGES, None}
    assert set(SOLVERS["rank_one"].gauges) == set(GAUGES) >= {"trace", "l1", "group"}
    assert (SOLVERS["factored"].gauges, SOLVERS["ridge"].gauges) == (("trace",), (None,))


@pytest.mark.parametrize(
    ("solver", "gauge", "words"),
    [
        ("factored", "l1", "solver 'factored' needs a penalty with a trace norm; got L1Norm"),
        ("factored", None, "solver 'factored' needs a penalty with a trace norm; got Ridge"),
        ("rank_one", None, "solver 'rank_one' needs a penalty with a gauge, such as a trace norm; got Ridge"),
        ("published", None, "solver 'published' needs a penalty with a gauge"),
        ("stochastic", None, "solver 'stochastic' needs a penalty with a gauge"),
        ("ridge", "trace", "solver 'ridge' needs a penalty without a gauge; got TraceNorm"),
    ],
)
def test_a_solver_refuses_what_it_cannot_minimize(solver, gauge, words):
    with pytest.raises(ValueError, match=words):
        solve(objective(gauge), solver)


def test_the_help_of_the_command_names_every_solver_of_a_trace_norm():
    (option,) = get_type_hints(train, include_extras=True)["solver"].__metadata__
    assert option.help.replace(" or ", ", ").rstrip(".").split(", ") == list(solvers_of(mc.TraceNorm(1.0)))


def test_a_status_reads_files_of_earlier_versions():
    assert Status("not solved in 1000 steps") is Status.ITERATION_LIMIT
    assert Status("optimal to epsilon 0.035") is Status.EPSILON_OPTIMAL
    assert Status("as near as rounding allows") is Status.PRECISION_LIMIT
    assert (Status("time is up"), Status("stopped by the callback")) == (Status.TIME_LIMIT, Status.STOPPED)
    with pytest.raises(ValueError, match="'lost' is not a valid Status"):
        Status("lost")


def test_every_status_has_a_sentence():
    assert all(len(status.sentence.split()) > 3 for status in Status)


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
@pytest.mark.parametrize("gauge", ["trace", "l1", "group"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_solvers_agree(loss, gauge, fit_intercept):
    made = objective(gauge, loss, ridge=0.0, fit_intercept=fit_intercept)
    fista = solve(made, "fista", 1e-6)
    others = [solve(made, "auto", 1e-6), solve(made, "rank_one", 1e-3), solve(made, "stochastic", 1e-3)]
    assert fista.status == "optimal"
    for found, tolerance in zip(others, (1e-6, 1e-3, 1e-3), strict=True):
        np.testing.assert_allclose(found.objective, fista.objective, rtol=tolerance)
        assert fit_intercept or not found.b.any()


@pytest.mark.parametrize("share", [0.3, 0.1])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("solver", ["factored", "rank_one", "stochastic"])
def test_the_rank_is_that_of_the_optimum(solver, ridge, share):
    """And not that of a solver's last steps towards it."""
    made = objective("trace", share=share, ridge=ridge)
    best = solve(made, "fista", 1e-10)
    found = solve(made, solver, 1e-4)
    assert found.rank == best.rank < min(made.d, made.k)
    assert best.objective - 1e-9 <= found.objective <= best.objective * (1 + 1e-4)
    np.testing.assert_allclose(value(made, found.W, found.b), found.objective, rtol=1e-7)


@pytest.mark.parametrize("solver", ["factored", "fista"])
def test_float32_rows_reach_six_digits(solver):
    X, y, weights = rows(0)
    single = objective(X=X.astype(np.float32), y=y, weights=weights)
    double = objective(X=X.astype(np.float32).astype(np.float64), y=y, weights=weights)
    found, exact = solve(single, solver, 1e-5), solve(double, "fista", 1e-9)
    assert found.W.dtype == np.float32
    np.testing.assert_allclose(found.objective, exact.objective, rtol=1e-6)
    np.testing.assert_allclose(value(double, found.W, found.b), exact.objective, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_small_budget_changes_nothing_but_memory(solver):
    gauge = SOLVERS[solver].gauges[0]
    little, much = objective(gauge, budget=3 * 8 * 4 * 7), objective(gauge)
    assert len(little.held.parts()) == 6
    assert len(much.held.parts()) == 1
    a, b = (solve(made, solver, SOLVERS[solver].tolerance) for made in (little, much))
    np.testing.assert_allclose(a.objective, b.objective, rtol=1e-6)
    np.testing.assert_allclose(a.W, b.W, atol=0.02)


def _quantized(X):
    return mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X).encode(X)


@pytest.mark.parametrize("make", [mc.DenseMatrix, _quantized, lambda X: mc.as_matrix(np.asfortranarray(X))])
@pytest.mark.parametrize("budget", [1 << 30, 3 * 4 * 4 * 7])
def test_any_matrix_will_do(make, budget):
    X, y, weights = rows(0)
    matrix = make(X.astype(np.float32))
    found = solve(objective(X=matrix, y=y, weights=weights, budget=budget), tolerance=1e-5)
    dense = solve(objective(X=matrix.toarray(), y=y, weights=weights), tolerance=1e-5)
    np.testing.assert_allclose(found.objective, dense.objective, rtol=2e-5)


@pytest.mark.parametrize("solver", ["factored", "fista"])
def test_the_number_of_threads_changes_no_bit(solver):
    X = mc.datasets.low_rank_classes(1500, 64, 300, random_state=1)
    made = objective(X=X.rows(slice(0, 1500)), y=X.y, ridge=0.0, share=0.3)
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            found.append(solve(made, solver, max_iter=6))
    assert found[0].W.tobytes() == found[1].W.tobytes()
    assert found[0].objective == found[1].objective


@every_solver
def test_time_that_is_up_leaves_the_best_point(solver, gauge):
    made = objective(gauge)
    found = solve(made, solver, 1e-9, max_seconds=0.0)
    assert found.status == "time limit reached"
    np.testing.assert_allclose(value(made, found.W, found.b), found.objective)


@every_solver
def test_an_interrupt_leaves_the_best_point(solver, gauge):
    made = objective(gauge)

    def interrupt(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    found = solve(made, solver, 1e-9, callback=interrupt)
    assert found.status == "interrupted"
    assert found.iterations == 3
    assert found.objective <= min(record["objective"] for record in found.history)
    assert value(made, found.W, found.b) <= found.objective * (1 + 1e-9)


def test_a_callback_ends_the_solver():
    found = solve(objective(), callback=lambda record: record["iteration"] == 3)
    assert (found.status, found.iterations) == ("stopped by a callback", 4)


def test_too_few_steps_are_told():
    assert solve(objective(), "fista", 1e-9, max_iter=3).status == "iteration limit reached"


def test_an_unknown_solver_is_refused():
    with pytest.raises(ValueError, match="solver must be one of auto, factored, fista"):
        solve(objective(), "newton")


@pytest.mark.parametrize("minimize", [rank_one, stochastic_atoms])
def test_solvers_by_atoms_ask_for_a_gauge(minimize):
    with pytest.raises(ValueError, match="need a penalty with a gauge"):
        solve(objective(None), minimize)


@pytest.mark.parametrize(("solver", "gauge"), [(s, kind.gauges[0]) for s, kind in SOLVERS.items()])
def test_zero_is_a_start_like_any_other(solver, gauge):
    tolerance = 1e-3
    nothing = solve(objective("trace", share=2.0, ridge=0.0))
    assert nothing.rank == 0
    made = objective(gauge)
    found = solve(made, solver, tolerance, start=nothing.point)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.objective, solve(made, "fista", 1e-6).objective, rtol=2 * tolerance)


@every_solver
def test_a_start_that_had_an_intercept_leaves_none_where_none_is_fitted(solver, gauge):
    tolerance = 1e-3
    begin, made = solve(objective(gauge), "fista").point, objective(gauge, fit_intercept=False)
    found, cold = solve(made, solver, tolerance, start=begin), solve(made, "fista", 1e-6)
    assert begin.b.any()
    assert not found.b.any()
    np.testing.assert_allclose(found.objective, cold.objective, rtol=2 * tolerance)


def test_an_interrupt_while_small_singular_values_leave_loses_nothing(monkeypatch):
    from manyclass.solvers.batch import solve as module

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_truncate", interrupted)
    assert solve(objective("trace"), "factored").status == "optimal"


def test_who_is_told_to_stop_tries_nothing_more(monkeypatch):
    from manyclass.solvers.batch import solve as module

    monkeypatch.setattr(module, "_truncate", lambda *_: pytest.fail("time is up"))
    found = solve(objective("trace"), "rank_one", callback=lambda record: record["iteration"] >= 2)
    assert found.status == "stopped by a callback"
