"""Several labels per row: our classifiers with their thresholds against scikit-learn's one-vs-rest of LinearSVC.

Every contender runs alone, in a process of its own, with one thread; the seconds are the least of some rounds of its
processor's, and contenders take turns. Ours find their strength or step, and the thresholds, within the time; the C of
LinearSVC is given, so that its search is not counted, and its threshold is 0. F1 is over all pairs of rows and labels
(micro), and the mean over labels (macro); average precision is the mean over labels; all on rows for testing.

Rows of the first table are generated: labels of a long tail, any number of them on a row, whose directions add up, with
noise. Those of the second are drawings of Omniglot, described by histograms of gradients, each with its character and
its alphabet for labels; 15 of 20 drawings of a character are learned from.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page

Arrays = dict[str, NDArray[Any]]

_COLUMNS = ["classifier", "seconds", "micro F1", "macro F1", "average precision", "times as long as SquareLoss"]
_OURS = ("SquareLossClassifier", "StochasticClassifier")


def _linear_svc(C: float) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.svm import LinearSVC

        return OneVsRestClassifier(LinearSVC(C=C, random_state=0))

    return make


CONTENDERS: dict[str, Callable[[], Any]] = {
    "SquareLossClassifier": lambda: mc.SquareLossClassifier(n_threads=1),
    "StochasticClassifier": lambda: mc.StochasticClassifier(n_threads=1, random_state=0),
    **{f"OneVsRest LinearSVC C={C:g}": _linear_svc(C) for C in (1.0, 10.0)},
}


def generated(n: int, d: int, k: int, seed: int = 0) -> Arrays:
    """Rows of unit length with about four of k labels each, n to train on and half as many to test."""
    rng, total = np.random.default_rng(seed), n + n // 2
    shares = 1 / np.arange(1, k + 1) ** 0.8
    # The labels of a row are the first of all by exponential waiting times, as many as it has.
    waits = rng.exponential(1 / shares, (total, k))
    places = np.argsort(np.argsort(waits, axis=1), axis=1)
    Y = (places < rng.poisson(4, total)[:, None]).astype(np.int64)
    X = np.tanh(2 * (Y @ rng.normal(size=(k, d)) + 4 * rng.normal(size=(total, d))) / np.sqrt(d))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    return {"X": X[:n], "Y": Y[:n], "X_test": X[n:], "Y_test": Y[n:]}


def omniglot(archive: Path, alphabets: int) -> Arrays:
    """Drawings of the first alphabets, with a column for every character and for every alphabet."""
    from PIL import Image

    files: dict[str, bytes] = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile() and member.name.endswith(".png") and (stream := opened.extractfile(member)):
                files[member.name] = stream.read()
    names = sorted(files)
    chosen = sorted({Path(name).parts[-3] for name in names})[:alphabets]
    names = [name for name in names if Path(name).parts[-3] in chosen]
    drawings = [Image.open(io.BytesIO(files[name])).convert("L") for name in names]
    images = np.stack([np.asarray(one.resize((32, 32), Image.Resampling.BOX)) for one in drawings])
    X = mc.datasets.glyph_features(images)
    X = (X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)).astype(np.float32)
    characters, alphabet = (
        np.unique([str(part(name)) for name in names], return_inverse=True)[1]
        for part in (lambda name: Path(name).parent, lambda name: Path(name).parts[-3])
    )
    Y = np.concatenate([np.eye(one.max() + 1, dtype=np.int64)[one] for one in (characters, alphabet)], axis=1)
    rng = np.random.default_rng(0)
    train = np.zeros(len(Y), bool)
    for c in range(characters.max() + 1):
        train[rng.permutation(np.flatnonzero(characters == c))[:15]] = True
    return {"X": X[train], "Y": Y[train], "X_test": X[~train], "Y_test": Y[~train]}


def measure(name: str, folder: Path) -> dict[str, float]:
    """One round of a contender on saved arrays."""
    arrays = {part: np.load(folder / f"{part}.npy") for part in ("X", "Y", "X_test", "Y_test")}
    # Libraries start with the first call, and are not counted.
    small = np.random.default_rng(0)
    CONTENDERS[name]().fit(small.normal(size=(96, 8)).astype(np.float32), (small.random((96, 3)) < 0.4).astype(int))
    classifier, started = CONTENDERS[name](), time.process_time()
    classifier.fit(arrays["X"], arrays["Y"])
    seconds, Y = time.process_time() - started, arrays["Y_test"]
    found, scores = classifier.predict(arrays["X_test"]), classifier.decision_function(arrays["X_test"])
    return {
        "seconds": seconds,
        "micro": mc.evaluation.f1_score(Y, found),
        "macro": mc.evaluation.f1_score(Y, found, "macro"),
        "precision": mc.evaluation.mean_label_precision(Y, np.asarray(scores, np.float64)),
    }


def contend(name: str, folder: str) -> dict[str, float]:
    """What a contender does in a process of its own."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.multilabel", name, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | one_thread)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(page: Page, caption: str, arrays: Arrays, rounds: int) -> None:
    """A table of contenders on the same rows, the rounds of all of them taking turns."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for part, array in arrays.items():
            np.save(Path(folder) / f"{part}.npy", array)
        for _ in range(rounds):
            for name in CONTENDERS:
                one = contend(name, folder)
                seconds = min(one["seconds"], found.get(name, one)["seconds"])
                found[name] = one | {"seconds": seconds}
                print(f"{caption}: {name}: {found[name]}", file=sys.stderr, flush=True)
    (n, d), (k, labels) = arrays["X"].shape, (arrays["Y"].shape[1], arrays["Y"].sum(axis=1).mean())
    size = f"{n} x {d}, {k} labels, {labels:.1f} of a row, one thread"
    page.table(f"{caption}: {size}", _COLUMNS, [_row(name, found) for name in CONTENDERS])


def _row(name: str, found: dict[str, dict[str, float]]) -> list[str]:
    one = found[name]
    ratio = one["seconds"] / found[_OURS[0]]["seconds"]
    shares = [f"{one[what]:.2%}" for what in ("micro", "macro", "precision")]
    return [name, f"{one['seconds']:.3g}", *shares, f"{ratio:.3g}" if name not in _OURS else ""]


def run(
    n: int = 4_000,
    d: int = 384,
    k: int = 300,
    data: str = os.environ.get("MANYCLASS_DATA", ""),
    alphabets: int = 6,
    rounds: int = 3,
) -> Page:
    """Generated rows, and the drawings of a folder of data sets if one is named."""
    page = Page("multilabel", "Several labels per row", f"{__doc__}\n{load()}")
    compare(page, "Generated embeddings", generated(n, d, k), rounds)
    for archive in sorted(Path(data).glob("omniglot*.tar.gz"))[:1] if data else []:
        caption = f"Characters and alphabets of Omniglot, {alphabets} alphabets"
        compare(page, caption, omniglot(archive, alphabets), rounds)
    return page


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
