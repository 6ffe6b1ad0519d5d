"""Vlad: vectors of locally aggregated descriptors, what is left of descriptors beside their words.

    s_k = sum of x - c_k over the rows whose nearest word is c_k

Each s_k is brought to unit length, so that no word dominates; turned to the principal axes of the residuals of its
word, R_k s_k, so that roots act on numbers that vary independently; then signed square roots are taken, and the whole
is brought to unit length. A region is s_1 ... s_k, k D numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass._blas import one_thread
from manyclass.features.cells import Cells
from manyclass.features.image_encoder import ImageEncoder
from manyclass.features.normalization import signed_root, unit
from manyclass.features.part import Plain
from manyclass.features.projection import Vectors
from manyclass.features.pyramid import Pyramid
from manyclass.features.words import Words, fit_words


def fit_rotations(X: Vectors, words: Words) -> Vectors:
    """R (k, D, D): columns of R[c] are the principal axes of x - c over the rows of X nearest to word c.

    A word with no more than one row keeps its axes.
    """
    k, D = words.centers.shape
    near = Cells.of(words.nearest(X), k)
    R = np.tile(np.eye(D, dtype=np.float32), (k, 1, 1))
    with one_thread():
        for c in range(k):
            rows = near.order[near.starts[c] : near.starts[c + 1]]
            residuals = X[rows] - words.centers[c].astype(np.float64)
            if len(rows) > 1:
                R[c] = np.linalg.eigh(residuals.T @ residuals)[1][:, ::-1]
    return R


@dataclass(frozen=True)
class VladAggregation:
    """VLAD of regions, with words and, if there are any, rotations."""

    words: Words
    rotations: Vectors | None

    def __post_init__(self) -> None:
        k, D = self.words.centers.shape
        if self.rotations is not None and self.rotations.shape != (k, D, D):
            raise ValueError(f"rotations must have shape {(k, D, D)}; got {self.rotations.shape}")

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.words.centers.shape[1])

    @property
    def size(self) -> int:
        """k D."""
        return int(self.words.centers.size)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """A vector per region."""
        _, sums = self.words.residuals(Z, self.words.nearest(Z), pyramid.cells(positions))
        S = unit(pyramid.regions(sums)).astype(np.float32)
        if self.rotations is not None:
            with one_thread():
                S = np.matmul(S.transpose(1, 0, 2), self.rotations).transpose(1, 0, 2)
        return unit(signed_root(S.reshape(pyramid.n_regions, -1)))

    def plain(self) -> Plain:
        """Words and rotations."""
        return {"centers": self.words.centers, "rotations": self.rotations}


class Vlad(ImageEncoder):
    """Images as sums of what is left of descriptors beside their nearest words.

    By default as exemplar machines were tried with: square roots of dense SIFT, 64 words, every word of equal weight,
    rotated, signed square roots; 8,192 numbers.

    Parameters
    ----------
    n_words : words for every kind of descriptor.
    rotate : whether the residuals of each word are turned to their principal axes.
    whiten : whether the numbers that PCA leaves are brought to equal variance, and then to unit length.
    descriptors, n_components, coordinates, pyramid, step, scales, patch, root, max_pixels, n_samples, random_state :
        as `FisherVectors` has them.

    Attributes
    ----------
    parts_ : what was learned of each kind of descriptor, projection, words and rotations, as arrays.
    skipped_ : (position, reason) of the images that `fit` could not read.
    n_features_out_ : regions x n_words x D, summed over the kinds of descriptors.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> Vlad(4, random_state=0).fit(images).transform(images).shape
    (4, 512)
    """

    def __init__(
        self,
        n_words: int = 64,
        descriptors: Sequence[str] = ("sift",),
        n_components: int | None = None,
        rotate: bool = True,
        whiten: bool = False,
        coordinates: bool = False,
        pyramid: Sequence[str] = ("1x1",),
        step: int = 6,
        scales: int = 5,
        patch: int = 24,
        root: bool = True,
        max_pixels: int = 100_000,
        n_samples: int = 250_000,
        random_state: Any = None,
    ):
        self.n_words = n_words
        self.descriptors = descriptors
        self.n_components = n_components
        self.rotate = rotate
        self.whiten = whiten
        self.coordinates = coordinates
        self.pyramid = pyramid
        self.step = step
        self.scales = scales
        self.patch = patch
        self.root = root
        self.max_pixels = max_pixels
        self.n_samples = n_samples
        self.random_state = random_state

    def _check_settings(self) -> None:
        _checks.count(self.n_words, "n_words")

    def _learn(self, Z: Vectors, seed: int) -> VladAggregation:
        words = fit_words(Z, self.n_words, seed)
        return VladAggregation(words, fit_rotations(Z, words) if self.rotate else None)

    def _restored(self, plain: Plain) -> VladAggregation:
        return VladAggregation(Words(plain["centers"]), plain["rotations"])
