"""The data of the experiments on Perronnin et al. (CVPR 2012): signatures of pictures as theirs, and draws of them.

Bags of 1,024 words in four regions, the whole and three stripes, and Fisher vectors of SIFT that PCA makes 64 numbers.
Pictures here are smaller than those of the paper, and so are patches or the steps between them. Encoders learn, without
labels, from all pictures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manyclass as mc
from experiments.photographs import Photographs, encoded, photographs, room, store_digest
from experiments.sources import Labels, Rows
from experiments.tuned import Drawn

BOV, FISHER = "BOV", (8, 32, 256)
LARGEST = f"FV {FISHER[-1]}"
SIGNATURES = (BOV, *(f"FV {k}" for k in FISHER))


@dataclass(frozen=True)
class Collection:
    """Pictures of an archive: how many of a class to train on, choose by and test on, and how they are described."""

    pattern: str
    each: tuple[int, int, int]
    patches: dict[str, Any] = field(hash=False)
    about: str

    def encoder(self, signature: str) -> Any:
        """By the name of the signature."""
        settings = {"n_samples": 100_000, "random_state": 0, **self.patches}
        if signature == BOV:
            return mc.BagOfWords(1024, pyramid=("1x1", "3x1"), **settings)
        return mc.FisherVectors(int(signature.removeprefix("FV ")), ("sift",), **settings)


COLLECTIONS = {
    "Tiny-ImageNet": Collection(
        "tiny_imagenet*.tar.gz",
        (40, 20, 40),
        {"patch": 12, "step": 3, "scales": 3},
        "They are 64 pixels wide; patches have 12 pixels and are 3 apart, at 3 scales.",
    ),
    "Caltech": Collection(
        "caltech*.tar",
        (20, 5, 20),
        {"max_pixels": 20_000},
        "They are read with 20,000 pixels (the paper: 100,000); patches have 24 and are 6 apart, at 5 scales.",
    ),
}


def available(folder: Path | None) -> list[str]:
    """Names of the collections that a folder has."""
    return [name for name, one in COLLECTIONS.items() if folder and any(folder.rglob(one.pattern))]


def n_classes(folder: Path, data: str) -> int:
    """Classes of a collection."""
    return int(_pictures(folder, data).y.max()) + 1


class Draw(NamedTuple):
    """Rows drawn by a seed, of some classes or (0) all; the largest class has `ratio` times as many as the smallest."""

    data: str
    signature: str
    seed: int
    classes: int = 0
    ratio: float = 1.0


class Parts(NamedTuple):
    """Rows to train on, to choose by and to test on, with labels from 0 on."""

    train: Drawn
    judge: Drawn
    test: Drawn


@lru_cache(maxsize=2)
def drawn(folder: Path, draw: Draw) -> Parts:
    """The rows of a draw, less the mean of those to train on; in coordinates of their span if these are far fewer."""
    each, y = COLLECTIONS[draw.data].each, _pictures(folder, draw.data).y
    places, labels = _places(y, draw, each)
    if signatures(folder, draw.data, draw.signature).shape[1] > 1.5 * len(places[0]):  # else not worth it
        parts = in_span(_products(folder, draw.data, draw.signature), places)
    else:
        X = _dense(folder, draw.data, draw.signature)
        mean = X[places[0]].mean(axis=0)
        parts = [X[at] - mean for at in places]
    return Parts(*zip(parts, (labels[at] for at in places), strict=True))


def _places(y: Labels, draw: Draw, each: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Which rows to train on, to choose by and to test on, and labels of all rows, from 0 on for the classes drawn."""
    rng = np.random.default_rng([draw.seed, draw.classes])
    k = int(y.max()) + 1
    chosen = np.sort(rng.permutation(k)[: draw.classes or k])
    shuffled = [rng.permutation(np.flatnonzero(y == c)) for c in chosen]
    ends = np.cumsum([0, *each])
    parts = [[rows[a:b] for rows in shuffled] for a, b in pairwise(ends)]
    sizes = class_sizes(each[0], len(chosen), draw.ratio)
    parts[0] = [rows[:size] for rows, size in zip(parts[0], rng.permutation(sizes), strict=True)]
    return [np.concatenate(part) for part in parts], np.searchsorted(chosen, y)


def class_sizes(most: int, k: int, ratio: float) -> Labels:
    """Rows of k classes, from `most` down to most / ratio, each the same part of the one before.

    >>> class_sizes(40, 5, 16.0).tolist(), class_sizes(40, 3, 1.0).tolist()
    ([40, 20, 10, 5, 2], [40, 40, 40])
    """
    return np.maximum(1, np.round(most * ratio ** -np.linspace(0, 1, k))).astype(np.intp)


def in_span(K: Rows, places: Sequence[Labels]) -> list[Rows]:
    """Rows with products K, less the mean of the first places, by coordinates in the span of those.

    With L L' the products of those, rows with products P with them have the coordinates P L^-T: to linear machines,
    which are sums of rows to train on, the same.
    """
    from scipy.linalg import solve_triangular

    first = places[0]
    P = [K[np.ix_(at, first)].astype(np.float64) for at in places]
    mean, own = P[0].mean(axis=0), P[0].mean()
    P = [part - part.mean(axis=1, keepdims=True) - mean + own for part in P]
    # Centered rows have one direction less than there are, and float32 leaves the smallest uncertain.
    L = np.linalg.cholesky(P[0] + 1e-5 * np.trace(P[0]) / len(first) * np.eye(len(first)))
    return [solve_triangular(L, part.T, lower=True).T.astype(np.float32, order="C") for part in P]


@cache
def signatures(folder: Path, data: str, signature: str) -> mc.Matrix:
    """Those of all pictures of a collection, which are made once."""
    return encoded(_pictures(folder, data), COLLECTIONS[data].encoder(signature)).X


@lru_cache(maxsize=1)
def _dense(folder: Path, data: str, signature: str) -> Rows:
    found: Rows = signatures(folder, data, signature).toarray()
    return found


@cache
def _pictures(folder: Path, data: str) -> Photographs:
    """As many pictures of every class as are drawn."""
    found, each = photographs(folder, COLLECTIONS[data].pattern), sum(COLLECTIONS[data].each)
    first = np.sort(np.concatenate([np.flatnonzero(found.y == c)[:each] for c in np.unique(found.y)]))
    return Photographs(f"{found.name}-{each}", [found.paths[i] for i in first], found.y[first], len(first))


@lru_cache(maxsize=1)
def _products(folder: Path, data: str, signature: str) -> Rows:
    """Products of all pictures with one another, which are found once."""
    said = f"{data} {COLLECTIONS[data].encoder(signature)!r} {COLLECTIONS[data].each} {store_digest()}"
    path = room() / f"products-{sha256(said.encode()).hexdigest()[:16]}.npy"
    if not path.exists():
        X = _dense(folder, data, signature)
        np.save(path, X @ X.T)
    found: Rows = np.load(path)
    return found
