"""glyphs: images of characters, drawn in many faces, each a little different."""

import contextlib
import os
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count
from manyclass.datasets.glyph_images import cache as glyph_cache
from manyclass.datasets.glyph_images.alphabet import Letter, alphabet
from manyclass.datasets.glyph_images.distortion import Distortion
from manyclass.datasets.glyph_images.fonts import fonts_fingerprint

# Raised by whoever changes what is drawn, so that older files in caches are left alone.
_GENERATOR = 1


@dataclass(frozen=True)
class Glyphs:
    """Gray images of characters, sorted by class.

    A quarter of the images is for testing, and every class is in both subsets.

    Parameters
    ----------
    images : ndarray of shape (n_images, size, size), uint8
        Pixels.
    y : ndarray of shape (n_images,), int64
        Positions in `classes`.
    classes : list of str
        Unicode names of the characters.
    faces : list of str
        Font face of each image.
    split : list of str
        "train" or "test" for each image.
    """

    images: NDArray[np.uint8]
    y: NDArray[np.int64]
    classes: list[str]
    faces: list[str]
    split: list[str]

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        n, height, width = self.images.shape
        return f"Glyphs({n} images of {height} x {width}, {len(self.classes)} classes)"


def glyphs(
    n_classes: int = 500,
    n_per_class: int = 20,
    size: int = 32,
    random_state: int = 0,
    cache: bool | str | os.PathLike[str] = True,
    progress: Callable[[int, int], None] | None = None,
) -> Glyphs:
    """Draw characters of many scripts in several faces, each image slightly shifted, rotated, thickened and stained.

    Image j of a class depends on the seed, the character and j alone: more classes or more images are the same ones and
    then others.

    Parameters
    ----------
    n_classes : int, default=500
        Number of characters.
    n_per_class : int, default=20
        Number of images of each, at least 2.
    size : int, default=32
        Height and width of an image.
    random_state : int, default=0
        Seed.
    cache : bool or path-like, default=True
        Folder where results are cached; True for that of the user, False for none.
    progress : callable, default=None
        Function that is called with (classes done, classes in total).

    Returns
    -------
    Glyphs
        Images and labels.

    Examples
    --------
    >>> glyphs(3, 4, cache=False)
    Glyphs(12 images of 32 x 32, 3 classes)
    """
    check_count(n_classes, "n_classes")
    check_count(n_per_class, "n_per_class", least=2)
    check_count(size, "size", least=8, most=512)
    check_count(random_state, "random_state", least=0)
    settings = f"{_GENERATOR} {n_classes} {n_per_class} {size} {random_state} {fonts_fingerprint()}"
    path = _cache_path(cache, settings)
    arrays = glyph_cache.load_glyphs(path) if path else None
    if arrays is None:
        arrays = _draw_all(_letters(n_classes), n_per_class, size, random_state, progress)
        if path:
            _save_to_cache(path, arrays, asked=cache is not True)
    return _as_glyphs(n_per_class=n_per_class, **arrays)


def _letters(n_classes: int) -> list[Letter]:
    letters = alphabet(n_classes)
    if len(letters) < n_classes:
        raise ValueError(f"n_classes must be at most {len(letters)}, all that the fonts here draw; got {n_classes}")
    return letters


def _draw_all(
    letters: list[Letter], n_per_class: int, size: int, seed: int, progress: Callable[[int, int], None] | None
) -> dict[str, NDArray[Any]]:
    images = np.empty((len(letters), n_per_class, size, size), np.uint8)
    faces: list[str] = []
    for c, letter in enumerate(letters):
        for j, (face, image) in enumerate(_draw_class(letter, n_per_class, size, seed)):
            images[c, j] = image
            faces.append(face)
        if progress:
            progress(c + 1, len(letters))
    classes = [unicodedata.name(character) for character, _ in letters]
    return {"images": images.reshape(-1, size, size), "classes": np.array(classes), "faces": np.array(faces)}


def _draw_class(letter: Letter, n: int, size: int, seed: int) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    character, faces = letter
    drawings: dict[str, NDArray[np.uint8]] = {}
    for j in range(n):
        rng = np.random.default_rng([seed, ord(character), j])
        face = faces[rng.integers(len(faces))]
        if face.name not in drawings:
            drawings[face.name] = face.draw(character, 2 * size)
        yield face.name, Distortion.draw(rng).apply(drawings[face.name], rng)


def _as_glyphs(images: NDArray[Any], classes: NDArray[Any], faces: NDArray[Any], n_per_class: int) -> Glyphs:
    y = np.repeat(np.arange(len(classes), dtype=np.int64), n_per_class)
    # Images 1, 5, 9, ... of a class: the first two of any class are one of each.
    split = ["test" if j % 4 == 1 else "train" for j in range(n_per_class)] * len(classes)
    return Glyphs(images, y, classes.tolist(), faces.tolist(), split)


def _cache_path(cache: bool | str | os.PathLike[str], settings: str) -> Path | None:
    if cache is False:
        return None
    folder = glyph_cache.user_folder() if cache is True else Path(cache)
    return glyph_cache.cache_path(folder, "glyphs", settings) if folder else None


def _save_to_cache(path: Path, arrays: dict[str, NDArray[Any]], asked: bool) -> None:
    # A home folder that cannot be written costs time and nothing else; a folder that the user named must work.
    with contextlib.nullcontext() if asked else contextlib.suppress(OSError):
        glyph_cache.save_glyphs(path, arrays)
