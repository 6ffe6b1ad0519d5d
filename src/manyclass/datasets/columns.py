"""Labels and names in the columns of parquet files, or in the members of an .npz file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data import roles
from manyclass.data.npz import npz_names, read_member
from manyclass.data.parquet import column_names, read_column
from manyclass.datasets.labels import About, as_labels, texts

_WORDS = {"y": roles.LABELS, "names": roles.NAMES, "classes": roles.CLASSES, "split": roles.SPLIT}


def in_npz(path: Path) -> About:
    """The members of an .npz file that say something of its rows."""
    found = _found(npz_names(path))
    return texts({key: as_labels(read_member(path, name), f"{path} member {name!r}") for key, name in found.items()})


def in_parquet(paths: Sequence[Path]) -> About:
    """The columns of parquet files that say something of their rows; the first file says which there are."""
    found = _found(column_names(paths[0]))
    found.pop("classes", None)
    return texts({key: _joined(paths, name) for key, name in found.items()})


def _joined(paths: Sequence[Path], name: str) -> NDArray[Any]:
    return np.concatenate([as_labels(read_column(path, name), f"{path} column {name!r}") for path in paths])


def _found(choices: Sequence[str]) -> dict[str, str]:
    return {key: name for key, words in _WORDS.items() if (name := roles.first_named(words, choices))}
