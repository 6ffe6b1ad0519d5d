"""Queries and what they found, as one picture: a row for each query, which stands first."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from manyclass.cli.search_results import Result

_SIDE, _MARGIN = 128, 6
_UNKNOWN, _QUERY = 224, 48  # gray of what has no picture, and of the frame of a query


def draw_sheet(path: Path, results: "list[Result]", folders: list[Path], gallery: Path) -> None:
    """Write the picture; images whose files are gone are gray, and at least one must be there."""
    from PIL import Image

    from manyclass import _atomic
    from manyclass.datasets.contact_sheet import contact_sheet

    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise ValueError(f"--sheet must end in .png, .jpg or another kind of picture; got {path}")
    columns = 1 + max(len(one.hits) for one in results)
    rows = [_row(one, folders, columns) for one in results]
    if all(picture is None for row in rows for picture in row[1:]):
        raise ValueError(f"--sheet needs the pictures of {gallery}, and found none; give their folder by --pictures")
    tiles = np.stack([_tile(picture, framed=i == 0) for row in rows for i, picture in enumerate(row)])
    file = io.BytesIO()
    Image.fromarray(contact_sheet(tiles, columns, _MARGIN)).save(file, kind)
    _atomic.write_bytes(path, file.getvalue())


def _row(one: "Result", folders: list[Path], columns: int) -> list[Path | None]:
    query = one.picture if one.id is None else _picture(one.id, folders)
    found = [_picture(hit["id"], folders) for hit in one.hits]
    return [query, *found, *[None] * (columns - 1 - len(found))]


def _picture(key: Any, folders: list[Path]) -> Path | None:
    """The file of an image that is known by its path below a folder."""
    name = os.path.normpath(str(key))
    if os.path.isabs(name) or name.startswith(".."):
        return None
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _tile(path: Path | None, framed: bool) -> NDArray[np.uint8]:
    """The picture, as large as it fits, in a square."""
    from PIL import Image

    import manyclass as mc

    tile = Image.new("RGB", (_SIDE, _SIDE), (_QUERY,) * 3 if framed else (255,) * 3)
    inner = _SIDE - 8 if framed else _SIDE
    try:
        pixels = None if path is None else mc.read_image(path, max_pixels=4 * inner * inner)
    except mc.ImageError:
        pixels = None
    picture = Image.new("RGB", (inner, inner), (_UNKNOWN,) * 3) if pixels is None else Image.fromarray(pixels)
    scale = inner / max(picture.size)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    tile.paste(picture, ((_SIDE - picture.width) // 2, (_SIDE - picture.height) // 2))
    return np.asarray(tile)
