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

FORMAT = SealedFormat("manyclass checkpoint", 1, "remove the file to begin anew")

# Between two checkpoints pass at least so many seconds, and so many times what the last one took to write.
_SECONDS, _TIMES = 5.0, 20.0

_COUNTERS = ("epoch", "best_epoch", "best_score", "mark", "stale", "done", "history")


@dataclass
class SgdProgress:
    """Where a fit stands: its seed, what tuning found, the phase it is in, and the descent of that phase."""

    seed: int | None = None
    step: float | None = None  # None until tuning is done
    beta: float | None = None
    phase: str = "train"
    trained: list[dict[str, Any]] = field(default_factory=list)  # the history of phases that are over
    n_epochs: int = 0  # epochs that training took, and a refit takes
    ended: bool = False  # whether a callback ended the phase
    descent: SgdRun | None = None

    def descent_from(self, machines: LinearWeights) -> SgdRun:
        """The descent of this phase: the one under way, or else one from these machines, which it changes."""
        self.descent = self.descent or SgdRun.start(machines)
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

    def check(self, identity: dict[str, str]) -> None:
        """Refuse to go on with the run of other data or settings.

        Parameters
        ----------
        identity : dict of str to str
            What tells this fit from others, as `run_identity_of` gives it; it goes into the file.

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
    content = {name: getattr(run, name) for name in ("seed", "step", "beta", "phase", "trained", "n_epochs", "ended")}
    descent, arrays = run.descent, {}
    if descent is not None:
        content["descent"] = {name: getattr(descent, name) for name in _COUNTERS}
        kept = {"machines": descent.machines, "mean": descent.mean, "best": descent.best}
        arrays = {f"{role}.{name}": A for role, m in kept.items() if m is not None for name, A in vars(m).items()}
    return {"identity": identity, "run": content}, arrays


def _read(path: Path) -> tuple[SgdProgress, dict[str, str]]:
    content, arrays = FORMAT.read(path)
    try:
        saved = content["run"]
        counters = saved.pop("descent", None)
        run = SgdProgress(**saved)
        if counters is not None:
            run.descent = SgdRun(_machines("machines", arrays), _machines("mean", arrays), **counters)
            run.descent.best = _machines("best", arrays) if "best.W" in arrays else None
        return run, dict(content["identity"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


def _machines(role: str, arrays: Arrays) -> LinearWeights:
    return LinearWeights(**{name: arrays[f"{role}.{name}"] for name in ("W", "biases", "scales", "steps")})
