"""A path: the same problem under one penalty after another, from strong to weak, each solved from its neighbors.

`PathPredictor` says where the next solution will be, and `PathCheckpoint` keeps solutions in files: a path that was
killed at any moment goes on to the same bits.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.files import explain_disk_errors, sync_folder
from manyclass._core.sealed import SealedFormat, decode_value, encode_value
from manyclass._core.typing import Arrays
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights, Weights, as_contiguous
from manyclass.solvers.batch.solution import Solution, Status
from manyclass.solvers.problem import Objective

_NEGLIGIBLE = 1e-3  # of the largest singular value: columns that come back by themselves where they are needed

_EVEN_RATIO = 0.1  # by so much the ratios of neighboring strengths may differ

Terms = dict[tuple[int, int], float]  # places of the grid, and what their solutions are multiplied by


class PathPredictor:
    """Solutions on a grid of falling strengths, found row by row; those of the last three rows are kept.

    On an edge of the grid a solution is taken to be linear in the strength that changes. Beside the edges W(i, j) is
    W(i - 1, j) + W(i, j - 1) - W(i - 1, j - 1), and where the strengths fall evenly the error that the same prediction
    made at (i - 1, j - 1) is added: along the diagonal, gauge and ridge keep their fraction of the penalty.
    """

    def __init__(self, gauges: Sequence[float], ridges: Sequence[float]):
        self.gauges, self.ridges = gauges, ridges
        self.points: dict[tuple[int, int], Weights] = {}

    def add(self, i: int, j: int, point: Weights) -> None:
        """The solution for the gauge i and the ridge j."""
        self.points[i, j] = point
        self.points.pop((i - 3, j), None)

    def predict(self, i: int, j: int) -> Weights | None:
        """Where the solution for the gauge i and the ridge j is expected; None where there is none to go by."""
        terms = self.terms(i, j)
        if len(terms) < 2:
            return self.points[next(iter(terms))] if terms else None
        return _combine([self.points[place] for place in terms], list(terms.values()))

    def terms(self, i: int, j: int) -> Terms:
        """The places that count, and how much."""
        if i == 0 or j == 0:
            strengths, back = (self.ridges[: j + 1], (0, 1)) if i == 0 else (self.gauges[: i + 1], (1, 0))
            factors = _extrapolate(strengths)
            places = [(i - step * back[0], j - step * back[1]) for step in range(1, len(factors) + 1)]
            return dict(zip(places, factors, strict=True))
        if i > 1 and j > 1 and _is_geometric(self.gauges[i - 2 : i + 1]) and _is_geometric(self.ridges[j - 2 : j + 1]):
            return {(i - 1, j): 1, (i, j - 1): 1, (i - 2, j - 1): -1, (i - 1, j - 2): -1, (i - 2, j - 2): 1}
        return {(i - 1, j): 1, (i, j - 1): 1, (i - 1, j - 1): -1}


def _extrapolate(strengths: Sequence[float]) -> list[float]:
    """What the last two values of a linear function of the strength, latest first, count for its next.

    >>> _extrapolate([8.0, 4.0, 2.0])
    [1.5, -0.5]
    """
    if len(strengths) < 3:
        return [1.0] * (len(strengths) - 1)
    before, last, here = strengths[-3:]
    ratio = (last - here) / (before - last) if before > last else 0.0
    return [1 + ratio, -ratio]


def _is_geometric(strengths: Sequence[float]) -> bool:
    """Whether three strengths fall in geometric steps.

    >>> _is_geometric([4.0, 2.0, 1.0]), _is_geometric([4.0, 2.0, 0.0])
    (True, False)
    """
    before, last, here = strengths
    return here > 0 and abs(last * last / (before * here) - 1) <= _EVEN_RATIO


def _combine(points: list[Weights], factors: list[float]) -> LowRankWeights:
    """sum_i factors_i W_i, in as many columns as the first two have at most, without those that hardly count."""
    parts = [point.to_low_rank() for point in points]
    A = np.hstack([part.A for part in parts])
    B = np.hstack([s * part.B for s, part in zip(factors, parts, strict=True)])
    b = np.sum([s * part.b for s, part in zip(factors, parts, strict=True)], axis=0)
    together = LowRankWeights(A, B.astype(A.dtype), b)
    # Factors with more columns than W are longer than W itself.
    U, s, V = (together if A.shape[1] < min(len(A), len(B)) else DenseWeights(together.to_dense(), b)).factors()
    r = min(max(part.A.shape[1] for part in parts[:2]), int(np.count_nonzero(s > _NEGLIGIBLE * s[:1].sum())))
    roots = np.sqrt(s[:r]).astype(U.dtype)
    return LowRankWeights(U[:, :r] * roots, V[:, :r] * roots, b)


FORMAT = SealedFormat("manyclass path point", 1, "remove its folder to begin anew")

_FACTS = tuple(field.name for field in fields(Solution) if field.name != "point")


class PathCheckpoint:
    """A folder with one file for each pair of strengths that is solved.

    Parameters
    ----------
    folder : path-like or None
        The folder, which is made when the first solution is written; None to keep nothing.
    identity : dict of str to str
        What tells this path from others; a file that differs is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, identity: dict[str, str]):
        self.folder = None if folder is None else Path(folder)
        self.identity = identity
        if self.folder is not None and not self.folder.parent.is_dir():
            raise ValueError(f"checkpoint must lie in a folder that exists; got {self.folder}")

    def load(self, number: int, shape: tuple[int, ...] | None = None) -> Solution | None:
        """Read the solution of a pair, if an earlier attempt found it.

        Parameters
        ----------
        number : int
            The number of the pair, in the order in which they are solved.
        shape : tuple of int, default=None
            The shape (d, k) that its weights must have; None for any.

        Returns
        -------
        Solution or None
            The solution, bit for bit; None if there is no file of it.

        Raises
        ------
        ValueError
            If the file is damaged, or of a path over other data, with other settings or with weights of another shape.
        """
        if self.folder is None or not self._file(number).exists():
            return None
        path = self._file(number)
        content, arrays = FORMAT.read(path)
        try:
            identity, facts = dict(content["identity"]), decode_value(content["facts"], arrays)
            point = _point({name: arrays[name] for name in content["point"]}, shape)
            found = Solution(point, **{**facts, "status": Status(facts["status"])})
            _check_facts(facts)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error
        self._check(path, identity)
        return found

    def save(self, number: int, found: Solution) -> None:
        """Write a solution, unless it is unfinished: a path that goes on solves such a pair again.

        Parameters
        ----------
        number : int
            The number of the pair.
        found : Solution
            Its solution.
        """
        if self.folder is None or found.status.is_unfinished:
            return
        arrays: Arrays = dict(vars(found.point))
        facts = {name: getattr(found, name) for name in _FACTS}
        content = {"identity": self.identity, "point": list(arrays), "facts": encode_value(facts, "facts", arrays)}
        with explain_disk_errors(self.folder):
            self.folder.mkdir(exist_ok=True)
            FORMAT.write(self._file(number), content, arrays)

    def remove(self) -> None:
        """Remove the folder of a path that is over."""
        if self.folder is None or not self.folder.is_dir():
            return
        # The first goes last: what is left by a crash on the way is a path that can be gone on with.
        for file in sorted(self.folder.glob("point-*"), reverse=True):
            file.unlink()
        self.folder.rmdir()
        sync_folder(self.folder.parent)

    def _file(self, number: int) -> Path:
        return Path(self.folder or "", f"point-{number:05}")

    def _check(self, path: Path, told: dict[str, Any]) -> None:
        different = [name for name in self.identity if told.get(name) != self.identity[name]]
        if different:
            raise ValueError(
                f"checkpoint {path.parent} belongs to another fit, which differs in {', '.join(different)}; "
                "fit with the same data and settings to resume, remove the folder, or pass another path"
            )


