"""Pictures: thumbnails inside the page, from a folder of images or from an array of them."""

import base64
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass.features.images import ImageError, read_image
from manyclass.report.markup import Markup, element
from manyclass.report.words import shortened

_SIDE = 112  # pixels of the longer side: as shown, on a screen of two pixels per point
_QUALITY = 80


class Pictures:
    """The pictures of a record by the names of its rows.

    `where` is the record's entry "pictures", whose paths are relative to `home`, the folder of the record; `images` is
    a folder that the user gave, which is looked into first.
    """

    def __init__(self, where: dict[str, Any] | None, home: Path, images: Path | None = None):
        where = where or {}
        folder = where.get("folder")
        self._folders = [path for path in (images, home / folder if folder else None) if path is not None]
        self._array, self._rows = _array(where, home)
        self._made: dict[str, str | None] = {}

    def show(self, name: str, words: str, class_: str | None = None) -> Markup:
        """The thumbnail of a row with words for who does not see it, or a plate with the row's name."""
        if name not in self._made:
            self._made[name] = self._source(name)
        source = self._made[name]
        if source is None:
            return element(
                "span", shortened(Path(name).name or name, 24), class_=_classes("plate", class_), title=words
            )
        return element("img", src=source, alt=words, title=words, class_=class_, loading="lazy")

    def _source(self, name: str) -> str | None:
        """A data URI, or None if there is no such picture or it cannot be read."""
        if name in self._rows and self._array is not None:
            return data_uri(read_image(np.asarray(self._array[self._rows[name]])))
        for path in (path for folder in self._folders for path in _candidates(folder, name)):
            try:
                return data_uri(read_image(path))
            except (ImageError, OSError):
                continue
        return None


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """A thumbnail as PNG or JPEG, whichever is shorter: drawings are smaller as PNG, photographs as JPEG."""
    picture = Image.fromarray(pixels)
    picture.thumbnail((_SIDE, _SIDE))
    kinds: dict[str, dict[str, Any]] = {"png": {"optimize": True}, "jpeg": {"quality": _QUALITY}}
    coded = {kind: _coded(picture, kind, options) for kind, options in kinds.items()}
    kind = min(coded, key=lambda kind: len(coded[kind]))
    return f"data:image/{kind};base64,{base64.b64encode(coded[kind]).decode()}"


def _coded(picture: Image.Image, kind: str, options: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _candidates(folder: Path, name: str) -> list[Path]:
    """Files that a row may name: the path in the folder, then the bare name in it; never outside of it."""
    top = os.path.abspath(folder)
    paths = [os.path.abspath(os.path.join(top, part)) for part in (name, os.path.basename(name)) if "\0" not in part]
    inside = [Path(path) for path in paths if path.startswith(top + os.sep)]
    return [path for path in inside if path.is_file()]


def _array(where: dict[str, Any], home: Path) -> tuple[NDArray[Any] | None, dict[str, int]]:
    if not where.get("array") or not where.get("names"):
        return None, {}
    path, names = home / where["array"], home / where["names"]
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        listed = json.loads(names.read_bytes())
    except FileNotFoundError:
        return None, {}
    except (ValueError, RecursionError):
        raise ValueError(f"pictures must be an array in {path} and a list of their names in {names}") from None
    if not isinstance(listed, list) or array.ndim not in (3, 4) or len(listed) != len(array):
        raise ValueError(f"{names} must list one name for each picture of {path}, which has shape {array.shape}")
    return array, {str(name): row for row, name in enumerate(listed)}


def _classes(*names: str | None) -> str:
    return " ".join(name for name in names if name)
