"""What `manyclass search` found, for people and for programs."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass.cli.columns import print_columns

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.hits import Hits

_WORDS = {
    True: "matched: the best is more alike than chance explains",
    False: "no match: chance explains the best score",
    None: "not judged, as the gallery knows no unrelated images",
}


@dataclass(frozen=True)
class Result:
    """One query, with its picture or its id in the gallery where it has one, and the images that it found."""

    query: str
    picture: Path | None
    id: Any
    matched: bool | None
    hits: list[dict[str, Any]]

    def json(self) -> dict[str, Any]:
        """For programs."""
        return {"query": self.query, "matched": self.matched, "words": _WORDS[self.matched], "hits": self.hits}


def results_of(
    gallery: "Gallery", names: list[str], pictures: list[Any], hits: "Hits", ids: list[Any] | None = None
) -> list[Result]:
    """The rows of hits, one for every name."""
    own, matched = ids or [None] * len(names), [None] * len(names) if hits.matched is None else hits.matched.tolist()
    return [Result(name, pictures[i], own[i], matched[i], _row(gallery, hits, i)) for i, name in enumerate(names)]


def _row(gallery: "Gallery", hits: "Hits", i: int) -> list[dict[str, Any]]:
    ids = hits.ids[i].tolist()
    scores, percentiles, chances = (
        [None] * len(ids) if values is None else values[i].tolist()
        for values in (hits.scores, hits.percentiles, hits.false_matches)
    )
    records = gallery.metadata(ids)
    return [
        {
            "rank": rank + 1,
            "id": key,
            "score": scores[rank],
            "percentile": percentiles[rank],
            "false_matches": chances[rank],
            "metadata": records[rank],
        }
        for rank, key in enumerate(ids)
    ]


def write_results(path: Path, results: list[Result]) -> None:
    """One line per image that was found, whole or not at all."""
    from manyclass import _atomic

    known = list(dict.fromkeys(name for one in results for hit in one.hits for name in hit["metadata"]))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    columns = ("rank", "id", "score", "percentile", "false_matches")
    writer.writerow(["query", "matched", *columns, *known])
    for one in results:
        for hit in one.hits:
            values = [hit[column] for column in columns] + [hit["metadata"].get(name) for name in known]
            writer.writerow([one.query, one.matched, *values])
    _atomic.write_bytes(path, file.getvalue().encode("utf-8"))


def print_results(results: list[Result]) -> None:
    """A table per query."""
    for one in results:
        known = list(dict.fromkeys(name for hit in one.hits for name in hit["metadata"]))
        rows = [_words(hit, known) for hit in one.hits]
        print_columns(f"{one.query}: {_WORDS[one.matched]}", ("image", "score", "percentile", *known), rows)


def _words(hit: dict[str, Any], known: list[str]) -> list[str]:
    percentile = "" if hit["percentile"] is None else f"{hit['percentile']:.1f}"
    values = (hit["metadata"].get(name) for name in known)
    return [str(hit["id"]), f"{hit['score']:.3f}", percentile, *("" if v is None else str(v) for v in values)]
