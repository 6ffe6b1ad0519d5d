"""Searches by the features of Rezende et al. (CVPR 2017): VLAD of 64 words, and SPoC, pooled activations of a network.

The paper's photographs, Holidays and Oxford, are not at hand. Covers of DVDs, a corridor and Caltech-101 take their
place, and photographs of Caltech-101 and Tiny-ImageNet that of Flickr's as negatives.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.networks import efficientnet
from experiments.one_vs_rest import coordinates
from experiments.photographs import encoded, photographs
from experiments.retrieval_sources import Search, corridor_search, cover_search, omniglot_rows
from experiments.sources import Rows, unit
from manyclass.evaluation import Truth

CALTECH, TINY, DVD, CORRIDOR = "caltech*.tar", "tiny_imagenet*.tar.gz", "smvs_dvd*.tar", "vpr_corridor*.tar"
NEGATIVES = 15_000  # as many as the paper has
VLAD_NEGATIVES = 1500
ASKED, KNOWN = 5, 10  # images of a class that ask, and that are asked for
CHARACTERS = 50

Where = tuple[str, str]


def searches(folder: Path | None) -> dict[Where, Callable[[], Search]]:
    """By (data, features); those of the folder only where they are there, and of a network where it is installed."""
    found: dict[Where, Callable[[], Search]] = {}
    if folder and _has(folder, CALTECH):
        if _has(folder, DVD):
            found["DVD covers", "VLAD"] = partial(vlad_covers, folder)
        if efficientnet():
            found |= {("DVD covers", "SPoC"): partial(covers, folder)} if _has(folder, DVD) else {}
            found |= {("corridor", "SPoC"): partial(corridor, folder)} if _has(folder, CORRIDOR) else {}
            found["Caltech-101", "SPoC"] = partial(caltech, folder)
    if folder and _has(folder, "omniglot*.tar.gz"):
        found["Omniglot", "gradients"] = partial(few_characters, folder)
    return found or {("glyphs", "gradients"): glyphs}


def vlad_covers(folder: Path, n_negatives: int = VLAD_NEGATIVES) -> Search:
    """Covers by VLAD, in coordinates in the span of all rows, which has the same products and fewer numbers."""
    vlad = mc.Vlad(64, n_samples=100_000, random_state=0)
    paths, X = _described(folder, DVD, vlad)
    negatives = _shuffled(_described(folder, CALTECH, vlad)[1])[:n_negatives]
    found = cover_search(paths, X, negatives)
    C = coordinates(np.concatenate([found.negatives, found.database]))
    return found._replace(negatives=C[:n_negatives], database=C[n_negatives:], queries=C[n_negatives:])


def covers(folder: Path) -> Search:
    """Covers by SPoC."""
    return cover_search(*_described(folder, DVD, spoc()), world(folder))


def corridor(folder: Path) -> Search:
    """Frames of a corridor by SPoC."""
    return corridor_search(folder, *_described(folder, CORRIDOR, spoc()), world(folder))


def caltech(folder: Path) -> Search:
    """Every other class of Caltech-101 by SPoC; the others are negatives, with Tiny-ImageNet."""
    X, y = _described(folder, CALTECH, spoc())[1], photographs(folder, CALTECH).y
    tiny = [_described(folder, TINY, spoc())[1]] if _has(folder, TINY) else []
    return some_of_each(X, y, y % 2 == 1, _shuffled(np.concatenate([X[y % 2 == 0], *tiny]))[:NEGATIVES])


@cache
def world(folder: Path) -> Rows:
    """SPoC of photographs of Caltech-101 and Tiny-ImageNet, shuffled."""
    patterns = [pattern for pattern in (CALTECH, TINY) if _has(folder, pattern)]
    return _shuffled(np.concatenate([_described(folder, pattern, spoc())[1] for pattern in patterns]))[:NEGATIVES]


def apart(folder: Path | None) -> dict[Where, tuple[Search, Rows]]:
    """Searches against Tiny-ImageNet alone, with the photographs of Caltech-101 to learn a whitening from."""
    found = searches(folder)
    if folder is None or not _has(folder, TINY):
        return {}
    some = [where for where in (("DVD covers", "SPoC"), ("corridor", "SPoC")) if where in found]
    negatives, learned = (_described(folder, pattern, spoc())[1] for pattern in (TINY, CALTECH)) if some else ([], [])
    return {where: (found[where]()._replace(negatives=negatives), learned) for where in some}


def few_characters(folder: Path) -> Search:
    """50 characters of half of Omniglot's alphabets by gradients; all drawings of the other half are negatives."""
    X, y, alphabets = omniglot_rows(folder, "gradients")
    theirs = np.unique(y[alphabets % 2 == 1])
    some = theirs[np.linspace(0, len(theirs) - 1, CHARACTERS).astype(np.intp)]
    return some_of_each(X, y, np.isin(y, some), _shuffled(X[alphabets % 2 == 0]))


@cache
def glyphs(n_classes: int = 500) -> Search:
    """Drawn characters by gradients: every other one is among the negatives."""
    drawn = mc.datasets.glyphs(n_classes)
    X = mc.datasets.glyph_features(drawn.images)
    return some_of_each(X, drawn.y, drawn.y % 10 == 1, _shuffled(X[drawn.y % 2 == 0]))


@cache
def many_drawings(n_negatives: int, n_classes: int = 550) -> Search:
    """50 drawn characters by gradients, against as many drawings of 500 others as are asked for."""
    others = n_classes - CHARACTERS
    drawn = mc.datasets.glyphs(n_classes, max(ASKED + KNOWN, -(-n_negatives // others)))
    wanted = drawn.y >= others
    X = np.concatenate([mc.datasets.glyph_features(part) for part in np.array_split(drawn.images, n_classes)])
    return some_of_each(X, drawn.y, wanted, _shuffled(X[~wanted])[:n_negatives])


def some_of_each(X: Rows, y: NDArray[np.intp], wanted: NDArray[np.bool_], negatives: Rows) -> Search:
    """Of each class that is wanted, five images, drawn at random, ask for ten others."""
    shuffled = np.random.default_rng(0).permutation(len(y))
    order = shuffled[wanted[shuffled]]
    order = order[np.argsort(y[order], kind="stable")]
    counts = np.unique(y[order], return_counts=True)[1]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    asked, known = order[rank < ASKED], order[(rank >= ASKED) & (rank < ASKED + KNOWN)]
    return Search(negatives, X[known], X[asked], Truth.from_labels(y[asked], y[known]), "revisited")


def spoc() -> Any:
    """Activations of EfficientNet-Lite0, which comes by pip, summed with more weight for the middle."""
    return mc.OnnxFeatures(pooling="spoc")


def _described(folder: Path, pattern: str, encoder: Any) -> tuple[list[str], Rows]:
    """Paths, and what an encoder, learned from Caltech-101, makes of the pictures."""
    images = photographs(folder, pattern)
    X = encoded(images, encoder, learn_from=photographs(folder, CALTECH)).X.toarray()
    return images.paths, unit(X.astype(np.float32))


def _shuffled(X: Rows) -> Rows:
    return X[np.random.default_rng(0).permutation(len(X))]


def _has(folder: Path, pattern: str) -> bool:
    return any(folder.rglob(pattern))
