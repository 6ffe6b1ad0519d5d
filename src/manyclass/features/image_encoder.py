"""ImageEncoder: what Fisher vectors, bags of words and VLAD have in common, from images to vectors."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from manyclass import _checks
from manyclass._all_or_nothing import all_or_nothing
from manyclass._blas import in_order
from manyclass.features.descriptors import descriptors_by_name
from manyclass.features.image_lists import listed
from manyclass.features.images import ImageError, Pixels, read_image
from manyclass.features.local import Descriptor, LocalDescriptors
from manyclass.features.normalization import unit
from manyclass.features.part import Aggregation, Part, Plain, fitted_projection, prepared, restored_projection
from manyclass.features.projection import Vectors
from manyclass.features.pyramid import Pyramid
from manyclass.features.sample import MOST_IMAGES, Progress, sample_descriptors


class ImageEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of transformers that learn from local descriptors of images and give every image one vector.

    Kinds of descriptors are learned separately, and their vectors are concatenated. A subclass defines

    - `_learn(Z, seed)`: an Aggregation for prepared rows Z (m, p);
    - `_restored(plain)`: the Aggregation whose `plain()` gave these arrays;
    - `_check_settings()` for its own parameters.
    """

    forks = True  # nothing that it does takes threads of others

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
    parts_: list[Plain]
    skipped_: list[tuple[int, str]]
    n_features_out_: int

    @all_or_nothing
    def fit(self, images: Sequence[Any], y: Any = None, *, progress: Progress | None = None) -> Self:
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
        self._check_common()
        images = listed(images)
        pyramid, descriptors = Pyramid(self.pyramid), self._descriptors()
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        sample = sample_descriptors(images, descriptors, self.n_samples, self.max_pixels, seed, progress)
        _check_some(sample.skipped, min(len(images), MOST_IMAGES))
        parts = [self._learned(local, name, seed) for local, name in zip(sample.parts, self.descriptors, strict=True)]
        self.parts_, self.skipped_ = [part.plain() for part in parts], sample.skipped
        self.n_features_out_ = pyramid.n_regions * sum(part.aggregation.size for part in parts)
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
        ndarray of shape (n_images, n_features_out_), float32
            Vectors of unit length.

        Raises
        ------
        ImageError
            If an image cannot be read.
        """
        check_is_fitted(self)
        images = listed(images)
        out = np.empty((len(images), self.n_features_out_), np.float32)

        def fill(position: int) -> None:
            out[position] = self.encode(_read(images, position, self.max_pixels))

        for _ in in_order(fill, range(len(images))):
            pass
        return out

    def encode(self, image: Pixels) -> Vectors:
        """Compute the vector of one image at its own size.

        Parameters
        ----------
        image : ndarray of shape (height, width, 3), uint8
            Pixels.

        Returns
        -------
        ndarray of shape (n_features_out_,), float32
            Vector of unit length, or zeros if the image is too small for a patch.
        """
        check_is_fitted(self)
        descriptors, parts, pyramid = self._ready()
        vectors = [part.vector(d.describe(image), pyramid) for d, part in zip(descriptors, parts, strict=True)]
        return unit(np.concatenate(vectors)) if len(vectors) > 1 else vectors[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        from manyclass._models import save

        save(self, path)

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
        descriptors, parts, pyramid = self._ready()
        for descriptor, part in zip(descriptors, parts, strict=True):
            part.check(descriptor.dimension)
        width = pyramid.n_regions * sum(part.aggregation.size for part in parts)
        if fitted["n_features_out_"] != width:
            raise ValueError(f"n_features_out_ must be {width}; got {fitted['n_features_out_']}")
        return {}

    @abstractmethod
    def _learn(self, Z: Vectors, seed: int) -> Aggregation: ...

    @abstractmethod
    def _restored(self, plain: Plain) -> Aggregation: ...

    @abstractmethod
    def _check_settings(self) -> None: ...

    def _check_common(self) -> None:
        _checks.count(self.n_samples, "n_samples")
        _checks.count(self.max_pixels, "max_pixels")
        if self.n_components is not None:
            _checks.count(self.n_components, "n_components")
        self._check_settings()

    def _descriptors(self) -> tuple[Descriptor, ...]:
        return descriptors_by_name(self.descriptors, self.step, self.scales, self.patch, self.root)

    def _learned(self, local: LocalDescriptors, name: str, seed: int) -> Part:
        if not len(local.values):
            raise ValueError(f"images must have at least one patch of {self.patch} pixels for {name!r}; got none")
        _checks.finite(local.values, f"descriptors {name!r}")
        projection = fitted_projection(local.values, self.n_components, getattr(self, "whiten", False))
        Z = np.ascontiguousarray(prepared(local, projection, self.coordinates))
        return Part(projection, self.coordinates, self._learn(Z, seed))

    def _ready(self) -> tuple[tuple[Descriptor, ...], list[Part], Pyramid]:
        """What encodes an image, made of the fitted arrays when first needed."""
        made: Any = vars(self).get("_made")
        if made is None or made[0] is not self.parts_:
            parts = [
                Part(restored_projection(p["projection"]), self.coordinates, self._restored(p["aggregation"]))
                for p in self.parts_
            ]
            made = self._made = (self.parts_, (self._descriptors(), parts, Pyramid(self.pyramid)))
        return made[1]  # type: ignore[no-any-return]

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
        position, why = skipped[0]
        raise ValueError(f"at least one of the {n} images to learn from must be usable; image {position} {why}")


def _read(images: Sequence[Any], position: int, max_pixels: int) -> NDArray[np.uint8]:
    image = images[position]
    try:
        return read_image(image, max_pixels)
    except ImageError as error:
        name = f", {os.fsdecode(image)}," if isinstance(image, str | bytes | os.PathLike) else ""
        raise ImageError(f"image {position}{name} {error}") from error
