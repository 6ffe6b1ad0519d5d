"""manyclass search: what in a gallery is like this? Asked by pictures, rows of features, images of the
gallery, or several that are marked.

What was found is told as a table, as JSON, as a CSV file, and as one picture with a row for each query.
"""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyclass._core.text import did_you_mean
from manyclass.cli.galleries.result_sheet import draw_sheet
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Threads, check_printable, out_option, path_argument, path_option

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.search import Hits

_ALPHA = 3.0  # exponent of scores in an expanded query, as in the paper that has it

_FEATURES = (".npy", ".npz", ".parquet", ".pq")  # files that are no pictures


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
        from manyclass.retrieval.significance import verdict

        return verdict(self.matched, self.p_value, self.caution, self.copy)

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
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An image that is wanted, by id or as a picture; all together ask once."),
    ] = None,
    unlike: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="An image that is not wanted; may be repeated.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many images to find for each query.")] = 10,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only images such as class=cat; may be repeated."),
    ] = None,
    expand: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Search again with the query and its N nearest (query expansion)."),
    ] = None,
    rerank: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rank the N best again by the neighbors that they share."),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Search all images, though the gallery has an index.")] = False,
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

    With --expand and --rerank the images are found in a better order, and scores are those of that order.

    Images that are marked by --like and --unlike are one query, which learns what they have in common and apart. It is
    judged by the unrelated images alone, and does not find what is marked.
    """
    import manyclass as mc
    from manyclass._core.files import check_output

    check_printable(out)
    if sheet is not None:
        check_output(sheet)
    console, paths, ids = Console(json=json), queries or [], id or []
    if unlike and not like:
        raise typer.BadParameter("--unlike needs --like, an image that is wanted")
    if like and (expand or rerank):
        raise typer.BadParameter("--like does not go with --expand and --rerank, which improve a query by one image")
    if not paths and not ids and not like:
        raise typer.BadParameter("a query is missing: a picture, a file of features, --id or --like")
    with mc.threads(threads):
        opened = mc.Gallery.open(gallery)
        if exact:
            opened.set_index(None)
        better = improvements(k, expand, rerank)
        asked = Search(opened, gallery, k, parse_conditions(opened, where or []), better, console.warn, console.info)
        results = asked.by_files(paths) + (asked.by_ids(ids) if ids else [])
        results += asked.by_marks(like, unlike or []) if like else []
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


def improvements(k: int, expand: int | None, rerank: int | None) -> dict[str, Any]:
    """How the ranking of a query is improved, as `Gallery.search` takes it; at least what is found is ranked again."""
    from manyclass.retrieval.reranking import KReciprocal, QueryExpansion

    return {
        "expansion": None if expand is None else QueryExpansion(expand, alpha=_ALPHA),
        "reranking": None if rerank is None else KReciprocal(n_candidates=max(k, rerank)),
    }


@dataclass(frozen=True)
class Search:
    """A gallery at a path, how many images each query finds in it, and what must be true of them."""

    gallery: "Gallery"
    path: Path
    k: int
    where: dict[str, list[Any]] | None
    better: dict[str, Any]
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
        hits = self._told(self.gallery.search_ids(ids, self.k, self.where, **self.better))
        return results_of(self.gallery, [str(key) for key in ids], [None] * len(ids), hits, ids)

    def by_marks(self, like: list[str], unlike: list[str]) -> list[Result]:
        """What is like some images and unlike others, as one query."""
        from manyclass.runs.galleries.search_by_marks import search_marked

        wanted, unwanted = (self._marks(words) for words in (like, unlike))
        hits = search_marked(self.gallery, wanted, unwanted, k=self.k, where=self.where)
        name = f"like {', '.join(like)}" + (f", unlike {', '.join(unlike)}" if unlike else "")
        first = wanted[0]
        shown, key = (first, None) if isinstance(first, Path) else (None, first)
        return results_of(self.gallery, [name], [shown], hits, [key])

    def _marks(self, words: list[str]) -> list[Any]:
        """Ids that words stand for, or else the files of pictures that they name."""
        from manyclass.runs.galleries.gallery_updates import known_ids

        def mark(word: str) -> Any:
            try:
                return known_ids(self.gallery, [word], self.path)[0]
            except ValueError:
                if self.gallery.features is None or not Path(word).is_file():
                    raise
                return Path(word)

        return [mark(word) for word in words]

    def _by_pictures(self, files: list[Path]) -> list[Result]:
        missing = next((file for file in files if not file.exists()), None)
        if missing is not None:
            raise FileNotFoundError(2, "No such file or directory", str(missing))
        if self.gallery.features is None:
            raise ValueError(
                f"{self.path} cannot be searched by pictures such as {files[0]}, as it does not know what encoded its "
                "own; give features, or make it anew with --encoder"
            )
        hits = self._told(self.gallery.search_images(files, self.k, self.where, **self.better))
        return results_of(self.gallery, [str(file) for file in files], files, hits)

    def _by_features(self, file: Path) -> list[Result]:
        X, names = _rows(file, self.warn)
        width = self.gallery.n_features_in_
        if width not in (None, X.shape[1]):
            raise ValueError(f"{file} must have {width} columns, as {self.path} has; got {X.shape[1]}")
        hits = self._told(self.gallery.search(X, self.k, self.where, **self.better))
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
