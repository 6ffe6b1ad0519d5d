"""Pictures in parquet files, as Hugging Face keeps data: a column of {"bytes", "path"}, and classes that have names.

Files called train-00000-of-00002.parquet and the like tell the split.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyclass.data.archives.parquet_cells import ParquetCell, PictureColumns, cells_of, picture_columns
from manyclass.data.readers.parquet import read_column
from manyclass.datasets.image_folders import ImageSet, split_of_name, words_of_all
from manyclass.datasets.label_files import composed


def read_picture_tables(source: Path, tables: Sequence[str]) -> ImageSet:
    """The pictures of parquet files below a folder, by their names there, in their order; no picture is read.

    A row is called by its file and its number. Files without a column of pictures are left out, with a notice.
    """
    cells: list[ParquetCell] = []
    names, labels, splits, notices = list[str](), list[str | None](), list[str | None](), list[str]()
    for name in sorted(tables, key=os.fsencode):
        try:
            columns = picture_columns(source / name)
            if columns is None:
                raise ValueError(f"{source / name} must have a column of pictures; it has none")
            found = cells_of(source / name)
            words = _labels(source / name, columns, len(found))
        except (ValueError, OSError) as error:
            notices.append(f"{error}; it is left out")
            continue
        cells += found
        names += [f"{name}/{cell.row}" for cell in found]
        labels += words
        splits += [split_of_name(name)] * len(found)
    if not cells:
        reason = f"; {notices[0]}" if notices else ""
        raise ValueError(f"{source} must hold at least one image in its parquet files; it holds none{reason}")
    y, no_label = words_of_all(names, labels, "labels")
    split, no_split = words_of_all(names, splits, "parts")
    return ImageSet(list(cells), names, None if y is None else composed(y), split, (*notices, *no_label, *no_split))


def _labels(path: Path, columns: PictureColumns, n: int) -> list[str | None]:
    """The label of every row as text; "" for one that has none, -1 by the custom of the hub."""
    if columns.labels is None:
        return [None] * n
    values = read_column(path, columns.labels)
    if columns.names is None or values.dtype.kind == "U":
        return [str(value) for value in values.tolist()]
    return list(_named(path, values, columns.names))


def _named(path: Path, values: NDArray[np.int_], names: Sequence[str]) -> list[str]:
    wrong = np.flatnonzero((values < -1) | (values >= len(names)))
    if len(wrong):
        row = int(wrong[0])
        rule = f"must have labels in [0, {len(names)}), as its schema names classes"
        raise ValueError(f"{path} {rule}; got {int(values[row])} in row {row}")
    return [names[value] if value >= 0 else "" for value in values.tolist()]
