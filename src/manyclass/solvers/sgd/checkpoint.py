"""Checkpoints: a run of stochastic gradient descent that can be killed at any moment and goes on to the same bits."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import sha256_digest
from manyclass._core.files import TEMPORARY_SUFFIX, after_commit, explain_disk_errors, sync_folder
from manyclass._core.typing import Arrays
from manyclass._core.worker_groups import say_computed_here
from manyclass.data.matrix import rows_digest
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.class_ranges import SentRows, place_weights
from manyclass.solvers.sgd.descent import SgdAlgorithm, SgdRun
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.saved_weights import FORMAT, PART, SavedWeights

# Between two checkpoints pass at least so many seconds, and so many times what the last one took to write.
_SECONDS, _TIMES = 5.0, 20.0

# What a file may say of a fit and of its descent. Who can write a file can seal it, and nothing in it is believed.
_FIT: dict[str, Any] = {
    "seed": int | None, "step": float | int | None, "beta": float | int | None, "n_iter": int, "phase": str,
    "trained": list, "n_epochs": int, "ended": bool, "temperature": float | None,
}  # fmt: skip

_DESCENT: dict[str, Any] = {
    "epoch": int, "best_epoch": int, "best_score": float | int, "mark": float | int, "stale": int, "done": bool,
    "history": list,
}  # fmt: skip

_PHASES = ("train", "refit")

_HELD_OUT = "held_out."  # before the names of arrays that a file has of held-out examples


@dataclass
class SgdProgress:
    """Where a fit stands: its seed, what tuning found, the phase it is in, and the descent of that phase."""

    seed: int | None = None
    step: float | None = None  # None until tuning is done
    beta: float | None = None
    n_iter: int = 0  # steps of conjugate gradients to where it starts; 0 if that is nothing
    phase: str = "train"
    trained: list[dict[str, Any]] = field(default_factory=list)  # the history of phases that are over
    n_epochs: int = 0  # epochs that training took, and a refit takes
    ended: bool = False  # whether a callback ended the phase
    temperature: float | None = None  # of the held-out examples, by the length of W, once training is over
    held_out: Arrays | None = None  # vectors of what was said of these examples, then too
    descent: SgdRun | None = None
    saved: "SavedDescent | None" = None  # what a file has of it, until it is taken up
    rows: SentRows = field(default_factory=SentRows)

    def descent_from(
        self, machines: LinearWeights, algorithm: SgdAlgorithm, train: Problem, judged: Problem | None = None
    ) -> SgdRun:
        """The descent of this phase: the one under way, or else one from these machines, which it changes."""
        saved, self.saved = self.saved, None
        if saved is not None and (found := saved.weights.shape) != machines.W.shape:
            raise ValueError(f"checkpoint must have weights of shape {machines.W.shape}; got {found}; {FORMAT.advice}")
        if self.phase == "train" and not algorithm.divides_classes:
            say_computed_here("a classifier whose classes compete", "objective='ovr' is divided among them")
        problems = [train] if judged is None else [train, judged]
        weights = place_weights(machines, algorithm, problems, None if saved is None else saved.weights, self.rows)
        self.descent = SgdRun(weights, **({} if saved is None else saved.counters))
        return self.descent

    def begin_refit(self) -> None:
        """Training is over: its weights are not needed beside those of the refit."""
        if self.descent is not None:
            self.trained, self.phase = self.descent.history, "refit"
        self.close()

    def close(self) -> None:
        """Let go of the weights."""
        if self.descent is not None:
            self.descent.weights.close()
        self.descent = None


@dataclass(frozen=True)
class SavedDescent:
    """A descent as a file has it."""

    counters: dict[str, Any]
    weights: SavedWeights


class Checkpoint:
    """A run of stochastic gradient descent, and the file in which it is kept.

    Parameters
    ----------
    path : path-like or None
        The file, from which a run that is there already goes on; None to keep the run in memory only.

    Attributes
    ----------
    run : SgdProgress
        Where the fit stands.
    """

    def __init__(self, path: str | os.PathLike[str] | None):
        self.path = None if path is None else Path(path).absolute()  # as workers may be in other folders
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"checkpoint must lie in a folder that exists; got {self.path}")
        self.run, self._written = SgdProgress(), 0.0
        self._identity: dict[str, str] = {}
        if self.path is not None and self.path.exists():
            self.run, self._identity = _read(self.path)
        self._wait = _SECONDS

    def check(self, identity: dict[str, str], shape: tuple[int, ...] | None = None) -> None:
        """Refuse to go on with the run of other data or settings.

        Parameters
        ----------
        identity : dict of str to str
            What tells this fit from others, as `run_identity_of` gives it; it goes into the file.
        shape : tuple of int, default=None
            The shape (k, d) that the weights of a run under way must have; None for any.

        Raises
        ------
        ValueError
            If the file holds a run that differs in one of them.
        """
        different = [name for name in identity if self._identity.get(name) != identity[name]]
        if self._identity and different:
            raise ValueError(
                f"checkpoint {self.path} belongs to another fit, which differs in {', '.join(different)}; "
                "fit with the same data and settings to resume, remove the file, or pass another path"
            )
        saved = self.run.saved
        if self._identity and saved is not None and shape not in (None, found := saved.weights.shape):
            raise ValueError(f"{self.path} must hold weights of shape {shape}; it holds {found}; {FORMAT.advice}")
        self._identity = identity

    def write(self, only_if_due: bool = False) -> None:
        """Put the run into the file, at one instant.

        Parameters
        ----------
        only_if_due : bool, default=False
            Whether to leave it at that if the file was written in the last few seconds.
        """
        if self.path is None or (only_if_due and time.monotonic() < self._written + self._wait):
            return
        started, descent = time.monotonic(), self.run.descent
        run, weights = {name: getattr(self.run, name) for name in _FIT}, {}
        parts: list[dict[str, Any]] = []
        arrays: Arrays = {}
        if descent is not None:
            parts, arrays = descent.weights.store(self.path, f"{self.run.phase}-{descent.epoch}")
            run["descent"] = {name: getattr(descent, name) for name in _DESCENT}
            weights = {"shape": descent.weights.shape, "parts": parts}
        arrays |= {_HELD_OUT + name: values for name, values in (self.run.held_out or {}).items()}
        with explain_disk_errors(self.path):
            FORMAT.write(self.path, {"identity": self._identity, "run": run, "weights": weights}, arrays)
        with after_commit(self.path):
            _remove_parts(self.path, {part["name"] for part in parts})
        self._written = time.monotonic()
        self._wait = max(_SECONDS, _TIMES * (self._written - started))

    def remove(self) -> None:
        """Remove the files of a run that is over."""
        if self.path is not None:
            remove_checkpoint(self.path)

    def close(self) -> None:
        """Let go of the weights of a run that is over, or that failed."""
        self.run.close()


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint, if there is one, and all that is beside it; the file that names the others first."""
    if path.exists():
        path.unlink()
        path.with_name(path.name + TEMPORARY_SUFFIX).unlink(missing_ok=True)
        sync_folder(path.parent)
    _remove_parts(path, set())


