"""Weights of very many classes, drawn as those of names in a tree lie, and rows that are near one of them.

A class is the sum of a direction that all share, one of its family, one of its genus and one of its own, all normal
numbers, at unit length; a row is its class and noise, at unit length, around a direction of its own, as embeddings of
images lie apart from those of text. Nothing here was learned: real heads may be easier or harder.
"""

from pathlib import Path

import numpy as np

_SHARED, _FAMILY, _GENUS, _OWN = 1.0, 0.6, 0.6, 0.5  # of the length of a class, before it is made 1
_NOISE, _APART = 4.0, 1.5  # of a row: it has a cosine of about 0.25 with its class, as images and texts have
_PER_GENUS, _PER_FAMILY = 10, 200
_BLOCK = 8192
ROWS = 256


def write_weights(folder: Path, k: int, d: int, seed: int = 0) -> None:
    """W.npy (k, d) float32, a block at a time, and X.npy, 256 rows."""
    rng = np.random.default_rng(seed)
    shared, apart = _normal(rng, 1, d), _normal(rng, 1, d)
    families = _normal(rng, -(-k // _PER_FAMILY), d)
    order = rng.permutation(k)  # neighbors of the tree are no neighbors in the file
    W = np.lib.format.open_memmap(folder / "W.npy", "w+", np.float32, (k, d))
    for start in range(0, k, _BLOCK):
        place = order[start : start + _BLOCK]
        genera = np.stack([_normal(np.random.default_rng([seed, g]), 1, d)[0] for g in np.unique(place // _PER_GENUS)])
        genus = np.unique(place // _PER_GENUS, return_inverse=True)[1]
        some = _SHARED * shared + _FAMILY * families[place // _PER_FAMILY] + _GENUS * genera[genus]
        W[start : start + len(place)] = _unit(some + _OWN * _normal(rng, len(place), d))
    chosen = W[np.sort(rng.choice(k, ROWS, replace=False))]
    moved = (_NOISE * _normal(rng, ROWS, d) + _APART * apart) / np.float32(np.sqrt(d))
    np.save(folder / "X.npy", _unit(chosen + moved))
    W.flush()


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d), dtype=np.float32)


def _unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)
