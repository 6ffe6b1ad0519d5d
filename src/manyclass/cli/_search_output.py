"""What `manyclass search` found: as a table, as JSON, as a CSV file, and as one picture with a row for each query."""

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.text import shorten
from manyclass.cli._console import Console

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.search import Hits

_SIDE, _MARGIN = 128, 6  # pixels of a picture on a sheet, and between two of them

_LINE = 14  # pixels of a line of text under a picture

_UNKNOWN, _QUERY = 224, 48  # gray of what has no picture, and of the frame of a query

_WORDS = {
    True: "matched: the best is more alike than chance explains",
    False: "no match: chance explains the best score",
    None: "not judged, as the gallery has too few images and knows no unrelated ones",
}


@dataclass(frozen=True)
class Result:
    """One query, with its picture or its id in the gallery where it has one, and the images that it found."""

    query: str
    picture: Path | None
    id: Any
    matched: bool | None
    hits: list[dict[str, Any]]
    p_value: float | None = None

    @property
    def words(self) -> str:
        """Whether it is matched, and how likely a stranger would be."""
        return _WORDS[self.matched] + ("" if self.p_value is None else f" (p = {self.p_value:.3g})")

    def json(self) -> dict[str, Any]:
        """For programs."""
        judged = {"matched": self.matched, "p_value": self.p_value, "words": self.words}
        return {"query": self.query, **judged, "hits": self.hits}


def results_of(
    gallery: "Gallery", names: list[str], pictures: list[Any], hits: "Hits", ids: list[Any] | None = None
) -> list[Result]:
    """The rows of hits, one for every name."""
    none = [None] * len(names)
    matched, p = (none if values is None else values.tolist() for values in (hits.matched, hits.p_values))
    own = ids or none
    return [Result(name, pictures[i], own[i], matched[i], _row(gallery, hits, i), p[i]) for i, name in enumerate(names)]


def _row(gallery: "Gallery", hits: "Hits", i: int) -> list[dict[str, Any]]:
    ids = hits.ids[i].tolist()
    scores, percentiles, expected_false_matches = (
        [None] * len(ids) if values is None else values[i].tolist()
        for values in (hits.scores, hits.percentiles, hits.expected_false_matches)
    )
    records = gallery.metadata(ids)
    return [
        {
            "rank": rank + 1,
            "id": key,
            "score": scores[rank],
            "percentile": percentiles[rank],
            "expected_false_matches": expected_false_matches[rank],
            "metadata": records[rank],
        }
        for rank, key in enumerate(ids)
    ]


def write_results(path: Path, results: list[Result]) -> None:
    """One line per image that was found, whole or not at all."""
    from manyclass._core.files import write_bytes

    known = list(dict.fromkeys(name for one in results for hit in one.hits for name in hit["metadata"]))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    columns = ("rank", "id", "score", "percentile", "expected_false_matches")
    writer.writerow(["query", "matched", "p_value", *columns, *known])
    for one in results:
        for hit in one.hits:
            values = [hit[column] for column in columns] + [hit["metadata"].get(name) for name in known]
            writer.writerow([one.query, one.matched, one.p_value, *values])
    write_bytes(path, file.getvalue().encode("utf-8"))


def print_results(console: Console, results: list[Result]) -> None:
    """A table per query."""
    for one in results:
        known = list(dict.fromkeys(name for hit in one.hits for name in hit["metadata"]))
        rows = [_words(hit, known) for hit in one.hits]
        names, title = ("image", "score", "percentile", *known), f"{one.query}: {one.words}"
        console.columns(names, rows, title, numbers=True)


def _words(hit: dict[str, Any], known: list[str]) -> list[str]:
    percentile = "" if hit["percentile"] is None else f"{hit['percentile']:.1f}"
    values = (hit["metadata"].get(name) for name in known)
    return [str(hit["id"]), f"{hit['score']:.3f}", percentile, *("" if v is None else str(v) for v in values)]


def draw_sheet(path: Path, results: list[Result], folders: list[Path], gallery: Path) -> None:
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


def _sheet_row(one: Result, folders: list[Path], columns: int) -> list[_Place]:
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