def _remove_parts(path: Path, named: set[str]) -> None:
    """Remove the parts beside a checkpoint that it does not name."""
    for file in path.parent.iterdir():
        if file.name.startswith(path.name + PART) and file.name not in named:
            file.unlink(missing_ok=True)


def run_identity_of(
    problem: Problem, judged: Problem | None, start: LinearWeights | None, settings: dict[str, Any]
) -> dict[str, str]:
    """What tells a fit from others: shapes, labels, weights, some rows, where it starts, and the settings."""
    return {
        "X": rows_digest(problem.X),
        "y": sha256_digest([problem.y, np.asarray(problem.k), *_lists(problem)]),
        "weights": sha256_digest([problem.weights]),
        "validation": "" if judged is None else _judged_digest(judged),
        "the machines it starts from": "" if start is None else sha256_digest([start.W, start.biases]),
        **{name: _told(value) for name, value in settings.items()},
    }


def _judged_digest(judged: Problem) -> str:
    return rows_digest(judged.X) + sha256_digest([judged.y, judged.index, *_lists(judged)])


def _lists(problem: Problem) -> list[NDArray[Any]]:
    return [] if problem.labels is None else [problem.labels.starts, problem.labels.classes]


def _told(value: Any) -> str:
    """A setting in words, or, where there are many, a digest of them."""
    words = repr(value)
    return words if len(words) < 64 else sha256_digest([words])


def _read(path: Path) -> tuple[SgdProgress, dict[str, str]]:
    content, arrays = FORMAT.read(path)
    try:
        identity, saved = dict(content["identity"]), dict(content["run"])
        counters = saved.pop("descent", None)
        run = SgdProgress(**_checked(saved, _FIT), held_out=_held_out(arrays))
        if run.phase not in _PHASES:
            raise ValueError(f"phase must be one of {', '.join(_PHASES)}; got {run.phase!r}")
        if counters is not None:
            if run.seed is None or run.step is None:
                raise ValueError("a descent must have a seed and a step")
            weights = SavedWeights.read(path, content.get("weights", {"parts": []}), arrays)
            run.saved = SavedDescent(_checked(counters, _DESCENT), weights)
        return run, identity
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


def _held_out(arrays: Arrays) -> Arrays | None:
    """What was said of held-out examples, which is taken out of the arrays of a file."""
    names = [name for name in arrays if name.startswith(_HELD_OUT)]
    found = {name.removeprefix(_HELD_OUT): arrays.pop(name) for name in names}
    if len({values.shape for values in found.values()}) > 1 or any(values.ndim != 1 for values in found.values()):
        raise ValueError("what is said of held-out examples must be vectors of one length")
    return found or None


def _checked(values: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    """The values by name, if all are there and of their kinds: numbers of a sane size, and lists of records."""
    if set(values) != set(kinds):
        raise ValueError(f"it must have the entries {', '.join(kinds)}; got {', '.join(map(str, values))[:80]}")
    for name, kind in kinds.items():
        value = values[name]
        good = isinstance(value, kind)
        if isinstance(value, list):
            good = good and all(isinstance(record, dict) for record in value)
        elif kind is int or name == "seed":
            good = good and (value is None or 0 <= value < 2**32)
        if not good:
            raise ValueError(f"{name} cannot be {str(value)[:40]}")
    return dict(values)
