"""The typefaces that glyphs are drawn with: those that ship inside matplotlib, so that nothing is downloaded."""

import string
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import sha256_digest
from manyclass._core.reading import read_file

_STYLES = ("", "-Bold", "-Oblique", "-BoldOblique")

_SERIF_STYLES = ("", "-Bold", "-Italic", "-BoldItalic")

_UNICODE_FACES = (
    *(f"DejaVuSans{style}" for style in _STYLES),
    *(f"DejaVuSerif{style}" for style in _SERIF_STYLES),
    *(f"DejaVuSansMono{style}" for style in _STYLES),
    *(f"STIXGeneral{style}" for style in ("", "Bol", "Italic", "BolIta")),
)

# Computer Modern has a coding of its own: only letters and digits are where Unicode has them.
_TEX_FACES = ("cmr10", "cmb10", "cmss10", "cmti10", "cmtt10")


@dataclass(frozen=True)
class Face:
    """One font file: its name, its place, and the code points that it really has."""

    name: str
    path: Path
    characters: frozenset[int]

    def draw(self, character: str, pixels: int) -> NDArray[np.uint8]:
        """Ink (pixels, pixels) from 0 to 255: on a common baseline, centered from left to right, shrunk to fit."""
        from PIL import Image, ImageDraw

        desk = Image.new("L", (3 * pixels, 3 * pixels))
        baseline = 2 * pixels
        ImageDraw.Draw(desk).text((pixels, baseline), character, 255, _font(self.path, 0.75 * pixels), anchor="ls")
        left, top, right, bottom = desk.getbbox() or (0, baseline, 1, baseline + 1)
        ink, room = desk.crop((left, top, right, bottom)), round(0.94 * pixels)
        if max(ink.size) > room:
            shrink = room / max(ink.size)
            ink = ink.resize(
                (max(1, round(ink.width * shrink)), max(1, round(ink.height * shrink))), Image.Resampling.BOX
            )
        # The baseline lies two thirds down; what would leave the image there moves back into it.
        margin = (pixels - room) // 2
        highest, lowest = margin, pixels - margin - ink.height
        place = ((pixels - ink.width) // 2, min(max(round(0.71 * pixels) + top - baseline, highest), lowest))
        page = Image.new("L", (pixels, pixels))
        page.paste(ink, place)
        return np.asarray(page)


@cache
def faces() -> tuple[Face, ...]:
    """Every face, in a fixed order."""
    folder = _folder()  # which says what is missing; fontTools comes with matplotlib
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    def read(name: str) -> Face:
        path = folder / f"{name}.ttf"
        with TTFont(path, lazy=True) as font:
            characters = frozenset(font.getBestCmap())
        if name in _TEX_FACES:
            characters &= {ord(c) for c in string.ascii_letters + string.digits}
        return Face(name, path, characters)

    return tuple(read(name) for name in (*_UNICODE_FACES, *_TEX_FACES) if (folder / f"{name}.ttf").exists())


@cache
def fonts_fingerprint() -> str:
    """Names everything outside this package that the pixels depend on: font files, Pillow, FreeType, NumPy."""
    from PIL import features

    digest = sha256_digest(face.name.encode() + read_file(face.path, "image") for face in faces())
    versions = [version("Pillow"), features.version("freetype2"), version("numpy")]
    return f"{digest} {versions}"


def _folder() -> Path:
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            'glyphs are drawn with the fonts of matplotlib, which is missing; pip install "manyclass[plot]"'
        ) from None
    return Path(matplotlib.get_data_path(), "fonts", "ttf")


@cache
def _font(path: Path, size: float) -> Any:
    from PIL import ImageFont

    # The basic layout draws one glyph per character, whichever shaping library Pillow was built with.
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
