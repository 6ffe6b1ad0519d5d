"""Sets to search, as a user has them: a gallery, queries that are not in it, and three kinds of negatives.

Features are those of a network, Fisher vectors and VLAD; what they are learned from is Caltech-101.
"""

import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.networks import efficientnet
from experiments.photographs import Photographs, encoded, photographs
from experiments.sources import Rows, one, unit
from manyclass.evaluation import Query, Truth

FOREIGN = 2000  # photographs of another set
DRAWINGS = 6  # of each character of Omniglot
ARCHIVES = {
    "Caltech": "caltech*.tar",
    "Omniglot": "omniglot*.tar.gz",
    "DVD covers": "smvs_dvd*.tar",
    "corridor": "vpr_corridor*.tar",
}
TINY = "tiny_imagenet*.tar.gz"
KINDS = ("its own", "its kind", "foreign")  # of negatives


@dataclass(frozen=True)
class SearchSet:
    """A gallery (n, d) with labels or None, queries (q, d), which images are right, and negatives by their kind."""

    gallery: Rows
    labels: NDArray[Any] | None
    queries: Rows
    truth: Truth
    negatives: dict[str, Rows | None]

    def average_precisions(self, scores: Any) -> NDArray[np.float64]:
        """Of every query that has something to find, by scores (q, n), in percent."""
        found = 100 * mc.evaluation.average_precisions(scores, self.truth, "revisited")
        return found[~np.isnan(found)]


def encoders(folder: Path) -> dict[str, Any]:
    """Features by name; the network where its file is there."""
    settings: dict[str, Any] = {"n_samples": 100_000, "random_state": 0}
    local = {"Fisher": mc.FisherVectors(16, ("sift",), **settings), "VLAD": mc.Vlad(16, **settings)}
    return dict.fromkeys(["network"], *efficientnet().values()) | local if efficientnet() else local


def search_sets(folder: Path) -> dict[tuple[str, str], Callable[[], SearchSet]]:
    """Those of the folder, by name and features."""
    if not any(folder.rglob(ARCHIVES["Caltech"])):
        return {}
    names = [name for name, pattern in ARCHIVES.items() if any(folder.rglob(pattern))]
    return {
        (name, kind): lambda n=name, k=kind: search_set(folder, n, k) for name in names for kind in encoders(folder)
    }


def search_set(folder: Path, name: str, features: str) -> SearchSet:
    """A set by its name."""
    images, world = photographs(folder, ARCHIVES[name]), foreign(folder, name, features)
    if name == "corridor":
        return _corridor(folder, images, rows_of(folder, images, features), world)
    images = of_characters(images) if name == "Omniglot" else images
    return _by_labels(rows_of(folder, images, features), labels_of(images, name), groups_of(images, name), world)


def of_characters(images: Photographs) -> Photographs:
    """Some drawings of each character of Omniglot."""
    kept = [i for i, path in enumerate(images.paths) if int(Path(path).stem[-2:]) <= DRAWINGS]
    return Photographs(f"{images.name}-{DRAWINGS}", [images.paths[i] for i in kept], images.y[kept], 0)


@cache
def foreign(folder: Path, name: str, features: str) -> Rows:
    """Photographs of Tiny-ImageNet for Caltech, and those of Caltech for others."""
    images = photographs(folder, TINY if name == "Caltech" and any(folder.rglob(TINY)) else ARCHIVES["Caltech"])
    some = np.sort(np.random.default_rng(0).permutation(len(images.paths))[:FOREIGN])
    return rows_of(
        folder,
        Photographs(f"{images.name}-{len(some)}", [images.paths[i] for i in some], images.y[some], 0),
        features,
    )


def rows_of(folder: Path, images: Photographs, features: str) -> Rows:
    """Features of photographs, of unit length."""
    world = photographs(folder, ARCHIVES["Caltech"])
    return unit(encoded(images, encoders(folder)[features], learn_from=world).X.toarray().astype(np.float32))


def labels_of(images: Photographs, name: str) -> NDArray[Any]:
    """What an image shows: its class, character or cover."""
    if name == "Caltech":
        return images.y
    parts = [str(Path(path).parent) if name == "Omniglot" else Path(path).stem for path in images.paths]
    return np.unique(parts, return_inverse=True)[1]


def groups_of(images: Photographs, name: str) -> NDArray[Any]:
    """What is negative together: whole alphabets of characters, and otherwise labels."""
    if name != "Omniglot":
        return labels_of(images, name)
    return np.unique([Path(path).parts[-3] for path in images.paths], return_inverse=True)[1]


def _by_labels(X: Rows, y: NDArray[Any], groups: NDArray[Any], world: Rows) -> SearchSet:
    """Every other group is searched, and of the images of each label one in four asks; the rest are negatives."""
    shuffled = np.random.default_rng(0).permutation(len(y))
    searched = shuffled[groups[shuffled] % 2 == 1]
    searched = searched[np.argsort(y[searched], kind="stable")]
    counts = np.bincount(y[searched])
    rank = np.arange(len(searched)) - np.repeat(np.cumsum(counts) - counts, counts)
    asks = rank < np.maximum(1, counts // 4)[y[searched]]
    asked, known = searched[asks], np.sort(searched[~asks])
    negatives = dict(zip(KINDS, (None, X[np.sort(shuffled[groups[shuffled] % 2 == 0])], world), strict=True))
    return SearchSet(X[known], y[known], X[asked], Truth.from_labels(y[asked], y[known]), negatives)


def _corridor(folder: Path, images: Photographs, X: Rows, world: Rows) -> SearchSet:
    """Frames of a walk ask for those of another; the second half of the way has negatives of the kind."""
    walks = np.array([Path(path).parent.name for path in images.paths])
    order = np.argsort(images.paths)
    asked, known = (order[walks[order] == walk] for walk in ("query", "ref"))
    with tarfile.open(one(folder, ARCHIVES["corridor"])) as tar:
        stream = tar.extractfile(next(name for name in tar.getnames() if name.endswith("ground_truth.json")))
        places = {int(key): np.array(right, np.intp) for key, right in json.load(stream).items()} if stream else {}
    half = len(known) // 2
    queries = [i for i in range(len(asked)) if len(places[i]) and places[i].max() < half]
    truth = Truth(
        tuple(images.paths[row] for row in known[:half]),
        tuple(Query(images.paths[asked[i]], places[i]) for i in queries),
    )
    negatives = dict(zip(KINDS, (None, X[known[half:]], world), strict=True))
    return SearchSet(X[known[:half]], None, X[asked[queries]], truth, negatives)
