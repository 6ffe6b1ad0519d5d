"""What is known of images besides their vectors, as columns of JSON values."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Record = dict[str, Any]


class MetadataColumns:
    """Named columns of equal length; where an image has no value, None.

    >>> columns = MetadataColumns()
    >>> columns.append(2, {"year": [2018, 2019]})
    >>> columns.append(1, [{"place": "Nice"}])
    >>> columns.record(2), columns.record(0)
    ({'year': None, 'place': 'Nice'}, {'year': 2018, 'place': None})
    """

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = {}
        self._n = 0

    def append(self, n: int, metadata: Any) -> None:
        """Add n images; metadata is None, a dict of columns, or a list of dicts, one per image."""
        new = as_metadata(n, metadata)
        for name in [*self.values, *(name for name in new if name not in self.values)]:
            column = self.values.setdefault(name, [None] * self._n)
            column.extend(new.get(name, [None] * n))
        self._n += n

    def record(self, position: int) -> Record:
        """All values of one image."""
        return {name: column[position] for name, column in self.values.items()}

    def select(self, positions: Sequence[int]) -> "MetadataColumns":
        """Some images alone."""
        chosen = MetadataColumns()
        chosen._n = len(positions)
        chosen.values = {name: [column[i] for i in positions] for name, column in self.values.items()}
        return chosen


def as_metadata(n: int, metadata: Any) -> dict[str, list[Any]]:
    """Metadata of n images as columns that JSON can hold."""
    if metadata is None:
        return {}
    columns = _columns(metadata) if isinstance(metadata, Mapping) else _transposed(metadata)
    for name, values in columns.items():
        if not isinstance(name, str):
            raise ValueError(f"metadata must have names that are strings; got {name!r}")
        if len(values) != n:
            raise ValueError(f"metadata must have one value per image ({n}); {name!r} has {len(values)}")
        _check_json(name, values)
    if not columns and not isinstance(metadata, Mapping) and len(metadata) != n:
        raise ValueError(f"metadata must have one dict per image ({n}); got {len(metadata)}")
    return columns


def _columns(metadata: Mapping[Any, Any]) -> dict[Any, list[Any]]:
    wrong = next((name for name, values in metadata.items() if isinstance(values, str) or np.ndim(values) == 0), None)
    if wrong is not None:
        raise ValueError(f"metadata must have a list of values per name; {wrong!r} has {metadata[wrong]!r}")
    return {
        name: values.tolist() if isinstance(values, np.ndarray) else [_plain(value) for value in values]
        for name, values in metadata.items()
    }


def _transposed(metadata: Iterable[Any]) -> dict[Any, list[Any]]:
    records = list(metadata)
    wrong = next((record for record in records if not isinstance(record, Mapping)), None)
    if wrong is not None:
        raise ValueError(f"metadata must be a dict of columns or a list of dicts; got {wrong!r}")
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [_plain(record.get(name)) for record in records] for name in names}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _check_json(name: str, values: list[Any]) -> None:
    try:
        json.dumps(values, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata must be representable in JSON; {name!r} is not ({error})") from None
