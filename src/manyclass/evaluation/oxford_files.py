"""The text files of Oxford and Paris: for every query a line with its box, and lists of good, ok and junk images."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from manyclass.evaluation.names import places, stem
from manyclass.evaluation.truth import Box, Query, Truth

_QUERY = "_query.txt"
_PREFIX = "oxc1_"  # before the names in Oxford's query files, and nowhere else


def read_oxford(folder: Path, names: Sequence[str] | None) -> Truth:
    """Truth by a folder of x_query.txt, x_good.txt, x_ok.txt, x_junk.txt, for images in the order of `names`.

    Good and ok images are right alike. Junk that is not among the names is left out.
    """
    queries = sorted(folder.glob("*" + _QUERY))
    if not queries:
        raise ValueError(f"{folder} must hold ground truth such as all_souls_1{_QUERY}; none is there")
    if names is None:
        raise ValueError(
            "names must list the database's images, which Oxford's and Paris's text files do not; got None"
        )
    place = places(names)
    return Truth(tuple(names), tuple(_query(path, place) for path in queries))


def _query(path: Path, place: Mapping[str, int]) -> Query:
    name, box = _asked(path)
    good, ok, junk = (_listed(path, kind) for kind in ("good", "ok", "junk"))
    needed = [*good, *ok, name]
    if missing := [image for image in needed if image not in place]:
        raise ValueError(f"names must hold every image that counts; {missing[0]!r} of {path.name} is missing")
    right = np.array([place[image] for image in (*good, *ok)], np.intp)
    ignored = np.array([place[image] for image in junk if image in place], np.intp)
    return Query(name, right, junk=ignored, row=place[name], box=box)


def _asked(path: Path) -> tuple[str, Box]:
    fields = path.read_text(encoding="utf-8", errors="replace").split()
    try:
        left, top, right, bottom = (float(number) for number in fields[1:])
        return stem(fields[0].removeprefix(_PREFIX)), (left, top, right, bottom)
    except (ValueError, IndexError):
        raise ValueError(f"{path} must hold a name and four numbers, the query's box; got {fields[:6]}") from None


def _listed(path: Path, kind: str) -> list[str]:
    listed = path.with_name(f"{path.name.removesuffix(_QUERY)}_{kind}.txt")
    if not listed.is_file():
        raise ValueError(f"{path} must have {listed.name} beside it; it is not there")
    return [stem(line) for line in listed.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
