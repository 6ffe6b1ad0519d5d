"""Sheets: a picture of queries and of what they found in a gallery, a row for each query."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.text import shorten

if TYPE_CHECKING:
    from manyclass.cli.galleries.search import Result

_SIDE, _MARGIN = 128, 6  # pixels of a picture on a sheet, and between two of them

_LINE = 14  # pixels of a line of text under a picture

_UNKNOWN, _QUERY = 224, 48  # gray of what has no picture, and of the frame of a query


def draw_sheet(path: Path, results: list["Result"], folders: list[Path], gallery: Path) -> None:
    """Write the picture; images whose files are gone are gray, and at least one must be there."""
    from PIL import Image

    from manyclass._core.files import write_bytes
    from manyclass.report.thumbnails import contact_sheet

    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise ValueError(f"--sheet must end in .png, .jpg or another kind of picture; got {path}")
    columns = 1 + max(len(one.hits) for one in results)
    rows = [_sheet_row(one, folders, columns) for one in results]
    if all(picture is None for row in rows for picture, _ in row[1:]):
        raise ValueError(f"--sheet needs the pictures of {gallery}, and found none; give their folder by --pictures")
    tiles = np.stack([_tile(*place, framed=i == 0) for row in rows for i, place in enumerate(row)])
    file = io.BytesIO()
    Image.fromarray(contact_sheet(tiles, columns, _MARGIN)).save(file, kind)
    write_bytes(path, file.getvalue())


_Place = tuple[Path | None, tuple[str, ...]]  # a picture, and the lines under it


def _sheet_row(one: "Result", folders: list[Path], columns: int) -> list[_Place]:
    query = one.picture if one.id is None else _picture(one.id, folders)
    found = [(_picture(hit["id"], folders), (str(hit["id"]), f"{hit['score']:.3f}")) for hit in one.hits]
    return [(query, (one.query, "query")), *found, *[(None, ())] * (columns - 1 - len(found))]


def _picture(key: Any, folders: list[Path]) -> Path | None:
    """The file of an image that is known by its path below a folder."""
    name = os.path.normpath(str(key))
    if os.path.isabs(name) or name.startswith(".."):
        return None
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _tile(path: Path | None, lines: tuple[str, ...], framed: bool) -> NDArray[np.uint8]:
    """The picture, as large as it fits, in a square, and lines of text under it; white without lines."""
    from PIL import Image, ImageDraw, ImageFont

    import manyclass as mc

    tile = Image.new("RGB", (_SIDE, _SIDE + 2 * _LINE), (255,) * 3)
    if not lines:
        return np.asarray(tile)
    if framed:
        tile.paste((_QUERY,) * 3, (0, 0, _SIDE, _SIDE))
    inner = _SIDE - 8 if framed else _SIDE
    try:
        pixels = None if path is None else mc.read_image(path, max_pixels=4 * inner * inner)
    except mc.ImageError:
        pixels = None
    picture = Image.new("RGB", (inner, inner), (_UNKNOWN,) * 3) if pixels is None else Image.fromarray(pixels)
    scale = inner / max(picture.size)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    tile.paste(picture, ((_SIDE - picture.width) // 2, (_SIDE - picture.height) // 2))
    pen, font = ImageDraw.Draw(tile), ImageFont.load_default(_LINE - 3)
    for i, line in enumerate(lines):
        pen.text((_SIDE / 2, _SIDE + (i + 0.5) * _LINE), _fitting(line, font), (_QUERY,) * 3, font, anchor="mm")
    return np.asarray(tile)


def _fitting(line: str, font: Any) -> str:
    """A line that is no wider than a picture: as much of its end as there is room for."""
    lengths = range(len(line), 0, -1)
    return next((short for n in lengths if font.getlength(short := shorten(line, n)) <= _SIDE), "")
