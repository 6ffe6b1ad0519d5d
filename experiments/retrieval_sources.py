"""The data of the retrieval experiments: negatives, a database, queries, and which images are right for which query."""

import json
import tarfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.local_features import Centers, centers
from experiments.picture_features import SIDE, described, gradients, thumbnails
from experiments.sources import Rows, one, unit
from manyclass.evaluation import Query, Truth
from manyclass.evaluation.protocols import Protocol

SQUARES = ("gradients", "colors", "thumbnails")
PHOTOGRAPHS = (*SQUARES, "patches")
DRAWINGS = ("gradients", "thumbnails")

_CALTECH, _TINY, _DVD, _CORRIDOR = "caltech*.tar", "tiny_imagenet*.tar.gz", "smvs_dvd*.tar", "vpr_corridor*.tar"


class Search(NamedTuple):
    """negatives (m, d), database (n, d) and queries (q, d) of unit rows, the truth, and the protocol that fits it.

    Queries come in an order in which neighbors have the same positives.
    """

    negatives: Rows
    database: Rows
    queries: Rows
    truth: Truth
    protocol: Protocol

    def halves(self) -> tuple["Search", "Search"]:
        """The first half of the queries, to choose settings by, and the second, to report; the database is the same."""
        middle = len(self.queries) // 2
        whole = np.arange(len(self.queries))
        first, second = (
            self._replace(queries=self.queries[part], truth=self.truth.take(part))
            for part in (whole[:middle], whole[middle:])
        )
        return first, second


@cache
def _squares(folder: Path, pattern: str) -> tuple[list[str], dict[str, Rows]]:
    return described(one(folder, pattern), SQUARES)


@cache
def _caltech_centers(folder: Path) -> Centers:
    return centers(one(folder, _CALTECH))


@cache
def _patches(folder: Path, pattern: str) -> tuple[list[str], Rows]:
    return _caltech_centers(folder).described(one(folder, pattern))


def _photographs(folder: Path, pattern: str, feature: str) -> tuple[list[str], Rows]:
    """Names of an archive's pictures, in order, and their features."""
    if feature == "patches":
        return _patches(folder, pattern)
    names, rows = _squares(folder, pattern)
    return names, rows[feature]


@cache
def generic_photographs(folder: Path, feature: str) -> Rows:
    """Photographs of Caltech-101, shuffled: a world of negatives that shows nothing of the others.

    Those of Tiny-ImageNet are added where it is there, but for patches, for which they are too small.
    """
    patterns = [_CALTECH, _TINY] if feature != "patches" and _has(folder, _TINY) else [_CALTECH]
    rows = np.concatenate([_photographs(folder, pattern, feature)[1] for pattern in patterns])
    return rows[np.random.default_rng(0).permutation(len(rows))]


def dvd_covers(folder: Path, feature: str) -> Search:
    """100 covers, each in five photographs; each of the 500 asks for the other four of its cover."""
    return cover_search(*_photographs(folder, _DVD, feature), generic_photographs(folder, feature))


def cover_search(names: list[str], rows: Rows, negatives: Rows) -> Search:
    """Photographs of one name, in whatever folders, show the same cover, and ask for one another."""
    covers = np.array([Path(name).stem for name in names])
    order = np.argsort(covers, kind="stable")
    X, sorted_covers = rows[order], covers[order]
    truth = Truth.from_labels(sorted_covers, sorted_covers, rows=range(len(covers)))
    return Search(negatives, X, X, truth, "holidays")


def corridor(folder: Path, feature: str) -> Search:
    """111 frames of a walk along a corridor ask for the frames of an earlier walk that show the same place."""
    return corridor_search(folder, *_photographs(folder, _CORRIDOR, feature), generic_photographs(folder, feature))


def corridor_search(folder: Path, names: list[str], rows: Rows, negatives: Rows) -> Search:
    """Frames in folders "query" and "ref", numbered in the order of their names."""
    walks = np.array([Path(name).parent.name for name in names])
    asked, known = np.flatnonzero(walks == "query"), np.flatnonzero(walks == "ref")
    places = _places(one(folder, _CORRIDOR))
    queries = tuple(Query(names[row], np.array(places[str(i)], np.intp)) for i, row in enumerate(asked))
    truth = Truth(tuple(names[row] for row in known), queries)
    return Search(negatives, rows[known], rows[asked], truth, "revisited")