def _point(arrays: Arrays, shape: tuple[int, ...] | None) -> Weights:
    """The weights, if they are finite and of a shape (d, k)."""
    point = DenseWeights(**arrays) if "W" in arrays else LowRankWeights(**arrays)
    if isinstance(point, DenseWeights):
        found, fits = point.W.shape, True
    else:
        found, fits = (len(point.A), len(point.B)), point.A.shape[1:] == point.B.shape[1:]
    good = fits and found == (shape or found) and point.b.shape == found[1:]
    if not good or any(array.dtype.kind != "f" or not np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(f"it must hold finite weights of shape {shape}; got {found}")
    return point


def _check_facts(facts: dict[str, Any]) -> None:
    """Who can write a file can seal it: numbers must be numbers, and a history a list of records."""
    numbers = [facts[name] for name in _FACTS if name not in ("status", "history")]
    if not all(isinstance(number, int | float) for number in numbers):
        raise TypeError("its facts must be numbers")
    if not all(isinstance(record, dict) for record in list(facts["history"])):
        raise TypeError("its history must be a list of records")


Solve = Callable[..., Solution]


@dataclass(frozen=True)
class PathPoint:
    """A solution, and the strengths of gauge and ridge that it belongs to."""

    gauge: float
    ridge: float
    solution: Solution


def follow_path(
    objective: Objective,
    gauges: Sequence[float],
    ridges: Sequence[float],
    penalty: Callable[[float, float], Penalty],
    solve: Solve,
    max_seconds: float | None = None,
    kept: PathCheckpoint | None = None,
) -> Iterator[PathPoint]:
    """Solve all pairs of strengths, the strongest gauge first, and for each of them the strongest ridge first.

    A pair is solved from where the pairs before it let one expect its solution.

    Parameters
    ----------
    objective : Objective
        What to minimize; its penalty is replaced.
    gauges, ridges : sequence of float
        The strengths of gauge and ridge, in any order.
    penalty : callable
        The function (gauge, ridge) -> Penalty of a pair.
    solve : callable
        The function (objective, start=, max_seconds=, base=) -> Solution, such as `manyclass.solvers.solve`.
    max_seconds : float, default=None
        The time limit of the whole path; None for no limit.
    kept : PathCheckpoint, default=None
        Where solutions are kept; those of an earlier attempt are not solved again.

    Yields
    ------
    PathPoint
        The two strengths and the solution, as soon as it is found.
    """
    kept = kept or PathCheckpoint(None, {})
    started, base = time.perf_counter(), fit_null_model(objective)
    gauges, ridges = sorted(gauges, reverse=True), sorted(ridges, reverse=True)
    predictor = PathPredictor(gauges, ridges)
    for i, gauge in enumerate(gauges):
        for j, ridge in enumerate(ridges):
            number = i * len(ridges) + j
            found = kept.load(number, base.gradient.shape)
            if found is None:
                here = objective.with_penalty(penalty(gauge, ridge))
                left = None if max_seconds is None else max(1e-3, max_seconds - (time.perf_counter() - started))
                found = solve(here, start=predictor.predict(i, j), max_seconds=left, base=base)
                # As a file would give it back: products differ in their last bits with the order in memory.
                found = replace(found, point=as_contiguous(found.point))
                kept.save(number, found)
            predictor.add(i, j, found.point)
            yield PathPoint(gauge, ridge, found)


def ridge_max(objective: Objective) -> float:
    """Compute the ridge that halves a first step: half of the curvature of the mean loss along its gradient at W = 0.

    From there on a ridge does little more than to make W shorter.

    Parameters
    ----------
    objective : Objective
        The objective; its penalty does not matter.

    Returns
    -------
    float
        The strength, above 0; 1 where the gradient at W = 0 is zero.
    """
    base = fit_null_model(objective)
    squared = float(np.vdot(base.gradient, base.gradient))
    if squared == 0:
        return 1.0
    step = 0.01 / max(objective.sums.largest_score(base.gradient), 1e-300)
    ahead = DenseWeights(base.gradient * base.gradient.dtype.type(step), base.b)
    change = objective.gradient(ahead).W.astype(np.float64) - base.gradient
    return max(float(np.vdot(change, base.gradient)) / (step * squared) / 2, 1e-300)
