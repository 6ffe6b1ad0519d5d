"""BagOfWords: how often each visual word occurs in an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass.features.cells import Cells
from manyclass.features.image_encoder import ImageEncoder
from manyclass.features.normalization import signed_root, unit
from manyclass.features.part import Plain
from manyclass.features.projection import Vectors
from manyclass.features.pyramid import Pyramid
from manyclass.features.words import Words, fit_words


def word_counts(labels: NDArray[np.int32], cells: Cells, k: int) -> NDArray[np.float64]:
    """How many rows of each cell have each of k labels, (cells, k).

    >>> word_counts(np.array([0, 1, 1], np.int32), Cells.whole(3), 3)
    array([[1., 2., 0.]])
    """
    cell = np.repeat(np.arange(len(cells)), np.diff(cells.starts))
    counts = np.bincount(cell * k + labels[cells.order], minlength=len(cells) * k)
    return counts.reshape(len(cells), k).astype(np.float64)


@dataclass(frozen=True)
class BagAggregation:
    """Roots of the frequencies of words, of unit length: their products are Hellinger's kernel."""

    words: Words

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.words.centers.shape[1])

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.words.centers)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """A histogram per region."""
        counts = word_counts(self.words.nearest(Z), pyramid.cells(positions), self.size)
        return unit(signed_root(pyramid.regions(counts))).astype(np.float32)

    def plain(self) -> Plain:
        """The words."""
        return {"centers": self.words.centers}


class BagOfWords(ImageEncoder):
    """Images as histograms of visual words, the nearest of which stands for a descriptor.

    Parameters
    ----------
    n_words : words for every kind of descriptor.
    whiten : whether the numbers that PCA leaves are brought to equal variance, and then to unit length.
    descriptors, n_components, coordinates, pyramid, step, scales, patch, root, max_pixels, n_samples, random_state :
        as `FisherVectors` has them.

    Attributes
    ----------
    parts_ : what was learned of each kind of descriptor, projection and words, as arrays.
    skipped_ : (position, reason) of the images that `fit` could not read.
    n_features_out_ : regions x n_words, for each kind of descriptor.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> BagOfWords(10, pyramid=("1x1", "3x1"), random_state=0).fit(images).transform(images).shape
    (4, 40)
    """

    def __init__(
        self,
        n_words: int = 1024,
        descriptors: Sequence[str] = ("sift",),
        n_components: int | None = 64,
        whiten: bool = False,
        coordinates: bool = False,
        pyramid: Sequence[str] = ("1x1",),
        step: int = 6,
        scales: int = 5,
        patch: int = 24,
        root: bool = False,
        max_pixels: int = 100_000,
        n_samples: int = 250_000,
        random_state: Any = None,
    ):
        self.n_words = n_words
        self.descriptors = descriptors
        self.n_components = n_components
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

    def _learn(self, Z: Vectors, seed: int) -> BagAggregation:
        return BagAggregation(fit_words(Z, self.n_words, seed))

    def _restored(self, plain: Plain) -> BagAggregation:
        return BagAggregation(Words(**plain))
