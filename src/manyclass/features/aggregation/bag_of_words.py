"""BagOfWords: how often each visual word occurs in an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import l2_normalize, signed_root
from manyclass.features.aggregation.image_encoder import ImageEncoder, State
from manyclass.features.aggregation.pca import Vectors
from manyclass.features.aggregation.pyramid import Partition, Pyramid
from manyclass.features.aggregation.vocabulary import VisualVocabulary, fit_vocabulary


def word_counts(labels: NDArray[np.int32], cells: Partition, k: int) -> NDArray[np.float64]:
    """How many rows of each cell have each of k labels, (cells, k).

    >>> word_counts(np.array([0, 1, 1], np.int32), Partition.single(3), 3)
    array([[1., 2., 0.]])
    """
    cell = np.repeat(np.arange(cells.n_cells), np.diff(cells.starts))
    counts = np.bincount(cell * k + labels[cells.order], minlength=cells.n_cells * k)
    return counts.reshape(cells.n_cells, k).astype(np.float64)


@dataclass(frozen=True)
class BagAggregation:
    """Roots of the frequencies of words, of unit length: their products are Hellinger's kernel."""

    vocabulary: VisualVocabulary

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.vocabulary.centers.shape[1])

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.vocabulary.centers)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """A histogram per region."""
        counts = word_counts(self.vocabulary.assign(Z), pyramid.partition(positions), self.size)
        return l2_normalize(signed_root(pyramid.sum_regions(counts))).astype(np.float32)

    def state(self) -> State:
        """The words."""
        return {"centers": self.vocabulary.centers}


class BagOfWords(ImageEncoder):
    """Histograms of visual words, the nearest of which represents a descriptor.

    Square roots of the word frequencies are scaled to unit length, so that inner products of vectors are the Hellinger
    kernel.

    Parameters
    ----------
    n_words : int, default=1024
        Number of visual words for every kind of descriptor.
    descriptors : sequence of {"sift", "rootsift", "color"}, default=("sift",)
        Kinds of local descriptors; their vectors are concatenated.
    n_components : int, default=64
        Number of principal components of a descriptor; None for no PCA.
    whiten : bool, default=False
        Whether principal components are scaled to equal variance, and then to unit length.
    coordinates : bool, default=False
        Whether the position of a patch is appended to its descriptor, a small alternative to a pyramid.
    pyramid : sequence of str, default=("1x1",)
        Layouts "rows x columns" of regions, each with a vector of its own: "1x1" is the whole image, "3x1" three
        horizontal stripes.
    step : int, default=6
        Distance of patches in pixels.
    scales : int, default=5
        Number of sizes of the image, each smaller by sqrt(2).
    patch : int, default=24
        Side of a patch in pixels.
    root : bool, default=False
        Whether square roots of "sift" are taken.
    max_pixels : int, default=100_000
        Number of pixels to which larger images are shrunk.
    n_samples : int, default=250_000
        Number of descriptors to learn from.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    parts_ : list of dict
        Arrays that were learned for each kind of descriptor: projection and words.
    skipped_ : list of tuple
        Position and reason of the images that `fit` could not read.
    n_features_out_ : int
        Number of features of a vector: regions x n_words, for each kind of descriptor.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> BagOfWords(10, pyramid=("1x1", "3x1"), random_state=0).fit(images).transform(images).shape
    (4, 40)
    """

    _counts = ("n_words",)

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

    def _fit_aggregation(self, Z: Vectors, seed: int) -> BagAggregation:
        return BagAggregation(fit_vocabulary(Z, self.n_words, seed))

    def _restore_aggregation(self, state: State) -> BagAggregation:
        return BagAggregation(VisualVocabulary(**state))
