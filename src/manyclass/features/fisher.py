"""FisherVectors: how the descriptors of an image would change a mixture that fits those of all images.

    u_k = 1 / (n sqrt(w_k))   sum_i q_ik (x_i - mu_k) / sigma_k
    v_k = 1 / (n sqrt(2 w_k)) sum_i q_ik [((x_i - mu_k) / sigma_k)^2 - 1]

are the gradients of the mean log-likelihood in the means and variances, in units of their own deviation; q are the
posteriors. A region is u_1 ... u_K v_1 ... v_K, 2 K D numbers, after signed square roots and of unit length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass.features.cells import Cells
from manyclass.features.image_encoder import ImageEncoder
from manyclass.features.mixture import Doubles, Mixture, fit_mixture
from manyclass.features.normalization import signed_root, unit
from manyclass.features.part import Plain
from manyclass.features.projection import Vectors
from manyclass.features.pyramid import Pyramid


def fisher_vector(X: Vectors, mixture: Mixture) -> Doubles:
    """u and v (2 K D,) of rows X (m, D) float32, without roots and of any length; zeros if there are no rows.

    >>> one = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)))
    >>> fisher_vector(np.array([[1.0], [2.0]], np.float32), one).round(4)
    array([1.5   , 1.0607])
    """
    gradients = _gradients(X, mixture, Cells.whole(len(X)), Pyramid(("1x1",)))
    return np.asarray(gradients[0] / max(1, len(X)))


def _gradients(X: Vectors, mixture: Mixture, cells: Cells, pyramid: Pyramid) -> Doubles:
    """n u and n v (regions, 2 K D) of the rows of each region."""
    sums = mixture.sums(X, cells)
    roots = 1 / np.sqrt(mixture.weights)[:, None]
    halves = pyramid.regions(sums.first) * roots, pyramid.regions(sums.second) * (roots / np.sqrt(2))
    return np.concatenate([half.reshape(pyramid.n_regions, -1) for half in halves], axis=1)


@dataclass(frozen=True)
class FisherAggregation:
    """Fisher vectors of regions under one mixture."""

    mixture: Mixture

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.mixture.means.shape[1])

    @property
    def size(self) -> int:
        """2 K D."""
        return 2 * int(self.mixture.means.size)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """Improved Fisher vectors; the number of rows of a region does not matter to them."""
        gradients = _gradients(Z, self.mixture, pyramid.cells(positions), pyramid)
        return unit(signed_root(gradients.astype(np.float32)))

    def plain(self) -> Plain:
        """The mixture."""
        return {key: getattr(self.mixture, key) for key in ("weights", "means", "variances")}


class FisherVectors(ImageEncoder):
    """Images as Fisher vectors of dense descriptors: the gradients of a mixture of Gaussians.

    Parameters
    ----------
    n_gaussians : K, for every kind of descriptor; 16 to 256 are usual.
    descriptors : kinds of local descriptors, "sift", "rootsift" and "color"; their vectors stand side by side.
    n_components : numbers that PCA leaves of a descriptor; None for no PCA.
    coordinates : whether the position of a patch is added to its numbers, a small alternative to a pyramid.
    pyramid : layouts "rows x columns" of regions, each with a vector of its own: "1x1" is the whole image, "3x1" three
        stripes above each other.
    step, scales, patch : pixels between patches, sizes of the image (each smaller by sqrt(2)), side of a patch.
    root : whether "sift" has square roots taken.
    max_pixels : larger images are shrunk to so many pixels.
    n_samples : descriptors to learn from.
    random_state : the seed.

    Attributes
    ----------
    parts_ : what was learned of each kind of descriptor, projection and mixture, as arrays.
    skipped_ : (position, reason) of the images that `fit` could not read.
    n_features_out_ : regions x 2 K D, summed over the kinds of descriptors.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> FisherVectors(2, n_components=8, random_state=0).fit(images).transform(images).shape
    (4, 64)
    """

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

    def _check_settings(self) -> None:
        _checks.count(self.n_gaussians, "n_gaussians")

    def _learn(self, Z: Vectors, seed: int) -> FisherAggregation:
        return FisherAggregation(fit_mixture(Z, self.n_gaussians, seed))

    def _restored(self, plain: Plain) -> FisherAggregation:
        return FisherAggregation(Mixture(**plain))
