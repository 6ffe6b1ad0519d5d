"""Search for the covers of DVDs by VLAD and Fisher vectors, plain, whitened, and as exemplar machines."""

from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.exemplar_search import Method, found
from experiments.one_vs_rest import coordinates
from experiments.photographs import Photographs, encoded, photographs
from experiments.results import Results
from experiments.retrieval_sources import Search
from manyclass.evaluation import Truth

ENCODERS: dict[str, Any] = {
    "VLAD 64": mc.Vlad(64, n_samples=100_000, random_state=0),
    "Fisher 16": mc.FisherVectors(16, ("sift",), n_samples=100_000, random_state=0),
    "Fisher 64": mc.FisherVectors(64, ("sift",), n_samples=100_000, random_state=0),
    "Fisher 64, RootSIFT": mc.FisherVectors(64, ("sift",), root=True, n_samples=100_000, random_state=0),
    "Fisher 64, SIFT and color": mc.FisherVectors(64, n_samples=100_000, random_state=0),
}
METHODS = {
    "as they are": lambda: Method(None),
    "whitened PCA": lambda: Method(mc.WhitenedPCA(n_background=1), {"n_components": [64, 128, 256]}),
    "SLEM": lambda: Method(mc.SquareLossExemplar(n_background=1)),
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("dvd_pixels", "DVD covers, found by VLAD and Fisher vectors")
    if folder is None or not any(folder.rglob("smvs_dvd*.tar")):
        results.say("The photographs of DVD covers are not there.")
        return results
    results.say("""100 covers in five pictures each, a reference and photographs by a camera and three telephones; each
        of the 500 asks for the other four of its cover. Mean average precision in percent, by trapezoids. Everything
        is learned from Caltech-101, which shows no covers: projection, words and Gaussians from its photographs to
        train on, whitening and exemplar machines (SLEM) from 1,500 of them as negatives. The number of components
        and the strength of regularization are chosen on half of the covers, and the other half is reported. Dense
        SIFT 6 pixels apart, 5 scales, patches of 24 pixels, pictures of 100,000 pixels. All methods see rows by their
        coordinates in the span of all rows, which has the same products.""")
    rows = [[name, *_row(folder, encoder)] for name, encoder in ENCODERS.items()]
    results.table("Mean average precision", ["features", "numbers", *METHODS], rows)
    return results


def _row(folder: Path, encoder: Any) -> list[str]:
    d, search = _search(folder, encoder)
    tried = {name: found(search, method()) for name, method in METHODS.items()}
    row = [f"{d:,}", *(f"{100 * one.mean:.1f}" for one in tried.values())]
    print(row, flush=True)
    return row


def _search(folder: Path, encoder: Any, n_negatives: int = 1500) -> tuple[int, Search]:
    world, covers = photographs(folder, "caltech*.tar"), photographs(folder, "smvs_dvd*.tar")
    X = encoded(covers, encoder, learn_from=world).X.toarray()
    some = np.sort(np.random.default_rng(0).permutation(world.n_train)[:n_negatives])
    negatives = Photographs(f"{world.name}-{len(some)}", [world.paths[i] for i in some], world.y[some], 0)
    names = np.array([Path(path).stem for path in covers.paths])
    order = np.argsort(names, kind="stable")
    truth = Truth.from_labels(names[order], names[order], rows=range(len(names)))
    Z = encoded(negatives, encoder, learn_from=world).X.toarray()
    C = coordinates(np.concatenate([Z, X[order]]))
    return X.shape[1], Search(C[: len(Z)], C[len(Z) :], C[len(Z) :], truth, "holidays")
