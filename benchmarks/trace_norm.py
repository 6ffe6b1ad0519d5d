"""Softmax with a trace norm: processor time until the objective is within 1e-3, relative, of the optimum.

Every other solver is given up after 25 times the time of the first. A step of ours has five products: two with X, and
three of n x k scores with factors of rank r, which are the same on codes and on decoded rows. With d of about 2 k the
latter are three sevenths of all, so that codes could not be more than 2.3 times as fast if their products cost nothing.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.page import Page
from benchmarks.timing import all_threads
from manyclass.losses.multiclass import Softmax
from manyclass.penalties.norms import TraceNorm
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.batch.solve import solve
from manyclass.solvers.problem import Objective, Problem

SMALL = (4_000, 512, 100)
NEAR = 1e-3

Values = list[tuple[float, float]]  # seconds since the start, and the objective then
Contender = Callable[[float, float], Values]  # runs until the objective is at most this, or for so many seconds
LIMIT = 25  # others may take so many times as long as the first


def objective(X: mc.Matrix, y: np.ndarray, k: int, share: float = 0.1) -> Objective:
    """The trace norm at a fraction of alpha_max: a tenth gives ranks of 40 to 70 on such data."""
    made = Objective(Problem.whole(X, y, k), Softmax(), TraceNorm(1.0))
    return made.with_penalty(TraceNorm(share * alpha_max(made)))


def ours(made: Objective, solver: str, target: float, limit: float) -> Values:
    """One of our solvers, ended by the objective."""
    values: Values = []
    started = time.process_time()

    def note(record: dict[str, Any]) -> bool:
        values.append((time.process_time() - started, record["objective"]))
        return bool(record["objective"] <= target or values[-1][0] > limit)

    solve(made, solver, tolerance=1e-7, max_iter=3000, callback=note)
    return values


def numpy_fista(X: np.ndarray, y: np.ndarray, k: int, strength: float, target: float, limit: float) -> Values:
    """FISTA in NumPy, float32: scores kept, so that a step is two products; eigenvectors of the Gram matrix for the
    proximal step; steps by backtracking from below the bound; gradient restart; b in a unit of its own."""
    n, d = X.shape
    started, values, rows = time.process_time(), [], np.arange(n)
    v = np.ones(d, np.float32)
    for _ in range(10):
        v = X.T @ (X @ v)
        v /= np.linalg.norm(v)
    unit = float(np.linalg.norm(X @ v) ** 2 / n)
    L, t, F = unit / 32, 1.0, np.inf
    W = Y = np.zeros((d, k), np.float32)
    b = c = np.zeros(k, np.float32)
    S = T = np.zeros((n, k), np.float32)

    def loss(S: np.ndarray) -> tuple[float, np.ndarray]:
        P = S - S.max(axis=1, keepdims=True)
        right = P[rows, y].astype(np.float64)
        np.exp(P, out=P)
        total = P.sum(axis=1)
        P /= total[:, None]
        P[rows, y] -= 1
        P /= n
        return float(np.mean(np.log(total.astype(np.float64)) - right)), P

    while target < F and time.process_time() - started < limit:
        f, R = loss(T)
        G, g = X.T @ R, R.sum(axis=0)
        L *= 0.95
        while True:
            Z = Y - G / np.float32(L)
            eigenvalues, V = np.linalg.eigh(Z.T @ Z)
            s = np.sqrt(np.maximum(eigenvalues, 0))
            held = s > strength / L
            V, s = V[:, held], s[held].astype(np.float64)
            W1 = (Z @ (V * (1 - strength / L / s).astype(np.float32))) @ V.T
            b1 = c - g * np.float32(unit / L)
            S1 = X @ W1 + b1
            f1, _ = loss(S1)
            D, e = W1 - Y, b1 - c
            squared = float(np.vdot(D, D)) + float(e @ e) / unit
            if f1 <= f + float(np.vdot(G, D)) + float(g @ e) + L / 2 * squared + 1e-7 * f or 2 * unit < L:
                break
            L *= 2
        F = f1 + strength * float((s - strength / L).sum())
        values.append((time.process_time() - started, F))
        t1 = (1 + np.sqrt(1 + 4 * t * t)) / 2
        if np.vdot(Y - W1, W1 - W) > 0:
            t, t1 = 1.0, 1.0
        m = np.float32((t - 1) / t1)
        Y, c, T = W1 + m * (W1 - W), b1 + m * (b1 - b), S1 + m * (S1 - S)
        W, b, S, t = W1, b1, S1, t1
    return values


def copt_fista(X: np.ndarray, y: np.ndarray, k: int, strength: float, target: float, limit: float) -> Values:
    """copt's accelerated proximal gradient; softmax is written by the user, there is no b, and it works in float64."""
    import copt
    import copt.penalty

    n, d = X.shape
    penalty = copt.penalty.TraceNorm(strength, (d, k))
    started, values = time.process_time(), []

    def f_grad(w: np.ndarray, return_gradient: bool = True) -> Any:
        S = X @ w.reshape(d, k).astype(np.float32)
        loss, R = Softmax().value_and_gradient(S, y)
        if not return_gradient:
            return float(loss.mean())
        return float(loss.mean()), (X.T @ (R / n)).astype(np.float64).ravel()

    def note(found: Any) -> bool:
        values.append((time.process_time() - started, f_grad(found["x"], False) + penalty(found["x"])))
        return values[-1][1] > target and values[-1][0] < limit

    copt.minimize_proximal_gradient(
        f_grad, np.zeros(d * k), penalty.prox, jac=True, accelerated=True, max_iter=1000, tol=0, callback=note
    )
    return values


