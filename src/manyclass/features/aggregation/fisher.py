"""FisherVectors: how the descriptors of an image would change a Gaussian mixture that fits those of all images.

    u_k = 1 / (n sqrt(w_k))   sum_i q_ik (x_i - mu_k) / sigma_k
    v_k = 1 / (n sqrt(2 w_k)) sum_i q_ik [((x_i - mu_k) / sigma_k)^2 - 1]

are the gradients of the mean log-likelihood in the means and variances, in units of their own deviation; q are the
posteriors. A region is u_1 ... u_K v_1 ... v_K, 2 K D numbers, after signed square roots and of unit length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.algebra.linalg import l2_normalize, signed_root
from manyclass._core.typing import Doubles
from manyclass.features.aggregation.image_encoder import ImageEncoder, State
from manyclass.features.aggregation.pca import Vectors
from manyclass.features.aggregation.pyramid import Pyramid
from manyclass.features.aggregation.vocabulary import DiagonalGmm, fit_gmm


def fisher_vector(X: Vectors, gmm: DiagonalGmm) -> Doubles:
    """u and v (2 K D,) of rows X (m, D) float32, without roots and of any length; zeros if there are no rows.

    >>> one = DiagonalGmm(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)))
    >>> fisher_vector(np.array([[1.0], [2.0]], np.float32), one).round(4)
    array([1.5   , 1.0607])
    """
    gradients = _region_gradients(X, np.zeros((len(X), 2), np.float32), gmm, Pyramid(("1x1",)))
    return np.asarray(gradients[0] / max(1, len(X)))


def _region_gradients(X: Vectors, positions: Vectors, gmm: DiagonalGmm, pyramid: Pyramid) -> Doubles:
    """n u and n v (regions, 2 K D) of the rows of each region."""
    moments = gmm.moments(X, pyramid.partition(positions))
    roots = 1 / np.sqrt(gmm.weights)[:, None]
    u, v = pyramid.sum_regions(moments.first) * roots, pyramid.sum_regions(moments.second) * (roots / np.sqrt(2))
    return np.concatenate([u.reshape(pyramid.n_regions, -1), v.reshape(pyramid.n_regions, -1)], axis=1)


@dataclass(frozen=True)
class FisherAggregation:
    """Fisher vectors of regions under one mixture."""

    gmm: DiagonalGmm

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.gmm.means.shape[1])

    @property
    def size(self) -> int:
        """2 K D."""
        return 2 * int(self.gmm.means.size)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """Improved Fisher vectors; the number of rows of a region does not matter to them."""
        gradients = _region_gradients(Z, positions, self.gmm, pyramid)
        return l2_normalize(signed_root(gradients.astype(np.float32)))

    def state(self) -> State:
        """The mixture."""
        return {key: getattr(self.gmm, key) for key in ("weights", "means", "variances")}


class FisherVectors(ImageEncoder):
    """Fisher vectors of dense local descriptors: gradients of a mixture of Gaussians.

    For the descriptors x_1 ... x_n of a region and the weights w, means mu and deviations sigma of K Gaussians, the
    vectors

        u_k = 1 / (n sqrt(w_k))   sum_i q_ik (x_i - mu_k) / sigma_k
        v_k = 1 / (n sqrt(2 w_k)) sum_i q_ik [((x_i - mu_k) / sigma_k)^2 - 1]

    are the normalized gradients of the mean log-likelihood in the means and variances, where q are the posteriors. A
    region is u_1 ... u_K v_1 ... v_K, after signed square roots and scaled to unit length.

    Parameters
    ----------
    n_gaussians : int, default=16
        Number K of Gaussians for every kind of descriptor; 16 to 256 are usual.
    descriptors : sequence of {"sift", "rootsift", "color"}, default=("sift", "color")
        Kinds of local descriptors; their vectors are concatenated.
    n_components : int, default=64
        Number of principal components of a descriptor; None for no PCA.
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
        Arrays that were learned for each kind of descriptor: projection and mixture.
    skipped_ : list of tuple
        Position and reason of the images that `fit` could not read.
    n_features_out_ : int
        Number of features of a vector: regions x 2 K D, summed over the kinds of descriptors.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> FisherVectors(2, n_components=8, random_state=0).fit(images).transform(images).shape
    (4, 64)
    """

    _counts = ("n_gaussians",)

    def __init__(
        self,
        n_gaussians: int = 16,
        descriptors: Sequence[str] = ("sift", "color"),
        n_components: int | None = 64,
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
        self.n_gaussians = n_gaussians
        self.descriptors = descriptors
        self.n_components = n_components
        self.coordinates = coordinates
        self.pyramid = pyramid
        self.step = step
        self.scales = scales
        self.patch = patch
        self.root = root
        self.max_pixels = max_pixels
        self.n_samples = n_samples
        self.random_state = random_state

    def _fit_aggregation(self, Z: Vectors, seed: int) -> FisherAggregation:
        return FisherAggregation(fit_gmm(Z, self.n_gaussians, seed))

    def _restore_aggregation(self, state: State) -> FisherAggregation:
        return FisherAggregation(DiagonalGmm(**state))
