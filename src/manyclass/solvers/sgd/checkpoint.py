"""Checkpoints: a run of stochastic gradient descent that can be killed at any moment and goes on to the same bits."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.digest import sha256_digest
from manyclass._core.files import TEMPORARY_SUFFIX, explain_disk_errors, sync_folder
from manyclass._core.sealed import SealedFormat
from manyclass._core.typing import Arrays
from manyclass.data.matrix import rows_digest
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import LinearWeights, SgdRun

FORMAT = SealedFormat("manyclass checkpoint", 2, "remove the file to begin anew")

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
    descent: SgdRun | None = None

    def descent_from(self, machines: LinearWeights) -> SgdRun:
        """The descent of this phase: the one under way, or else one from these machines, which it changes."""
        self.descent = self.descent or SgdRun.start(machines)
        if (found := self.descent.machines.W.shape) != machines.W.shape:
            raise ValueError(f"checkpoint must have weights of shape {machines.W.shape}; got {found}; {FORMAT.advice}")
        for known in filter(None, (self.descent.machines, self.descent.mean, self.descent.best)):
            known.first = machines.first  # which the identity of the fit tells
        return self.descent


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
        self.path = None if path is None else Path(path)
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
        descent = self.run.descent
        if self._identity and descent is not None and shape not in (None, descent.machines.W.shape):
            found = descent.machines.W.shape
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
        started = time.monotonic()
        content, arrays = _state(self.run, self._identity)
        with explain_disk_errors(self.path):
            FORMAT.write(self.path, content, arrays)
        self._written = time.monotonic()
        self._wait = max(_SECONDS, _TIMES * (self._written - started))

    def remove(self) -> None:
        """Remove the file of a run that is over."""
        if self.path is not None and self.path.exists():
            self.path.unlink()
            self.path.with_name(self.path.name + TEMPORARY_SUFFIX).unlink(missing_ok=True)
            sync_folder(self.path.parent)


def run_identity_of(
    problem: Problem, judged: Problem | None, start: LinearWeights | None, settings: dict[str, Any]
) -> dict[str, str]:
    """What tells a fit from others: shapes, labels, weights, some rows, where it starts, and the settings."""
    return {
        "X": rows_digest(problem.X),
        "y": sha256_digest([problem.y, np.asarray(problem.k)]),
        "weights": sha256_digest([problem.weights]),
        "validation": "" if judged is None else rows_digest(judged.X) + sha256_digest([judged.y, judged.index]),
        "the machines it starts from": "" if start is None else sha256_digest([start.W, start.biases]),
        **{name: _told(value) for name, value in settings.items()},
    }


def _told(value: Any) -> str:
    """A setting in words, or, where there are many, a digest of them."""
    words = repr(value)
    return words if len(words) < 64 else sha256_digest([words])


def _state(run: SgdProgress, identity: dict[str, str]) -> tuple[dict[str, Any], Arrays]:
    """(what JSON says, what arrays say) of a run."""
    content = {name: getattr(run, name) for name in _FIT}
    descent, arrays = run.descent, {}
    if descent is not None:
        content["descent"] = {name: getattr(descent, name) for name in _DESCENT}
        kept = {"machines": descent.machines, "mean": descent.mean, "best": descent.best}
        arrays = {f"{role}.{name}": A for role, m in kept.items() if m is not None for name, A in m.arrays().items()}
    return {"identity": identity, "run": content}, arrays


def _read(path: Path) -> tuple[SgdProgress, dict[str, str]]:
    content, arrays = FORMAT.read(path)
    try:
        identity, saved = dict(content["identity"]), dict(content["run"])
        counters = saved.pop("descent", None)
        run = SgdProgress(**_checked(saved, _FIT))
        if run.phase not in _PHASES:
            raise ValueError(f"phase must be one of {', '.join(_PHASES)}; got {run.phase!r}")
        if counters is not None:
            if run.seed is None or run.step is None:
                raise ValueError("a descent must have a seed and a step")
            best = _machines("best", arrays) if "best.W" in arrays else None
            machines, mean = _machines("machines", arrays), _machines("mean", arrays)
            run.descent = SgdRun(machines, mean, best, **_checked(counters, _DESCENT))
        return run, identity
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


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


def _machines(role: str, arrays: Arrays) -> LinearWeights:
    kinds = {"W": np.float32, "biases": np.float32, "scales": np.float64, "steps": np.int64}
    W, biases, scales, steps = (arrays[f"{role}.{name}"] for name in kinds)
    machines = LinearWeights(W, biases, scales, steps)
    shape = arrays["machines.W"].shape
    for name, kind in kinds.items():
        array: Any = getattr(machines, name)
        expected = shape if name == "W" else shape[:1]
        if array.dtype != kind or array.shape != expected or len(shape) != 2:
            raise ValueError(f"{role}.{name} must be of {np.dtype(kind)} and shape {expected}; got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{role}.{name} must be finite")
    return machines
