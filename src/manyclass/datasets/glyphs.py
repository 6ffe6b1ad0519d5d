"""Pictures of characters: a data set of hundreds of classes that is drawn here and needs no download."""

import contextlib
import os
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass.datasets import glyph_cache
from manyclass.datasets.glyph_alphabet import Letter, alphabet
from manyclass.datasets.glyph_distortion import Distortion
from manyclass.datasets.glyph_faces import fingerprint

# Raised by whoever changes what is drawn, so that older files in caches are left alone.
_GENERATOR = 1


@dataclass(frozen=True)
class Glyphs:
    """Gray pictures of characters, class after class.

    `images` (n, size, size) uint8, `y` (n,) int64 into `classes`, which are Unicode names; for every image the face
    that drew it, and "train" or "test": a quarter is for testing, and every class is in both.
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
    """Draw characters of many scripts in several faces, each picture shifted, turned, thickened and stained a little.

    Image j of a class depends on the seed, the character and j alone: asking for more classes or more images gives the
    same ones again, and then others. `cache` is a folder, True for the user's own, or False for none. `progress` is
    called with (classes done, classes in all).

    >>> glyphs(3, 4, cache=False)
    Glyphs(12 images of 32 x 32, 3 classes)
    """
    _checks.count(n_classes, "n_classes")
    _checks.count(n_per_class, "n_per_class", least=2)
    _checks.count(size, "size", least=8, most=512)
    _checks.count(random_state, "random_state", least=0)
    settings = f"{_GENERATOR} {n_classes} {n_per_class} {size} {random_state} {fingerprint()}"
    path = _cache_path(cache, settings)
    arrays = glyph_cache.load(path) if path else None
    if arrays is None:
        arrays = _draw_all(_letters(n_classes), n_per_class, size, random_state, progress)
        if path:
            _keep(path, arrays, asked=cache is not True)
    return _as_glyphs(n_per_class=n_per_class, **arrays)


def _letters(n_classes: int) -> list[Letter]:
    letters = alphabet(n_classes)
    if len(letters) < n_classes:
        raise ValueError(f"n_classes must be at most {len(letters)}, as many as the fonts here draw; got {n_classes}")
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
    return glyph_cache.path_of(folder, "glyphs", settings) if folder else None


def _keep(path: Path, arrays: dict[str, NDArray[Any]], asked: bool) -> None:
    # A home folder that cannot be written costs time and nothing else; a folder that the user named must work.
    with contextlib.nullcontext() if asked else contextlib.suppress(OSError):
        glyph_cache.save(path, arrays)
