"""Samples of the local descriptors of many images, from which vocabularies and mixtures are learned."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyclass._core.parallel import thread_map
from manyclass.features.images.decoding import read_image
from manyclass.features.images.pixels import ImageError
from manyclass.features.local.descriptor import Descriptor, LocalDescriptors, concatenate_descriptors

Progress = Callable[[int, int], None]

MAX_IMAGES = 5000  # to read more takes longer and changes little: a quarter of a million descriptors are 50 of each


class DescriptorSample(NamedTuple):
    """Rows that were drawn for every descriptor, and (position, reason) of the images that could not be read."""

    descriptors: list[LocalDescriptors]
    skipped: list[tuple[int, str]]


def sample_descriptors(
    images: Sequence[Any],
    descriptors: Sequence[Descriptor],
    n_samples: int,
    max_pixels: int,
    seed: int,
    progress: Progress | None = None,
) -> DescriptorSample:
    """Draw about n_samples rows of every descriptor, as many from each of at most 5,000 images.

    Images are drawn by chance, as are the rows of each; an image that cannot be read is left out.
    """
    n = len(images)
    drawn = np.sort(np.random.default_rng(seed).permutation(n)[:MAX_IMAGES])
    per_image = -(-n_samples // max(1, len(drawn)))

    def draw_from(position: int) -> list[LocalDescriptors] | str:
        try:
            image = read_image(images[position], max_pixels)
        except ImageError as error:
            return str(error)
        rng = np.random.default_rng((seed, position))
        return [_draw_rows(descriptor.describe(image), per_image, rng) for descriptor in descriptors]

    found: list[list[LocalDescriptors]] = []
    skipped: list[tuple[int, str]] = []
    results = thread_map(draw_from, drawn.tolist())
    for done, (position, result) in enumerate(zip(drawn.tolist(), results, strict=True), 1):
        if isinstance(result, str):
            skipped.append((position, result))
        else:
            found.append(result)
        if progress:
            progress(done, len(drawn))
    together = []
    for i, descriptor in enumerate(descriptors):
        values, positions = [image[i].values for image in found], [image[i].positions for image in found]
        together.append(concatenate_descriptors(values, positions, descriptor.dimension))
    return DescriptorSample(together, skipped)


def _draw_rows(local: LocalDescriptors, n: int, rng: np.random.Generator) -> LocalDescriptors:
    if len(local.values) <= n:
        return local
    rows = np.sort(rng.choice(len(local.values), n, replace=False))
    return LocalDescriptors(local.values[rows], local.positions[rows])