def spams_fista(X: np.ndarray, y: np.ndarray, k: int, strength: float, target: float, limit: float) -> Values:
    """SPAMS, float32, without b; it tells no objective on the way, so it runs with ever more steps, each time anew."""
    import spams

    labels, columns = np.asfortranarray(y[:, None], np.float32), np.asfortranarray(X)
    start = np.zeros((X.shape[1], k), np.float32, order="F")
    values: Values = []
    for steps in (25, 50, 100, 200, 400):
        started = time.process_time()
        W = spams.fistaFlat(
            labels, columns, start, False, numThreads=1, loss="multi-logistic", regul="trace-norm",
            lambda1=strength, max_it=steps, tol=1e-9, L0=0.1, it0=1000, verbose=False,
        )  # fmt: skip
        seconds = time.process_time() - started
        loss = float(Softmax().value_and_gradient(X @ W, y)[0].mean())
        values.append((seconds, loss + strength * float(np.linalg.norm(W, "nuc"))))
        if values[-1][1] <= target or seconds > limit:
            break
    return values


def first(values: Values, target: float) -> float:
    """Seconds until the objective was at most the target; inf where it never was."""
    return min((seconds for seconds, value in values if value <= target), default=np.inf)


def race(page: Page, caption: str, contenders: dict[str, tuple[Contender | None, float]], rounds: int) -> None:
    """Contenders with their optimum, interleaved, the best of several rounds; all are compared with the first."""
    best: dict[str, float] = {}
    ended: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for name, (run, optimum) in contenders.items():
            if run is not None:
                target, limit = optimum * (1 + NEAR), LIMIT * next(iter(best.values()), np.inf)
                values = run(target, limit)
                best[name] = min(best.get(name, np.inf), first(values, target))
                ended[name] = values[-1][0], values[-1][1] / optimum - 1
    base = next(iter(best.values()))
    page.table(caption, ["solver", "time", "against the first"], [_row(n, best, ended, base) for n in contenders])


def _row(name: str, best: dict[str, float], ended: dict[str, tuple[float, float]], base: float) -> list[str]:
    if name not in best:
        return [name, "not installed", ""]
    if np.isfinite(best[name]):
        return [name, f"{best[name]:.2f} s", f"{best[name] / base:.1f}"]
    seconds, above = ended[name]
    return [name, f"> {seconds:.2f} s, then {100 * above:.2g} % above the optimum", f"> {seconds / base:.1f}"]


def _rows(shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    n, d, k = shape
    made = mc.datasets.low_rank_classes(n, d, k)
    return np.ascontiguousarray(made.rows(slice(0, n))), made.y


def against_peers(page: Page, rounds: int, shape: tuple[int, int, int]) -> None:
    """Small enough for whole decompositions. The peers have no b, and so an optimum of their own."""
    X, y = _rows(shape)
    made = objective(mc.DenseMatrix(X), y, shape[2])
    strength = made.gauge.strength if made.gauge else 0.0
    without = Objective(Problem.whole(made.X, y, shape[2]), Softmax(), made.penalty, fit_intercept=False)
    optimum, bare = (solve(each, tolerance=1e-5).objective for each in (made, without))
    copt, spams = (
        partial(peer, X, y, shape[2], strength) if _installed(name) else None
        for name, peer in (("copt", copt_fista), ("spams", spams_fista))
    )
    contenders: dict[str, tuple[Contender | None, float]] = {
        "factored (auto)": (partial(ours, made, "auto"), optimum),
        "FISTA": (partial(ours, made, "fista"), optimum),
        "FISTA in NumPy": (partial(numpy_fista, X, y, shape[2], strength), optimum),
        "copt": (copt, bare),
        "SPAMS": (spams, bare),
    }
    race(page, f"n, d, k = {shape}, one thread", contenders, rounds)


def against_ourselves(page: Page, rounds: int, shape: tuple[int, int, int]) -> None:
    """Too large for whole decompositions."""
    X, y = _rows(shape)
    made = objective(mc.DenseMatrix(X), y, shape[2])
    optimum = solve(made, tolerance=1e-4).objective
    contenders = {name: (partial(ours, made, name), optimum) for name in ("auto", "fista")}
    race(page, f"n, d, k = {shape}, one thread", {**contenders}, rounds)


def on_compressed_rows(page: Page, rounds: int, shape: tuple[int, int, int]) -> None:
    """The same rows as codes and decoded."""
    X, y = _rows(shape)
    codes = mc.ProductQuantizer(block=16, random_state=0).fit(X).encode(X)
    decoded = mc.DenseMatrix(codes.toarray())
    compressed, dense = (objective(matrix, y, shape[2]) for matrix in (codes, decoded))
    optimum = solve(compressed, tolerance=1e-4).objective
    contenders = {
        "compressed, block 16": (partial(ours, compressed, "auto"), optimum),
        "decoded": (partial(ours, dense, "auto"), optimum),
    }
    memory = f"1/{decoded.nbytes / codes.nbytes:.0f} of the memory"
    race(page, f"Compressed rows, {memory}, n, d, k = {shape}, one thread", {**contenders}, rounds)


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def run(rounds: int = 3, n: int = 20_000, d: int = 2_048, k: int = 1_000) -> Page:
    """All tables; n, d and k are those of the larger problem, which takes some minutes."""
    page = Page("trace_norm", "Trace norm", __doc__ or "")
    with all_threads(1):
        against_peers(page, rounds, SMALL)
        against_ourselves(page, 1, (n, d, k))
        on_compressed_rows(page, rounds, (n, d, k))
    return page
