"""Pictures to red, green and blue, and to a size that is worth working on."""

import math

from PIL import Image

from manyclass.features.color_modes import as_rgb

_STRIP = 1 << 20  # pixels that are turned into colors at a time, so that a large picture is never held twice
_GAP = 2  # a picture is averaged down by whole numbers to this many times its final sides, and then resampled


def shrunk(picture: Image.Image, most: int) -> Image.Image:
    """The picture in RGB, of at most so many pixels; one that is small enough keeps its size."""
    size = final_size(picture.width, picture.height, most)
    factors = [max(1, old // (_GAP * new)) for old, new in zip(picture.size, size, strict=True)]
    colors = _averaged(picture, factors[0], factors[1])
    return colors if colors.size == size else colors.resize(size, Image.Resampling.BICUBIC)


def final_size(width: int, height: int, most: int) -> tuple[int, int]:
    """(width, height) with the same proportions, as nearly as whole numbers have them, and at most `most` pixels.

    >>> final_size(640, 480, 100_000), final_size(100, 50, 100_000), final_size(1, 1_000_000, 100_000)
    ((365, 273), (100, 50), (1, 100000))
    """
    if width * height <= most:
        return width, height
    scale = math.sqrt(most / (width * height))
    w, h = max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
    return min(w, most // h) if h == 1 else w, min(h, most // w) if w == 1 else h


def _averaged(picture: Image.Image, across: int, down: int) -> Image.Image:
    """RGB of the picture, of which every `across` x `down` pixels became one; strip by strip if there are many."""
    if across == down == 1:
        return as_rgb(picture)
    width, height = picture.size
    small = Image.new("RGB", (-(-width // across), -(-height // down)))
    step = max(1, _STRIP // (width * down)) * down
    for top in range(0, height, step):
        strip = as_rgb(picture.crop((0, top, width, min(height, top + step))))
        small.paste(strip.reduce((across, down)), (0, top // down))
    return small
