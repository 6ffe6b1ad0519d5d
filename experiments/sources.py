"""The data of the experiments: each a set of rows to train on and one to test on."""

import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import manyclass as mc

Rows = NDArray[np.float32]
Labels = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """X (n, d) of unit rows with labels y (n,), to train on and to test on."""

    X: Rows
    y: Labels
    X_test: Rows
    y_test: Labels

    @property
    def n_classes(self) -> int:
        """Classes, numbered from 0."""
        return int(self.y.max()) + 1


def unit(X: Rows) -> Rows:
    """Rows divided by their lengths."""
    lengths: Rows = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return (X / lengths).astype(np.float32)


def _halves(X: Rows, y: Labels, train: NDArray[np.bool_]) -> Split:
    return Split(X[train], y[train], X[~train], y[~train])


@cache
def caltech(folder: Path) -> Split:
    """Pooled features of Caltech-101 with the split of their file: 30 to train on, at most 15 to test on."""
    found = mc.datasets.read_features(one(folder, "caltech*.npz"))
    return _halves(
        unit(found.X.toarray().astype(np.float32)), np.asarray(found.y, np.intp), np.asarray(found.split) == "train"
    )


@cache
def omniglot_features(folder: Path) -> tuple[Rows, Labels]:
    """Histograms of gradients of all of Omniglot's drawings, made 32 pixels wide, with the numbers of characters."""
    from PIL import Image

    files: dict[str, bytes] = {}
    with tarfile.open(one(folder, "omniglot*.tar.gz")) as archive:
        for member in archive:  # in its order: to go back in it is to unpack it again
            if member.isfile() and member.name.endswith(".png") and (stream := archive.extractfile(member)):
                files[member.name] = stream.read()
    images, characters = [], []
    for name in sorted(files):
        drawing = Image.open(io.BytesIO(files[name])).convert("L").resize((32, 32), Image.Resampling.BOX)
        images.append(np.asarray(drawing))
        characters.append(str(Path(name).parent))
    return mc.datasets.glyph_features(np.stack(images)), np.unique(characters, return_inverse=True)[1]


def omniglot(folder: Path, seed: int = 0) -> Split:
    """Histograms of gradients of Omniglot's drawings, made 32 pixels wide; 15 of 20 of a character to train on."""
    X, y = omniglot_features(folder)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    counts = np.bincount(y)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    train = np.zeros(len(y), bool)
    train[order[rank < 15]] = True
    return _halves(X, y, train)


@cache
def glyphs(n_classes: int = 500) -> Split:
    """Histograms of gradients of drawn characters: 15 of a class to train on, 5 to test on."""
    drawn = mc.datasets.glyphs(n_classes)
    return _halves(mc.datasets.glyph_features(drawn.images), drawn.y, np.asarray(drawn.split) == "train")


@cache
def low_rank(n: int, d: int, n_classes: int, seed: int = 0) -> Split:
    """Generated classes, with half as many rows to test on."""
    data = mc.datasets.low_rank_classes(n + n // 2, d, n_classes, random_state=seed)
    return Split(data.rows(slice(0, n)), data.y[:n], data.rows(slice(n, None)), data.y[n:])


def available(folder: Path | None) -> dict[str, Callable[[int], Split]]:
    """Data sets by name, each made from a seed; those of the folder only where they are there."""
    found: dict[str, Callable[[int], Split]] = {}
    if folder and any(folder.rglob("caltech*.npz")):
        found["Caltech features"] = lambda _: caltech(folder)
    if folder and any(folder.rglob("omniglot*.tar.gz")):
        found["Omniglot"] = lambda seed: omniglot(folder, seed)
    found["glyphs"] = lambda _: glyphs()
    found["generated"] = lambda seed: low_rank(6_000, 256, 300, seed)
    return found


def one(folder: Path, pattern: str) -> Path:
    """The first file of the folder, or below it, whose name fits."""
    return sorted(folder.rglob(pattern))[0]
