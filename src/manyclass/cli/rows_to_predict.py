"""The rows that `manyclass predict` is given: of files of features, of pictures, or of folders of either."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass.cli.examples import RowNames
from manyclass.cli.reading import read_source

_PICTURES_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Block:
    """X (m, d), a Matrix or an array, and the names of its rows."""

    X: Any
    names: Sequence[str]


def pictures_among(inputs: Sequence[Path]) -> dict[Path, list[str]]:
    """For every input that is a picture or a folder of them, the paths of the pictures."""
    from manyclass.datasets.image_files import PICTURES

    found = {}
    for path in inputs:
        if not path.exists():
            raise FileNotFoundError(f"no file or folder at {path}")
        if path.suffix.lower() in PICTURES and path.is_file():
            found[path] = [str(path)]
        elif path.is_dir() and not _holds_features(path):
            found[path] = _pictures_below(path)
    return found


def _holds_features(folder: Path) -> bool:
    from manyclass.data.layouts import layout_of

    try:
        return bool(layout_of(folder))
    except ValueError:
        return False


def _pictures_below(folder: Path) -> list[str]:
    from manyclass.datasets.image_files import PICTURES, found_files

    names = [name for name in found_files(folder).files if name.lower().endswith(PICTURES)]
    if not names:
        raise ValueError(f"{folder} must hold features or pictures; it holds none")
    return [os.path.join(folder, name) for name in names]


def feature_blocks(source: Path, check: Callable[[Any, Path], None], size: int) -> Iterator[Block]:
    """The rows of a file or folder of features, `size` at a time."""
    import numpy as np

    features = read_source(source, "none")
    check(features.X, source)
    for start in range(0, features.X.shape[0], size):
        index = np.arange(start, min(features.X.shape[0], start + size))
        yield Block(features.X.part(slice(start, start + size)), RowNames(features.names, index))


def picture_blocks(paths: Sequence[str], encoder: Any, bad: Callable[[str, str], None]) -> Iterator[Block]:
    """The rows of pictures, some at a time; `bad` is told of those that cannot be read, and why."""
    import numpy as np

    from manyclass.features.encoding import Encoding

    for start in range(0, len(paths), _PICTURES_AT_ONCE):
        some = paths[start : start + _PICTURES_AT_ONCE]
        encoding = Encoding(some, encoder, getattr(encoder, "max_pixels", 100_000))
        outcomes = [outcome for chunk in encoding.outcomes(encoding.chunks()) for outcome in chunk]
        for outcome in outcomes:
            if outcome.row is None:
                bad(some[outcome.position], str(outcome.reason))
        rows = {some[outcome.position]: outcome.row for outcome in outcomes if outcome.row is not None}
        if rows:
            yield Block(np.stack(list(rows.values())), list(rows))
