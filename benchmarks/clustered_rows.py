"""Rows that are like embeddings of pictures: drawn around the centers of clusters, with a spectrum that decays.

A center is Gaussian, its column j of the deviation j^-1/2, and there is one for every 500 rows; the share of the c-th
cluster falls as c^-1/2. A row is its center and 0.7 times a Gaussian of the same spectrum, times exp(0.3 z) with a
Gaussian z of the row, so that some clusters' rows lie near and some far; then it gets unit length. Queries are further
rows. A block of rows depends on its number alone, so the first rows of a longer file are those of a shorter one only
where both have as many clusters.
"""

from pathlib import Path

import numpy as np

BLOCK = 1 << 16
PER_CLUSTER = 500
_SPREAD, _LOUDNESS = 0.7, 0.3


def clustered_rows(n: int, d: int, n_clusters: int, block: int) -> np.ndarray:
    """n rows (n, d) of unit length, float32; `block` numbers them, and those of queries are numbered from -1 down."""
    spectrum = np.arange(1, d + 1, dtype=np.float32) ** -0.5
    centers = np.random.default_rng(0).standard_normal((n_clusters, d), dtype=np.float32) * spectrum
    shares = np.cumsum(np.arange(1, n_clusters + 1) ** -0.5)
    rng = np.random.default_rng([1, abs(block), block < 0])
    of = np.searchsorted(shares, rng.random(n) * shares[-1])
    apart = rng.standard_normal((n, d), dtype=np.float32) * spectrum
    loudness = np.exp(_LOUDNESS * rng.standard_normal((n, 1), dtype=np.float32))
    X = centers[np.minimum(of, n_clusters - 1)] + _SPREAD * loudness * apart
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def write_rows(path: Path, n: int, d: int) -> None:
    """Write rows (n, d), a block at a time, under another name until they are all there."""
    partial, n_clusters = path.with_suffix(".part"), clusters(n)
    X = np.lib.format.open_memmap(partial, "w+", np.float32, (n, d))
    for number, start in enumerate(range(0, n, BLOCK)):
        X[start : start + BLOCK] = clustered_rows(min(BLOCK, n - start), d, n_clusters, number)
    X.flush()
    partial.rename(path)


def clusters(n: int) -> int:
    """How many clusters n rows have."""
    return max(20, n // PER_CLUSTER)
