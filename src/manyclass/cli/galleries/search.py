"""manyclass search: what in a gallery is like this? Asked by pictures, rows of features, or images of the gallery.

What was found is told as a table, as JSON, as a CSV file, and as one picture with a row for each query.
"""

import csv
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from manyclass._core.text import did_you_mean, shorten
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Threads, check_printable, out_option, path_argument, path_option

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.search import Hits

_FEATURES = (".npy", ".npz", ".parquet", ".pq")  # files that are no pictures

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
    caution: str | None = None
    copy: bool = False

    @property
    def words(self) -> str:
        """Whether it is matched, and how likely a stranger would be; or why nobody can say."""
        if self.copy:
            return "matched: the best has the same features"
        if self.caution is not None:
            return f"not judged: {self.caution}"
        return _WORDS[self.matched] + ("" if self.p_value is None else f" (p = {self.p_value:.3g})")

    def json(self) -> dict[str, Any]:
        """For programs."""
        judged = {"matched": self.matched, "p_value": self.p_value, "words": self.words}
        return {"query": self.query, **judged, "hits": self.hits}


@report_errors("nothing was changed")
def search(
    gallery: Annotated[Path, path_argument("A gallery that manyclass encode wrote.")],
    queries: Annotated[
        list[Path] | None, path_argument("Pictures; or features, such as .npy, of which each row asks.", repeated=True)
    ] = None,
    id: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Ask by an image of the gallery; may be repeated.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many images to find for each query.")] = 10,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only images such as class=cat; may be repeated."),
    ] = None,
    out: Annotated[Path | None, out_option("Write what is found to a CSV file.")] = None,
    sheet: Annotated[Path | None, path_option("Draw queries and what they find, a row each, to a picture.")] = None,
    pictures: Annotated[Path | None, path_option("Where the pictures are now; by default where they were.")] = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Find the images of a gallery that are most like a query, best first.

    The percentile says how many of the unrelated images that the gallery knows are less like the query than the image
    is. A query is matched if its best image stands out more than chance explains: p is how often a picture of
    something that is not in the gallery would stand out as much.
    """
    import manyclass as mc
    from manyclass._core.files import check_output

    check_printable(out)
    if sheet is not None:
        check_output(sheet)
    console, paths, ids = Console(json=json), queries or [], id or []
    if not paths and not ids:
        raise typer.BadParameter("a query is missing: a picture, a file of features, or --id")
    with mc.threads(threads):
        opened = mc.Gallery.open(gallery)
        asked = Search(opened, gallery, k, parse_conditions(opened, where or []), console.warn, console.info)
        results = asked.by_files(paths) + (asked.by_ids(ids) if ids else [])
    if out is not None:
        write_results(out, results)
    if sheet is not None:
        draw_sheet(sheet, results, _folders(opened.provenance, pictures), gallery)
    console.json({"gallery": str(gallery), "images": len(opened), "queries": [one.json() for one in results]})
    print_results(console, results)


def _folders(provenance: dict[str, object], pictures: Path | None) -> list[Path]:
    if pictures is not None:
        return [pictures]
    known = provenance.get("pictures")
    return [Path(str(folder)) for folder in known] if isinstance(known, list) else []


@dataclass(frozen=True)
class Search:
    """A gallery at a path, how many images each query finds in it, and what must be true of them."""

    gallery: "Gallery"
    path: Path
    k: int
    where: dict[str, list[Any]] | None
    warn: Callable[[str], None]
    notify: Callable[[str], None]

    def by_files(self, queries: list[Path]) -> list[Result]:
        """What pictures and rows of features find, in the order of the files."""
        results = []
        for group in _groups(queries):
            results += self._by_features(group[0]) if _is_features(group[0]) else self._by_pictures(group)
        return results

    def by_ids(self, words: list[str]) -> list[Result]:
        """What images of the gallery find."""
        from manyclass.runs.galleries.gallery_updates import known_ids

        ids = known_ids(self.gallery, words, self.path)
        hits = self._told(self.gallery.search_ids(ids, self.k, self.where))
        return results_of(self.gallery, [str(key) for key in ids], [None] * len(ids), hits, ids)

    def _by_pictures(self, files: list[Path]) -> list[Result]:
        missing = next((file for file in files if not file.exists()), None)
        if missing is not None:
            raise FileNotFoundError(2, "No such file or directory", str(missing))
        if self.gallery.features is None:
            raise ValueError(
                f"{self.path} cannot be searched by pictures such as {files[0]}, as it does not know what encoded its "
                "own; give features, or make it anew with --encoder"
            )
        hits = self._told(self.gallery.search_images(files, self.k, self.where))
        return results_of(self.gallery, [str(file) for file in files], files, hits)

    def _by_features(self, file: Path) -> list[Result]:
        X, names = _rows(file, self.warn)
        width = self.gallery.n_features_in_
        if width not in (None, X.shape[1]):
            raise ValueError(f"{file} must have {width} columns, as {self.path} has; got {X.shape[1]}")
        hits = self._told(self.gallery.search(X, self.k, self.where))
        return results_of(self.gallery, names, [None] * len(names), hits)

    def _told(self, hits: "Hits") -> "Hits":
        """Hits, of which a user knows what they promise."""
        if self.where is not None and hits.matched is not None and hits.caution is None:
            self.notify(
                "a filtered search is judged by the unrelated images alone, which strangers of one kind deceive"
            )
        return hits


def _groups(queries: list[Path]) -> Iterator[list[Path]]:
    """Pictures that follow each other together, as they are encoded in parallel; files of features one by one."""
    pictures: list[Path] = []
    for query in queries:
        if not _is_features(query):
            pictures.append(query)
            continue
        if pictures:
            yield pictures
        yield [query]
        pictures = []
    if pictures:
        yield pictures


def _is_features(path: Path) -> bool:
    return path.suffix.lower() in _FEATURES or path.is_dir()


def _rows(file: Path, warn: Callable[[str], None]) -> tuple[Any, list[str]]:
    """Rows that ask, and names for them; a file of one vector is one row."""
    from manyclass._core.reading import map_npy
    from manyclass.runs.sources import read_source

    if file.suffix.lower() == ".npy" and file.exists():
        array = map_npy(file)
        if array.ndim == 1:
            return array[None], [str(file)]
    features = read_source(file, warn=warn)
    if features.names is not None:
        return features.X, [str(name) for name in features.names]
    n = features.X.shape[0]
    return features.X, [f"{file} row {i}" for i in range(n)] if n > 1 else [str(file)]


def parse_conditions(gallery: "Gallery", words: list[str]) -> dict[str, list[Any]] | None:
    """Values that images must have by name, one of those that are given for it; None without conditions."""
    wanted: dict[str, list[Any]] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"--where must be NAME=VALUE, such as class=cat; got {word}")
        wanted.setdefault(name, []).extend(_values(value))
    _check(gallery, wanted)
    return wanted or None


def _values(text: str) -> list[Any]:
    """The text, and the number that it may stand for."""
    try:
        return [text, float(text)]
    except ValueError:
        return [text]


def _check(gallery: "Gallery", wanted: dict[str, list[Any]]) -> None:
    """Refuse names and values that no image has: more likely a slip than a wish to find nothing."""
    if not wanted or not len(gallery):
        return
    records = gallery.metadata(gallery.ids)
    for name, values in wanted.items():
        if name not in records[0]:
            known = ", ".join(records[0]) or "nothing"
            raise ValueError(f"--where must name what is known of images ({known}); got {name}")
        there = {record[name] for record in records if isinstance(record[name], str | int | float)}
        if not there.intersection(values):
            hint = did_you_mean(str(values[0]), sorted(map(str, there)))
            raise ValueError(f"--where must leave some images; none has {name}={values[0]}{hint}")


def results_of(
    gallery: "Gallery", names: list[str], pictures: list[Any], hits: "Hits", ids: list[Any] | None = None
) -> list[Result]:
    """The rows of hits, one for every name."""
    none = [None] * len(names)
    judged = hits.matched, hits.p_values, hits.copies
    matched, p, copies = (none if values is None else values.tolist() for values in judged)
    own = ids or none
    return [
        Result(name, pictures[i], own[i], matched[i], _row(gallery, hits, i), p[i], hits.caution, bool(copies[i]))
        for i, name in enumerate(names)
    ]


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
