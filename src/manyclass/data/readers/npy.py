"""Arrays in .npy files, memory-mapped, and folders of them."""

import os
import re
import resource
from collections.abc import Sequence
from pathlib import Path

from manyclass._core.reading import map_npy
from manyclass.data.dense import DenseMatrix, open_array
from manyclass.data.matrix import Matrix
from manyclass.data.readers.as_matrix import visible_files
from manyclass.data.views import ShardedMatrix

# Words in the name of a file that holds something about the rows, rather than the rows.
_NOT_FEATURES = {"labels", "label", "y", "targets", "target", "names", "classes", "split"}


def open_npy(path: str | os.PathLike[str]) -> DenseMatrix:
    """The rows of an .npy file, memory-mapped read-only."""
    return open_array(map_npy(path), path)


def open_npy_shards(folder: Path) -> Matrix:
    """The .npy files of a folder as one matrix, in the order of the numbers in their names: 0, 1, 2, 10.

    Files of labels, names, classes or split are left out.
    """
    return stack(npy_shards(folder))


def _allow_open_files(n_files: int) -> None:
    """Raise the limit of this process as far as it may be raised: every mapped file counts as an open one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n_files + 256
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def stack(paths: Sequence[Path]) -> Matrix:
    """The rows of several .npy files, which must agree in their columns and dtype."""
    _allow_open_files(len(paths))
    matrices = [open_npy(path) for path in paths]
    first = matrices[0]
    for path, matrix in zip(paths, matrices, strict=True):
        if matrix.shape[1] != first.shape[1]:
            d = first.shape[1]
            raise ValueError(f"{path} must have {d} columns, as {paths[0].name} has; got {matrix.shape[1]}")
        if matrix.array.dtype != first.array.dtype:
            dtype = first.array.dtype
            raise ValueError(f"{path} must have dtype {dtype}, as {paths[0].name} has; got {matrix.array.dtype}")
    return first if len(matrices) == 1 else ShardedMatrix(matrices)


def npy_shards(folder: Path) -> list[Path]:
    """The .npy files of a folder that hold rows, in the order of their numbers; they must form one series."""
    series: dict[str, list[Path]] = {}
    for path in visible_files(folder, ".npy"):
        if not _NOT_FEATURES & set(words(path)):
            series.setdefault(re.sub(r"\d+", "N", path.name), []).append(path)
    if len(series) != 1:
        got = ", ".join(sorted(series)) or "none"
        raise ValueError(f"{folder} must hold one series of .npy files of features; got {got}; open one file instead")
    return by_number(next(iter(series.values())))


def by_number(paths: Sequence[Path]) -> list[Path]:
    """Paths in the order of the integers in their names, and then by name."""
    return sorted(paths, key=lambda path: (numbers(path), path.name))


def numbers(path: Path) -> tuple[int, ...]:
    """The integers in the name of a file.

    >>> numbers(Path("emb-00007-of-00010.npy"))
    (7, 10)
    """
    return tuple(int(digits) for digits in re.findall(r"\d+", path.stem))


def words(path: Path) -> list[str]:
    """The words in the name of a file, in lower case.

    >>> words(Path("y_train_03.npy"))
    ['y', 'train']
    """
    return re.findall(r"[a-z]+", path.stem.lower())
