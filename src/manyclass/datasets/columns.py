"""Labels and names in the columns of parquet files, or in the members of an .npz file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from manyclass.data import roles
from manyclass.data.npz import npz_names, read_member
from manyclass.data.parquet import column_names, plain_column_names, read_column
from manyclass.datasets.finding import Finding
from manyclass.datasets.labels import About, as_labels, joined, tidy

_WORDS = {"y": roles.LABELS, "names": roles.NAMES, "classes": roles.CLASSES, "split": roles.SPLIT}


def in_npz(path: Path) -> list[Finding]:
    """The members of an .npz file that say something of its rows."""
    members = npz_names(path)
    named = {key: roles.first_named(words, members) for key, words in _WORDS.items()}
    return [_member(path, key, name) for key, name in named.items() if name]


def in_parquet(source: Path, paths: Callable[[], Sequence[Path]]) -> list[Finding]:
    """The columns of parquet files that say something of their rows; the first file says which there are."""

    def finding(key: str) -> Finding:
        return Finding((key,), source, lambda: _read_columns(paths(), key))

    return [finding(key) for key in _WORDS if key != "classes"]


def _member(path: Path, key: str, name: str) -> Finding:
    source = f"{path} member {name!r}"
    return Finding((key,), source, lambda: tidy({key: as_labels(read_member(path, name), source)}))


def _read_columns(paths: Sequence[Path], key: str) -> About:
    # A column that can hold such a thing goes before one that has the likelier name but cannot.
    known = (roles.first_named(_WORDS[key], names(paths[0])) for names in (plain_column_names, column_names))
    name = next(filter(None, known), None)
    return tidy({key: joined([read_column(path, name) for path in paths], paths)}) if name else {}