def _places(archive: Path) -> dict[str, list[int]]:
    """For the number of a query frame, those of the frames of the same place."""
    with tarfile.open(archive) as tar:
        stream = tar.extractfile(next(name for name in tar.getnames() if name.endswith("ground_truth.json")))
        return dict(json.load(stream)) if stream else {}


@cache
def _omniglot(folder: Path) -> tuple[list[str], dict[str, Rows]]:
    return described(one(folder, "omniglot*.tar.gz"), DRAWINGS)


def omniglot(folder: Path, feature: str, seed: int = 0) -> Search:
    """Drawings of half of the alphabets are negatives; of the others' characters, 2 of 20 drawings ask for the rest."""
    X, characters, alphabets = omniglot_rows(folder, feature)
    return _by_class(X, characters, alphabets % 2 == 0, seed)


def omniglot_rows(folder: Path, feature: str) -> tuple[Rows, NDArray[np.intp], NDArray[np.intp]]:
    """Features of all drawings, and the numbers of their characters and alphabets."""
    names, rows = _omniglot(folder)
    alphabets = np.unique([Path(name).parts[-3] for name in names], return_inverse=True)[1]
    characters = np.unique([str(Path(name).parent) for name in names], return_inverse=True)[1]
    return rows[feature], characters, alphabets


@cache
def _caltech(folder: Path) -> tuple[Rows, NDArray[np.intp]]:
    found = mc.datasets.read_features(one(folder, "caltech*.npz"))
    return unit(found.X.toarray().astype(np.float32)), np.asarray(found.y, np.intp)


def caltech(folder: Path, seed: int = 0) -> Search:
    """Photographs of every other class are negatives; of the other classes, 2 of each ask for the rest."""
    X, y = _caltech(folder)
    return _by_class(X, y, y % 2 == 0, seed)


@cache
def _glyphs(n_classes: int = 500) -> tuple[dict[str, Rows], NDArray[np.intp]]:
    drawn = mc.datasets.glyphs(n_classes)
    times = SIDE // drawn.images.shape[1]
    pictures = np.repeat(drawn.images.repeat(times, axis=1).repeat(times, axis=2)[..., None], 3, axis=3)
    return {"gradients": gradients(pictures), "thumbnails": thumbnails(pictures)}, drawn.y


def glyphs(feature: str, seed: int = 0) -> Search:
    """Drawn characters: every other one is among the negatives; of the others, 2 drawings of each ask for the rest."""
    rows, y = _glyphs()
    return _by_class(rows[feature], y, y % 2 == 0, seed)


def _by_class(X: Rows, y: NDArray[np.intp], is_negative: NDArray[np.bool_], seed: int) -> Search:
    """Two images of each class that is not among the negatives ask for the rest of it."""
    shuffled = np.random.default_rng(seed).permutation(len(y))
    kept = shuffled[~is_negative[shuffled]]
    kept = kept[np.argsort(y[kept], kind="stable")]
    counts = np.bincount(y[kept])
    rank = np.arange(len(kept)) - np.repeat(np.cumsum(counts) - counts, counts)
    asked, known = kept[rank < 2], kept[rank >= 2]
    negatives = X[shuffled[is_negative[shuffled]]]
    return Search(negatives, X[known], X[asked], Truth.from_labels(y[asked], y[known]), "revisited")


def available(folder: Path | None) -> dict[tuple[str, str], Callable[[], Search]]:
    """Searches by (name, feature); those of the folder only where they are there."""
    found: dict[tuple[str, str], Callable[[], Search]] = {}
    if folder and _has(folder, _CALTECH):
        if _has(folder, _DVD):
            found |= {("DVD covers", feature): partial(dvd_covers, folder, feature) for feature in PHOTOGRAPHS}
        if _has(folder, _CORRIDOR):
            found |= {("corridor", feature): partial(corridor, folder, feature) for feature in PHOTOGRAPHS}
    if folder and _has(folder, "omniglot*.tar.gz"):
        found |= {("Omniglot", feature): partial(omniglot, folder, feature) for feature in DRAWINGS}
    if folder and _has(folder, "caltech*.npz"):
        found["Caltech", "network"] = partial(caltech, folder)
    return found | {("glyphs", feature): partial(glyphs, feature) for feature in DRAWINGS}


def _has(folder: Path, pattern: str) -> bool:
    return any(folder.rglob(pattern))
