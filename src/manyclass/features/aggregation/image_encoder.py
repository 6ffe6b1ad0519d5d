"""ImageEncoder: what Fisher vectors, bags of words and VLAD have in common, from images to vectors.

Every kind of local descriptor that an encoder is given goes through a `DescriptorPipeline` of its own: a projection,
and an aggregation that makes one vector per region of the image.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from manyclass._core.algebra.linalg import l2_normalize
from manyclass._core.checks import check_count, check_finite, check_one_of, draw_seed
from manyclass._core.models import rollback_on_error, save_model
from manyclass._core.parallel import for_each
from manyclass._core.progress_display import get_logger
from manyclass._core.typing import Report
from manyclass.features.aggregation.pca import Projection, Vectors, fit_projection, project_descriptors
from manyclass.features.aggregation.pyramid import Pyramid
from manyclass.features.images.decoding import as_image_list, read_image
from manyclass.features.images.pixels import ImageError, Pixels
from manyclass.features.local.color import LocalColor
from manyclass.features.local.dense_sift import DenseSift
from manyclass.features.local.descriptor import MAX_IMAGES, Descriptor, LocalDescriptors, sample_descriptors

_LOG = get_logger("features")

State = dict[str, Any]  # what was learned, as arrays by name

DESCRIPTORS = ("sift", "rootsift", "color")


class Aggregation(Protocol):
    """Rows of one image in, one vector per region out."""

    @property
    def dimension(self) -> int:
        """The numbers of a row."""

    @property
    def size(self) -> int:
        """The numbers of a region."""

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """Vectors (regions, size) float32 of unit length, or zero where a region has no rows."""

    def state(self) -> State:
        """All that was learned, as arrays by name."""


@dataclass(frozen=True)
class DescriptorPipeline:
    """A projection, if there is one; the position (x, y) beside the numbers, if `coordinates`; an aggregation."""

    projection: Projection | None
    coordinates: bool
    aggregation: Aggregation

    def encode(self, local: LocalDescriptors, pyramid: Pyramid) -> Vectors:
        """The regions of an image one after the other, of unit length together."""
        Z = project_descriptors(local, self.projection, self.coordinates)
        return l2_normalize(self.aggregation.regions(Z, local.positions, pyramid).ravel())

    def check_dimension(self, dimension: int) -> None:
        """Refuse what does not fit a descriptor of so many numbers, or itself."""
        if self.projection and len(self.projection.mean) != dimension:
            raise ValueError(f"a projection must take {dimension} numbers; got {len(self.projection.mean)}")
        width = self.projection.components.shape[1] if self.projection else dimension
        if self.aggregation.dimension != width + 2 * self.coordinates:
            raise ValueError(
                f"an aggregation must take {width + 2 * self.coordinates} numbers; got {self.aggregation.dimension}"
            )


class ImageEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of transformers that learn from local descriptors of images and give every image one vector.

    Kinds of descriptors are learned separately, and their vectors are concatenated. A subclass defines

    - `_fit_aggregation(Z, seed)`: an Aggregation for projected rows Z (m, p);
    - `_restore_aggregation(state)`: the Aggregation whose `state()` gave these arrays;
    - `_counts`: those of its own parameters that must be positive integers.
    """

    forks = True  # nothing that it does takes threads of others
    _counts: tuple[str, ...] = ()

    descriptors: Sequence[str]
    n_components: int | None
    coordinates: bool
    pyramid: Sequence[str]
    step: int
    scales: int
    patch: int
    root: bool
    max_pixels: int
    n_samples: int
    random_state: Any
    parts_: list[State]  # one of each kind of descriptor; files of models know it by this name
    skipped_: list[tuple[int, str]]
    n_features_out_: int

    @rollback_on_error
    def fit(self, images: Sequence[Any], y: Any = None, *, progress: Report | None = None) -> Self:
        """Learn from images.

        At most 5,000 images are read; those that cannot be read are listed in `skipped_`. After an error or Ctrl-C the
        encoder is unchanged.

        Parameters
        ----------
        images : sequence of path or array
            Images, as `read_image` takes them.
        y : None
            Ignored.
        progress : callable, default=None
            Function that is called with (images read, images in total).

        Returns
        -------
        ImageEncoder
            The fitted encoder itself.
        """
        self._check_settings()
        seed = draw_seed(self.random_state)
        images = as_image_list(images)
        pyramid, descriptors = Pyramid(self.pyramid), self._descriptors()
        sample = sample_descriptors(images, descriptors, self.n_samples, self.max_pixels, seed, progress)
        _check_some(sample.skipped, min(len(images), MAX_IMAGES))
        states, pipelines, size = [], [], 0
        for local, name in zip(sample.descriptors, self.descriptors, strict=True):
            _LOG.info("%s: learning from %d descriptors of the kind %s", type(self).__name__, len(local), name)
            pipeline = self._fit_pipeline(local, name, seed)
            projection = pipeline.projection.state() if pipeline.projection else {}
            states.append({"projection": projection, "aggregation": pipeline.aggregation.state()})
            pipelines.append(pipeline)
            size += pipeline.aggregation.size
        self.parts_, self.skipped_ = states, sample.skipped
        self._pipelines = (self.parts_, (descriptors, pipelines, pyramid))
        self.n_features_out_ = pyramid.n_regions * size
        return self

    def transform(self, images: Sequence[Any]) -> Vectors:
        """Compute the vectors of images.

        Images are distributed over threads; the result is the same to the bit for any number of them.

        Parameters
        ----------
        images : sequence of path or array
            Images, as `read_image` takes them.

        Returns
        -------
        ndarray of shape (n_images, n_features_out), float32
            Vectors of unit length.

        Raises
        ------
        ImageError
            If an image cannot be read.
        """
        check_is_fitted(self)
        images = as_image_list(images)
        out = np.empty((len(images), self.n_features_out_), np.float32)

        def fill(position: int) -> None:
            out[position] = self.encode(_read_one(images, position, self.max_pixels))

        for_each(fill, range(len(images)))
        return out

    def encode(self, image: Pixels) -> Vectors:
        """Compute the vector of one image at its own size.

        Parameters
        ----------
        image : ndarray of shape (height, width, 3), uint8
            Pixels.

        Returns
        -------
        ndarray of shape (n_features_out,), float32
            Vector of unit length, or zeros if the image is too small for a patch.
        """
        check_is_fitted(self)
        descriptors, pipelines, pyramid = self._restore()
        vectors = [p.encode(d.describe(image), pyramid) for d, p in zip(descriptors, pipelines, strict=True)]
        return l2_normalize(np.concatenate(vectors)) if len(vectors) > 1 else vectors[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        check_is_fitted(self)
        save_model(self, path)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Refuse a saved encoder whose arrays do not fit each other.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict
            Empty, because no array is an attribute by itself.
        """
        descriptors, pipelines, pyramid = self._restore()
        for descriptor, pipeline in zip(descriptors, pipelines, strict=True):
            pipeline.check_dimension(descriptor.dimension)
        width = pyramid.n_regions * sum(pipeline.aggregation.size for pipeline in pipelines)
        if fitted["n_features_out_"] != width:
            raise ValueError(f"n_features_out_ must be {width}; got {fitted['n_features_out_']}")
        return {}

    @abstractmethod
    def _fit_aggregation(self, Z: Vectors, seed: int) -> Aggregation: ...

    @abstractmethod
    def _restore_aggregation(self, state: State) -> Aggregation: ...

    def _check_settings(self) -> None:
        check_count(self.n_samples, "n_samples")
        check_count(self.max_pixels, "max_pixels")
        if self.n_components is not None:
            check_count(self.n_components, "n_components")
        for name in self._counts:
            check_count(getattr(self, name), name)

    def _descriptors(self) -> tuple[Descriptor, ...]:
        return make_descriptors(self.descriptors, self.step, self.scales, self.patch, self.root)

    def _fit_pipeline(self, local: LocalDescriptors, name: str, seed: int) -> DescriptorPipeline:
        if not len(local.values):
            raise ValueError(f"images must have at least one patch of {self.patch} pixels for {name!r}; got none")
        check_finite(local.values, f"descriptors {name!r}")
        projection, whiten = None, getattr(self, "whiten", False)
        if self.n_components is not None or whiten:
            projection = fit_projection(local.values, self.n_components or local.values.shape[1], whiten)
        Z = np.ascontiguousarray(project_descriptors(local, projection, self.coordinates))
        return DescriptorPipeline(projection, self.coordinates, self._fit_aggregation(Z, seed))

    def _restore(self) -> tuple[tuple[Descriptor, ...], list[DescriptorPipeline], Pyramid]:
        """What encodes an image: what `fit` made, or made of the fitted arrays of a file when first needed."""
        kept: Any = vars(self).get("_pipelines")
        if kept is None or kept[0] is not self.parts_:
            pipelines = [self._restore_pipeline(state) for state in self.parts_]
            kept = self._pipelines = (self.parts_, (self._descriptors(), pipelines, Pyramid(self.pyramid)))
        return kept[1]  # type: ignore[no-any-return]

    def _restore_pipeline(self, state: State) -> DescriptorPipeline:
        projection = Projection(**state["projection"]) if state["projection"] else None
        return DescriptorPipeline(projection, self.coordinates, self._restore_aggregation(state["aggregation"]))

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_some(skipped: list[tuple[int, str]], n: int) -> None:
    if n == 0:
        raise ValueError("images must have at least one entry; got none")
    if len(skipped) == n:
        position, reason = skipped[0]
        raise ValueError(f"at least one of the {n} images to learn from must be usable; image {position} {reason}")


def _read_one(images: Sequence[Any], position: int, max_pixels: int) -> Pixels:
    image = images[position]
    try:
        return read_image(image, max_pixels)
    except ImageError as error:
        name = f", {os.fsdecode(image)}," if isinstance(image, str | bytes | os.PathLike) else ""
        raise ImageError(f"image {position}{name} {error}") from error


def make_descriptors(
    names: Sequence[str], step: int = 6, scales: int = 5, patch: int = 24, root: bool = False
) -> tuple[Descriptor, ...]:
    """One descriptor per name, all on grids of the same step, scales and patch.

    "sift" is `DenseSift`, with square roots if `root`; "rootsift" has them always; "color" is `LocalColor`.

    >>> [descriptor.dimension for descriptor in make_descriptors(("sift", "color"))]
    [128, 96]
    """
    if isinstance(names, str) or not names:
        raise ValueError(f"descriptors must be a sequence of names such as ('sift', 'color'); got {names!r}")
    return tuple(_make_descriptor(name, step, scales, patch, root) for name in names)


def _make_descriptor(name: str, step: int, scales: int, patch: int, root: bool) -> Descriptor:
    check_one_of(name, "descriptors", DESCRIPTORS)
    if name == "color":
        return LocalColor(step, scales, patch)
    return DenseSift(step, scales, patch, root or name == "rootsift")
