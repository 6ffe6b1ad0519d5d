"""Patches of edges, gathered without their places: finds an object that is turned, moved and surrounded by others.

A patch is described by 4 x 4 cells of 8 directions of edges, turned by quarters until its strongest direction points
the same way. The patches of a picture are assigned to the nearest of 16 centers, and what they differ by is summed for
each: 16 x 128 numbers.
"""

from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from experiments.picture_features import opened
from experiments.sources import Rows, unit
from manyclass.datasets.glyph_images.hog import gradient_votes

_SIDE = 240  # pixels of the longer side
_CELL = 4  # pixels of a cell; patches have 4 x 4 and start at every cell
_PLAIN = 0.3  # the share of a picture's patches with least edge, which tell nothing
_CENTERS = 16


class Centers(NamedTuple):
    """Centers (16, 128) of patches."""

    C: Rows

    def gathered(self, picture: Image.Image) -> NDArray[np.float32]:
        """(16 * 128,): sums of differences from the nearest center, of unit length for each center."""
        P = patches(picture)
        nearest = np.argmin((self.C**2).sum(axis=1) - 2 * P @ self.C.T, axis=1)
        sums = [(P[nearest == i] - center).sum(axis=0) for i, center in enumerate(self.C)]
        return unit(np.stack(sums)).ravel()

    def described(self, archive: Path) -> tuple[list[str], Rows]:
        """Names of the pictures of a tar file, in order, and their rows (n, 2048)."""
        found = {name: self.gathered(picture) for name, picture in opened(archive, _SIDE)}
        return sorted(found), unit(np.stack([found[name] for name in sorted(found)]))


def centers(archive: Path, n_pictures: int = 1000, n_patches: int = 60) -> Centers:
    """Centers of some patches of the first pictures of a tar file."""
    from sklearn.cluster import MiniBatchKMeans

    rng = np.random.default_rng(0)
    found = (patches(picture) for _, picture in islice(opened(archive, _SIDE), n_pictures))
    sample = np.concatenate([P[rng.integers(len(P), size=n_patches)] for P in found])
    fitted = MiniBatchKMeans(_CENTERS, batch_size=8192, max_iter=10, n_init=1, random_state=0).fit(sample)
    return Centers(fitted.cluster_centers_.astype(np.float32))


def patches(picture: Image.Image) -> Rows:
    """Descriptions (m, 128) of the patches of a picture that have edges, of unit length."""
    votes = gradient_votes(_gray(picture)[None])[0]
    d, height, width = votes.shape
    cells = votes.reshape(d, height // _CELL, _CELL, width // _CELL, _CELL).sum(axis=(2, 4))
    windows = np.lib.stride_tricks.sliding_window_view(cells, (4, 4), axis=(1, 2))
    P = windows.transpose(1, 2, 3, 4, 0).reshape(-1, 4, 4, d)
    edge = np.einsum("mijd,mijd->m", P, P)
    return unit(np.sqrt(_upright(P[edge >= np.quantile(edge, _PLAIN)]).reshape(-1, 16 * d)))


def _upright(P: Rows) -> Rows:
    """Patches (m, 4, 4, 8) turned by quarters, so that most edge has the first two of the 8 directions."""
    quarters = P.sum(axis=(1, 2)).reshape(len(P), 4, 2).sum(axis=2).argmax(axis=1)
    out = np.empty_like(P)
    for k in range(4):
        out[quarters == k] = np.roll(np.rot90(P[quarters == k], k, axes=(1, 2)), -2 * k, axis=3)
    return out


def _gray(picture: Image.Image) -> Rows:
    """Gray levels with sides of whole cells, at least 8."""
    scale = _SIDE / max(picture.size)
    sides = [max(8, round(side * scale / _CELL)) * _CELL for side in picture.size]
    return np.asarray(picture.convert("L").resize((sides[0], sides[1]), Image.Resampling.BOX), np.float32)
