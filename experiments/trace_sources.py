"""The data of the experiments on the trace norm: of many classes some are drawn, and some rows of each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

import manyclass as mc
from experiments.one_vs_rest import in_span
from experiments.photographs import Encoded, encoded, photographs
from experiments.sources import Labels, Rows
from experiments.tuned import Drawn

# As in Harchaoui et al.: 16 Gaussians, SIFT and local color, 4,096 numbers.
_ENCODERS = {
    "caltech*.tar": mc.FisherVectors(16, step=6, random_state=0),
    "tiny_imagenet*.tar.gz": mc.FisherVectors(16, step=2, patch=12, scales=3, n_samples=100_000, random_state=0),
}


class Places(NamedTuple):
    """Which rows to train on, to choose by and to test on, and labels of all rows, from 0 on for classes drawn."""

    train: Labels
    judge: Labels
    test: Labels
    labels: Labels


@dataclass(frozen=True)
class Source:
    """Rows of many classes; how many classes to draw, and of each how many rows to train on, choose by and test on."""

    load: Callable[[], Drawn]
    counts: tuple[int, ...]
    each: tuple[int, int, int]

    def places(self, count: int, seed: int) -> Places:
        """Those of so many classes, drawn; with another count and the same seed, more classes or fewer of them."""
        y = self.load()[1]
        chosen = np.sort(np.random.default_rng(seed).permutation(int(y.max()) + 1)[:count])
        shuffled = [np.random.default_rng([seed, c]).permutation(np.flatnonzero(y == c)) for c in chosen]
        ends = np.cumsum([0, *self.each])
        parts = [np.concatenate([rows[a:b] for rows in shuffled]) for a, b in pairwise(ends)]
        return Places(*parts, np.searchsorted(chosen, y))

    def draw(self, count: int, seed: int) -> tuple[Drawn, ...]:
        """Rows to train on, to choose by and to test on."""
        X, places = self.load()[0], self.places(count, seed)
        parts = places[:3]
        return tuple(zip(in_coordinates(*(X[at] for at in parts)), (places.labels[at] for at in parts), strict=True))


def in_coordinates(train: Rows, *others: Rows) -> list[Rows]:
    """Rows in coordinates of the span of those to train on, if that is fewer numbers: to linear machines the same."""
    whole = np.concatenate([train, *others])
    X = in_span(Encoded(mc.DenseMatrix(whole), np.zeros(len(whole), np.intp), len(train))).X.toarray()
    return np.split(X.astype(np.float32), np.cumsum([len(part) for part in (train, *others)])[:-1])


@cache
def _fisher(folder: Path, pattern: str) -> Drawn:
    found = encoded(photographs(folder, pattern), _ENCODERS[pattern])
    return found.X.toarray().astype(np.float32), found.y


@cache
def _glyphs(n_classes: int) -> Drawn:
    drawn = mc.datasets.glyphs(n_classes)
    return mc.datasets.glyph_features(drawn.images), np.asarray(drawn.y)


def available(folder: Path | None) -> dict[str, Source]:
    """By name; those of the folder only where they are there."""
    photographs = {
        "Tiny-ImageNet, Fisher vectors": ("tiny_imagenet*.tar.gz", (10, 30, 100), (20, 10, 60)),
        "Caltech, Fisher vectors": ("caltech*.tar", (10, 30, 101), (20, 5, 20)),
    }
    found = {
        name: Source(partial(_fisher, folder, pattern), counts, each)
        for name, (pattern, counts, each) in photographs.items()
        if folder and any(folder.rglob(pattern))
    }
    return found | {"drawn characters": Source(partial(_glyphs, 1000), (10, 50, 200), (5, 5, 10))}
