"""Photographs on disk, and the stores that encoders make of them, each of which is written once.

Stores and unpacked archives are kept in the folder that MANYCLASS_CACHE names, or until the program ends. Stores that
other code has made are not used.
"""

import atexit
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.sources import one, unit
from manyclass import _native
from manyclass._core.digest import sha256_digest

CODED_FROM = 1000  # photographs that quantizers learn from


@cache
def room() -> Path:
    """Where stores are kept."""
    if kept := os.environ.get("MANYCLASS_CACHE"):
        Path(kept).mkdir(parents=True, exist_ok=True)
        return Path(kept)
    passing = TemporaryDirectory()
    atexit.register(passing.cleanup)
    return Path(passing.name)


@cache
def code_digest() -> str:
    """Tells this state of the library and of the experiments from others, whose results are not taken for its own."""
    return _digest(sorted(Path(__file__).parent.glob("*.py")))


@cache
def store_digest() -> str:
    """The same for stores, which other experiments than this file have no part in."""
    return _digest([Path(__file__)])


def _digest(scripts: list[Path]) -> str:
    library = sorted(Path(mc.__file__).parent.rglob("*.py"))
    return sha256_digest([source.read_bytes() for source in (*library, *scripts, Path(_native.__file__))])[:16]


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What JSON can hold, made once by this code and kept beside the stores."""
    path = room() / f"{name}-{code_digest()}.json"
    if not path.exists():
        path.write_text(json.dumps(make()), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Photographs:
    """Paths with labels y, 0 to k - 1; those to train on come first, and are n_train."""

    name: str
    paths: list[str]
    y: NDArray[np.intp]
    n_train: int

    @property
    def to_train(self) -> list[str]:
        """Those to learn from."""
        return self.paths[: self.n_train]


@dataclass(frozen=True)
class Encoded:
    """Features X (n, d) with labels y, of which the first n_train are to train on."""

    X: mc.Matrix
    y: NDArray[np.intp]
    n_train: int

    @property
    def train(self) -> tuple[mc.Matrix, NDArray[np.intp]]:
        """X and y to train on."""
        return self.X.row_slice(slice(0, self.n_train)), self.y[: self.n_train]

    @property
    def test(self) -> tuple[mc.Matrix, NDArray[np.intp]]:
        """X and y to test on."""
        return self.X.row_slice(slice(self.n_train, len(self.y))), self.y[self.n_train :]

    def first(self, d: int) -> "Encoded":
        """The first d numbers alone, of unit length again."""
        X = np.concatenate([unit(rows[:, :d]) for _, rows in self.X.blocks(256)])
        return Encoded(mc.DenseMatrix(X), self.y, self.n_train)

    def coded(self, quantizer: Any, n_sample: int = CODED_FROM) -> "Encoded":
        """As codes of a quantizer that learns from some of the rows to train on."""
        rows = np.sort(np.random.default_rng(0).permutation(self.n_train)[:n_sample])
        return Encoded(quantizer.fit(self.X.rows(rows)).encode(self.X), self.y, self.n_train)


@cache
def photographs(folder: Path, pattern: str) -> Photographs:
    """Those of the archive of a folder that is called so, by the labels and the split that it has."""
    archive = one(folder, pattern)
    unpacked = room() / archive.name.split(".")[0]
    if not unpacked.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
    found = mc.datasets.read_images(unpacked)
    y = np.zeros(len(found), np.intp) if found.y is None else np.unique(found.y, return_inverse=True)[1]
    train = np.zeros(len(found), bool) if found.split is None else found.split == "train"
    order = np.argsort(~train, kind="stable")
    return Photographs(archive.name.split(".")[0], [found.paths[i] for i in order], y[order], int(train.sum()))


def encoded(images: Photographs, encoder: Any, quantizer: Any = None, learn_from: Photographs | None = None) -> Encoded:
    """What an encoder, which learns from the photographs to train on or from all others that are given, makes of them.

    With a quantizer, rows are written as its codes, and the numbers never.
    """
    teacher = learn_from or images
    said = f"{images.name} {teacher.name} {encoder!r} {quantizer!r} {store_digest()}"
    path = room() / f"{images.name}-{sha256(said.encode()).hexdigest()[:16]}.store"
    if not path.exists():
        encoder.fit(teacher.to_train)
        mc.write_features(path, images.paths, encoder, y=images.y, quantizer=quantizer, sample=CODED_FROM)
    return Encoded(mc.open_store(path).X, images.y, images.n_train)
