"""SavedWeights: the weights of a descent in the file of its checkpoint, or in files beside it, one for each range.

Who goes on needs not be as many as those who wrote: each reads the files in which its classes are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from manyclass._core.sealed import SealedFormat, read_seal
from manyclass._core.typing import Arrays
from manyclass.data.matrix import spans
from manyclass.solvers.sgd.descent import AveragedWeights
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights

FORMAT = SealedFormat("manyclass checkpoint", 3, "remove the file to begin anew")

PART = ".part-"  # follows the name of a checkpoint in those of the files beside it

_KINDS = {"W": np.float32, "biases": np.float32, "scales": np.float64, "steps": np.int64}


@dataclass(frozen=True)
class SavedRange:
    """A file with the weights of a range of classes, and the checksum that it begins with."""

    path: Path
    classes: range
    seal: str

    @classmethod
    def of(cls, path: Path, classes: range) -> Self:
        """The file as it is now."""
        return cls(path, classes, _seal(path))

    @classmethod
    def from_json(cls, checkpoint: Path, value: Any) -> Self:
        """One that a checkpoint names; nothing in it is believed before it is checked."""
        name, first, stop, seal = (value[key] for key in ("name", "first", "stop", "sha256"))
        counts = type(first) is type(stop) is int and 0 <= first < stop < 2**32
        beside = isinstance(name, str) and name.startswith(checkpoint.name + PART) and Path(name).name == name
        if not (counts and beside and isinstance(seal, str)):
            raise ValueError(f"a part must be a file beside it, with a range of classes; got {str(value)[:80]}")
        return cls(checkpoint.with_name(name), range(first, stop), seal)

    def json(self) -> dict[str, Any]:
        """What `from_json` takes."""
        return {
            "name": self.path.name, "first": self.classes.start, "stop": self.classes.stop, "sha256": self.seal
        }  # fmt: skip

    def read(self, classes: range | None = None) -> AveragedWeights:
        """Its weights, or those of some of its classes, checked."""
        if _seal(self.path) != self.seal:
            raise ValueError(f"{self.path} is not the part that its checkpoint names; {FORMAT.advice}")
        some = self.classes if classes is None else classes
        at = slice(some.start - self.classes.start, some.stop - self.classes.start)
        rows = slice(None) if some == self.classes else at
        return read_weights(FORMAT.read(self.path, rows)[1], self.path, some)


@dataclass(frozen=True)
class SavedWeights:
    """The weights of all classes of a descent, in the file of its checkpoint or in parts beside it."""

    path: Path
    shape: tuple[int, int]  # (k, d)
    whole: AveragedWeights | None
    parts: Sequence[SavedRange]

    @classmethod
    def read(cls, path: Path, content: Any, arrays: Arrays) -> Self:
        """What a checkpoint says of its weights, or holds of them."""
        if not content["parts"]:
            whole = read_weights(arrays, path)
            return cls(path, whole.shape, whole, ())
        parts = [SavedRange.from_json(path, part) for part in content["parts"]]
        k, d = content["shape"]
        ends = [parts[0].classes.start, *(part.classes.stop for part in parts)]
        follow = all(part.classes.start == end for part, end in zip(parts, ends, strict=False))
        if not (type(k) is type(d) is int and d >= 0 and follow and ends[-1] - ends[0] == k):
            raise ValueError(f"its parts must be of {k} classes, one after the other; got {ends}"[:200])
        return cls(path, (k, d), None, parts)

    def load(self, classes: range) -> AveragedWeights:
        """Those of all classes, which have these numbers."""
        weights = read_ranges(self.parts, classes) if self.whole is None else self.whole
        for known in filter(None, (weights.machines, weights.mean, weights.best)):
            known.first = classes.start  # which the identity of the fit tells
        return weights

    def ranges(self, classes: range) -> list[SavedRange]:
        """The files from which those who have a range of these classes read their own."""
        return [*self.parts] or [SavedRange.of(self.path, classes)]


def write_range(path: Path, weights: AveragedWeights) -> None:
    """Write the weights of a range of classes; the checkpoint that names it is yet to come."""
    FORMAT.write(path, {"first": weights.machines.first}, weights.arrays(), part=True)


def read_ranges(saved: Sequence[SavedRange], classes: range) -> AveragedWeights:
    """The weights of a range of classes, from all files that have some of them."""
    found = []
    for one in saved:
        common = range(max(one.classes.start, classes.start), min(one.classes.stop, classes.stop))
        if len(common):
            found.append(one.read(common))
    has_best = [weights.best is not None for weights in found]
    if any(has_best) != all(has_best) or sum(len(weights.machines.W) for weights in found) != len(classes):
        raise ValueError(f"{saved[0].path} and the parts that follow are not of one descent; {FORMAT.advice}")
    return found[0] if len(found) == 1 else AveragedWeights.join(found)


def read_weights(arrays: Arrays, path: Path, classes: range | None = None) -> AveragedWeights:
    """The weights that a file holds, of these classes or of any number; whoever wrote it, all of them are numbers."""
    try:
        k, d = arrays["machines.W"].shape
        classes = range(k) if classes is None else classes
        best = _machines("best", arrays, classes, d) if "best.W" in arrays else None
        machines, mean = (_machines(role, arrays, classes, d) for role in ("machines", "mean"))
        return AveragedWeights(machines, mean, best)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


def _machines(role: str, arrays: Arrays, classes: range, d: int) -> LinearWeights:
    W, biases, scales, steps = (arrays[f"{role}.{name}"] for name in _KINDS)
    machines = LinearWeights(W, biases, scales, steps, classes.start)
    for name, array in machines.arrays().items():
        expected = (len(classes), d) if name == "W" else (len(classes),)
        if array.dtype != _KINDS[name] or array.shape != expected:
            kind = np.dtype(_KINDS[name])
            raise ValueError(f"{role}.{name} must be of {kind} and shape {expected}; got {array.dtype} {array.shape}")
        if not all(np.isfinite(array[at]).all() for at in spans(len(array), PANEL)):
            raise ValueError(f"{role}.{name} must be finite")
    return machines


def _seal(path: Path) -> str:
    if not path.exists():
        raise ValueError(
            f"{path} is missing, a part of a checkpoint, which must lie where all that compute can read and write; "
            f"bring it back, or remove the checkpoint to begin anew"
        )
    return read_seal(path)
