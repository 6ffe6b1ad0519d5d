"""Thumbnails: small images inside the page, from a folder or an array of images; and many on one contact sheet."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass._core.checks import check_count
from manyclass._core.text import shorten
from manyclass.features.images.decoding import read_image
from manyclass.features.images.picture_source import PictureSource
from manyclass.features.images.pixels import ImageError
from manyclass.report.html import Markup, breakable, element

_SIDE = 224  # pixels of the longer side: as shown when it is clicked on

_QUALITY = 80  # of JPEG


class Thumbnails:
    """The images of a record by the names of its rows.

    `where` is the record's entry "pictures": {"folder": path}, or {"array": path of a .npy file, "names": path of a
    list in JSON}. Relative paths are looked for from `home`, the folder of the record, then from its parent, then from
    the current folder. `images` is a folder that the user gave, which is looked into first. What thumbnails are made
    from is put into `taken`: a record may be a stranger's, and name any folder.
    """

    def __init__(
        self, where: dict[str, Any] | None, home: Path, images: Path | None = None, taken: set[Path] | None = None
    ):
        self._taken = set() if taken is None else taken
        self._pictures = PictureSource(where, home, [] if images is None else [images])
        self._sources: dict[str, str | None] = {}

    def show(self, name: str, words: str) -> Markup:
        """The thumbnail of a row with words for who does not see it, or a plate with the row's name."""
        if name not in self._sources:
            self._sources[name] = self._source(name)
        source = self._sources[name]
        if source is None:
            return element("span", breakable(shorten(Path(name).name or name, 24)), class_="plate", title=words)
        return element("img", src=source, alt=words, title=words)

    def _source(self, name: str) -> str | None:
        """A data URI, or None if there is no such image or it cannot be read."""
        pixels, place = self._pictures.pixels(name), self._pictures.array_path
        if pixels is not None and place is not None:
            self._taken.add(place)
            return data_uri(read_image(pixels))
        for top, path in self._pictures.files(name):
            try:
                source = data_uri(read_image(path))
            except (ImageError, OSError):
                continue
            self._taken.add(top)
            return source
        packed = self._pictures.packed(name)
        if packed is not None:
            try:
                source = data_uri(read_image(packed[1]))
            except ImageError:
                return None
            self._taken.add(packed[0])
            return source
        return None


def mark_thumbnail(thumbnail: Markup, right: bool, note: str | None = None) -> Markup:
    """A thumbnail with a sign and a frame that say whether it is right, and a note under it."""
    word = "right" if right else "wrong"
    sign = element("span", "✓" if right else "✗", class_="sign", role="img", aria_label=word)
    return element(
        "span", thumbnail, sign, element("small", breakable(note)) if note else None, class_=f"marked {word}"
    )


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """A thumbnail as PNG or JPEG, whichever is shorter: drawings are smaller as PNG, photographs as JPEG.

    >>> data_uri(np.zeros((4, 4, 3), np.uint8))[:22]
    'data:image/png;base64,'
    """
    image = Image.fromarray(pixels)
    image.thumbnail((_SIDE, _SIDE))
    kinds: dict[str, dict[str, Any]] = {"png": {"optimize": True}, "jpeg": {"quality": _QUALITY}}
    files = {kind: _compress(image, kind, options) for kind, options in kinds.items()}
    kind = min(files, key=lambda kind: len(files[kind]))
    return f"data:image/{kind};base64,{base64.b64encode(files[kind]).decode()}"


def contact_sheet(images: NDArray[Any], columns: int, margin: int = 1) -> NDArray[Any]:
    """One page with the images (n, h, w), or colored ones (n, h, w, 3), in rows of `columns` on white.

    >>> contact_sheet(np.zeros((5, 8, 8), np.uint8), columns=3).shape
    (17, 26)
    """
    check_count(columns, "columns")
    check_count(margin, "margin", least=0)
    n, h, w, *colors = images.shape
    rows = -(-n // columns)
    page = np.full((rows * columns, h + margin, w + margin, *colors), 255, images.dtype)
    page[:n, :h, :w] = images
    page = page.reshape(rows, columns, h + margin, w + margin, *colors).swapaxes(1, 2)
    page = page.reshape(rows * (h + margin), columns * (w + margin), *colors)
    return page[: page.shape[0] - margin, : page.shape[1] - margin]


def _compress(image: Image.Image, kind: str, options: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
