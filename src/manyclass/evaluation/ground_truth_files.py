"""read_truth: the ground truth of Holidays, Oxford, Paris and their revisited forms, as their authors published it.

In the list of images of INRIA Holidays the number of an image tells its group and whether it is the query. The text
files of Oxford and Paris have for every query a line with its box, and lists of good, ok and junk images.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.errors import FileRefusedError
from manyclass._core.files import expand_home
from manyclass._core.reading import get_limits, read_file, read_text
from manyclass._core.safe_pickle import read_pickle
from manyclass.evaluation.ground_truth import Box, Query, Truth, positions_of_names, stem
from manyclass.evaluation.ground_truth_records import truth_from_record
from manyclass.evaluation.mat_files import read_mat


def read_truth(path: str | os.PathLike[str], names: Sequence[str] | None = None) -> Truth:
    """Read the ground truth of Holidays, Oxford, Paris and their revisited forms, as their authors published it.

    Formats are

    - .mat: imlist, qidx or qimlist, and gnd with ok (or easy and hard), junk and bbx, as for Holidays, Oxford5k,
      Paris6k and the revisited sets;
    - .pkl: the same record, read without executing anything that a pickle may ask for;
    - a folder of the text files of Oxford or Paris (x_query.txt, x_good.txt, x_ok.txt, x_junk.txt);
    - any other file: the list of images of Holidays.

    Parameters
    ----------
    path : path-like
        File or folder.
    names : sequence of str, default=None
        Images of the database in the order of the columns of scores, with or without folders and file extensions; those
        that the file lacks are distractors. With None the order is that of the file, which text files of Oxford lack.

    Returns
    -------
    Truth
        Ground truth.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    ValueError
        If it holds no ground truth.
    """
    path = expand_home(path)
    if path.is_dir():
        return read_oxford(path, names)
    if not path.exists():
        raise FileNotFoundError(f"path must be a file or folder of ground truth; {path} is not there")
    truth = _read_file(path)
    return truth if names is None else truth.reordered(names)


def _read_file(path: Path) -> Truth:
    if path.suffix not in (".mat", ".pkl", ".pickle"):
        return read_holidays(path)
    try:
        return (
            truth_from_record(_read_mat(path), first=1)
            if path.suffix == ".mat"
            else truth_from_record(read_pickle(path), first=0)
        )
    except FileRefusedError:
        raise
    except ValueError as error:
        raise ValueError(f"{path} must hold ground truth: {error}") from error


def _read_mat(path: Path) -> Any:
    try:
        return read_mat(read_file(path, "truth"), ("imlist", "qidx", "qimlist", "gnd"), get_limits()["truth"])
    except FileRefusedError:
        raise
    except ValueError as error:
        raise ValueError(f"the .mat file cannot be read ({error})") from error


_GROUP = 100  # numbers of a group; its first one is the query


def read_holidays(path: Path) -> Truth:
    """Truth by a text file of names such as 100000.jpg, one a line; the rest of its group is right for a query."""
    names = [line.strip() for line in read_text(path, "truth", errors="replace").splitlines() if line.strip()]
    try:
        positions_of_names(names)
    except ValueError as error:
        raise ValueError(f"{path} must hold ground truth: {error}") from None
    numbers = np.array([_image_number(name, line, path) for line, name in enumerate(names, 1)], np.int64)
    groups = numbers // _GROUP
    first = np.flatnonzero(numbers % _GROUP == 0)
    if len(without := np.setdiff1d(groups, groups[first])) or not len(first):
        lacking = f"; group {without[0]} has none" if len(without) else "; it is empty"
        raise ValueError(f"{path} must have a query, whose number ends in 00, for every group{lacking}")
    rows = ((int(row), np.setdiff1d(np.flatnonzero(groups == groups[row]), [row])) for row in first)
    return Truth(tuple(names), tuple(Query(names[row], right, row=row) for row, right in rows))


def _image_number(name: str, line: int, path: Path) -> int:
    short = stem(name)
    if not (short.isascii() and short.isdigit() and len(short) < 19):
        raise ValueError(f"{path} must list images by number, such as 100000.jpg; got {name[:40]!r} in line {line}")
    return int(short)


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
    position = positions_of_names(names)
    return Truth(tuple(names), tuple(_query(path, position) for path in queries))


def _query(path: Path, position: Mapping[str, int]) -> Query:
    name, box = _read_query(path)
    good, ok, junk = (_read_names(path, kind) for kind in ("good", "ok", "junk"))
    needed = [*good, *ok, name]
    if missing := [image for image in needed if image not in position]:
        raise ValueError(f"names must hold every image that counts; {missing[0][:60]!r} of {path} is missing")
    right = np.array([position[image] for image in (*good, *ok)], np.intp)
    ignored = np.array([position[image] for image in junk if image in position], np.intp)
    return Query(name, right, junk=ignored, row=position[name], box=box)


def _read_query(path: Path) -> tuple[str, Box]:
    fields = read_text(path, "truth", errors="replace").split()
    try:
        left, top, right, bottom = (float(number) for number in fields[1:])
        return stem(fields[0].removeprefix(_PREFIX)), (left, top, right, bottom)
    except (ValueError, IndexError):
        raise ValueError(f"{path} must hold a name and four numbers, the query's box; got {fields[:6]}") from None


def _read_names(path: Path, kind: str) -> list[str]:
    listed = path.with_name(f"{path.name.removesuffix(_QUERY)}_{kind}.txt")
    if not listed.is_file():
        raise ValueError(f"{path} must have {listed.name} beside it; it is not there")
    return [stem(line) for line in read_text(listed, "truth", errors="replace").splitlines() if line.strip()]
