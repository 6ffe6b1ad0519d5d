"""A sample of the local descriptors of many images, to learn from."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyclass._core.parallel import thread_map
from manyclass.features.images.decoding import read_image
from manyclass.features.images.pixels import ImageError
from manyclass.features.local.descriptor import Descriptor, LocalDescriptors

Progress = Callable[[int, int], None]

MOST_IMAGES = 5000


class DescriptorSample(NamedTuple):
    """What was drawn: rows for every descriptor, and (position, reason) of the images that could not be read."""

    parts: list[LocalDescriptors]
    skipped: list[tuple[int, str]]


def sample_descriptors(
    images: Sequence[Any],
    descriptors: Sequence[Descriptor],
    n_samples: int,
    max_pixels: int,
    seed: int,
    progress: Progress | None = None,
) -> DescriptorSample:
    """At most about n_samples rows of every descriptor, the same share of each of at most 5,000 images.

    Images are drawn by chance, as are the rows of each; an image that cannot be read is left out.
    """
    n = len(images)
    drawn = np.sort(np.random.default_rng(seed).permutation(n)[:MOST_IMAGES])
    share = -(-n_samples // max(1, len(drawn)))

    def rows(position: int) -> list[LocalDescriptors] | str:
        try:
            image = read_image(images[position], max_pixels)
        except ImageError as error:
            return str(error)
        rng = np.random.default_rng((seed, position))
        return [_drawn(descriptor.describe(image), share, rng) for descriptor in descriptors]

    found: list[list[LocalDescriptors]] = []
    skipped: list[tuple[int, str]] = []
    for done, (position, what) in enumerate(zip(drawn.tolist(), thread_map(rows, drawn.tolist()), strict=True), 1):
        if isinstance(what, str):
            skipped.append((position, what))
        else:
            found.append(what)
        if progress:
            progress(done, len(drawn))
    return DescriptorSample(
        [_joined([image[i] for image in found], d.dimension) for i, d in enumerate(descriptors)], skipped
    )


def _drawn(local: LocalDescriptors, share: int, rng: np.random.Generator) -> LocalDescriptors:
    if len(local.values) <= share:
        return local
    rows = np.sort(rng.choice(len(local.values), share, replace=False))
    return LocalDescriptors(local.values[rows], local.positions[rows])


def _joined(parts: list[LocalDescriptors], dimension: int) -> LocalDescriptors:
    values = [np.empty((0, dimension), np.float32), *(part.values for part in parts)]
    positions = [np.empty((0, 2), np.float32), *(part.positions for part in parts)]
    return LocalDescriptors(np.concatenate(values), np.concatenate(positions))
