"""Exact search in a gallery against faiss IndexFlatIP: the same unit vectors, queries and k, in one process, in turn.

Two floors stand beside them: the product of queries and gallery by NumPy's BLAS, in blocks and thrown away, which any
search by BLAS must make; and one reading of the gallery from memory (the product with one vector). Where ids differ,
scores are equal up to the rounding of float32: places that are right by scores in float64 are counted for both.
"""

from functools import partial

import faiss
import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of

BLOCK = 8192


def unit_vectors(n: int, d: int, seed: int) -> np.ndarray:
    """Random directions."""
    X = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def product_in_blocks(Q: np.ndarray, X: np.ndarray, room: np.ndarray) -> None:
    """Q X' a block of rows at a time."""
    for start in range(0, len(X), BLOCK):
        rows = X[start : start + BLOCK]
        np.matmul(Q, rows.T, out=room[: len(Q), : len(rows)])


def in_double(Q: np.ndarray, X: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
    """The best k of the candidates of each query, by scores in float64; of equals the first of the gallery."""
    best = []
    for q, some in zip(Q.astype(np.float64), candidates, strict=True):
        rows = np.unique(some)
        best.append(rows[np.argsort(-(X[rows].astype(np.float64) @ q), kind="stable")[:k]])
    return np.array(best)


def against_faiss(page: Page, gallery: mc.Gallery, index: faiss.Index, X: np.ndarray, k: int, rounds: int) -> None:
    """Seconds by the number of queries at once."""
    rows = []
    for q in (1, 10, 100):
        Q = unit_vectors(q, X.shape[1], 1)
        room = np.empty((q, BLOCK), np.float32)
        with all_threads(2):
            faiss.omp_set_num_threads(2)
            seconds = best_of(
                rounds,
                {
                    "ours": partial(gallery.search, Q, k),
                    "faiss": partial(index.search, Q, k),
                    "product": partial(product_in_blocks, Q, X, room),
                    "reading": partial(np.matmul, X, Q[0]),
                },
            )
            hits, (scores, ids) = gallery.search(Q, k), index.search(Q, k)
        same = np.mean(hits.ids == ids)
        exact = in_double(Q, X, np.concatenate([hits.ids, ids], axis=1), k)
        right = [f"{np.mean(found == exact):.3%}" for found in (hits.ids, ids)]
        apart = np.abs(hits.scores - scores).max()
        times = [f"{1e3 * seconds[name]:.0f} ms" for name in ("ours", "faiss", "product", "reading")]
        rows.append(
            [str(q), *times, f"{seconds['faiss'] / seconds['ours']:.2f}", f"{same:.3%}", *right, f"{apart:.1e}"]
        )
    n, d = X.shape
    page.table(
        f"Gallery of {n} x {d}, top {k}, two threads",
        [
            "queries at once",
            "ours",
            "faiss",
            "BLAS product",
            "one reading",
            "faiss / ours",
            "same ids",
            "ours right",
            "faiss right",
            "scores apart",
        ],
        rows,
    )


def filtered(page: Page, gallery: mc.Gallery, X: np.ndarray, k: int, rounds: int) -> None:
    """What a filter leaves is what is searched."""
    rows, Q, rng = [], unit_vectors(100, X.shape[1], 2), np.random.default_rng(3)
    for part in (1.0, 0.5, 0.1, 0.01):
        mask = rng.random(len(X)) < part
        with all_threads(2):
            seconds = best_of(rounds, {"ours": partial(gallery.search, Q, k, where=mask)})["ours"]
        rows.append([f"{part:.0%}", f"{1e3 * seconds:.0f} ms"])
    page.table("100 queries, a random part of the gallery by a mask", ["part", "ours"], rows)


def run(n: int = 1_000_000, d: int = 256, k: int = 100, rounds: int = 5) -> Page:
    """All tables."""
    page = Page("search", "Exact search", f"{__doc__}\n{load()}")
    X = unit_vectors(n, d, 0)
    gallery, index = mc.Gallery(), faiss.IndexFlatIP(d)
    gallery.add(X)
    X = gallery.codes(gallery.ids)  # the gallery makes rows of unit length, and faiss gets the same bits
    index.add(X)
    against_faiss(page, gallery, index, X, k, rounds)
    filtered(page, gallery, X, k, rounds)
    return page
