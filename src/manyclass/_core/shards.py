"""Shard: one of n parts of a piece of work, i/n; and ShardRecord, what a part on disk says of itself and of the whole.

Parts are made by processes that do not talk: each finds its own from i, n and what the whole is.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Self

from manyclass._core.errors import SettingsError, StorageError

SHARD = "shard"  # the entry of a provenance under which a part has its record


@dataclass(frozen=True, order=True)
class Shard:
    """Part `number` of `count`, counted from 1.

    >>> Shard.parse("3/16"), str(Shard(1, 2))
    (Shard(number=3, count=16), '1/2')
    """

    number: int
    count: int

    @classmethod
    def parse(cls, value: "Shard | str", name: str = "shard") -> "Shard":
        """The shard of a text such as "3/16"; `name` is the argument that gave it."""
        if isinstance(value, Shard):
            value = str(value)
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", value) if isinstance(value, str) else None
        number, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= count:
            raise SettingsError(f"`{name}` must be i/n with i from 1 to n, such as 3/16; got {value!r}")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def span(self, n: int, multiple: int = 1) -> range:
        """Its share of n things in a row: a range that begins at a multiple, and is empty where there are too few.

        The shares of all shards follow one another, and none has two multiples more than another.

        >>> [Shard(i, 3).span(10, 4) for i in (1, 2, 3)]
        [range(0, 4), range(4, 8), range(8, 10)]
        """
        groups = -(-n // multiple)
        start, stop = ((i * groups // self.count) * multiple for i in (self.number - 1, self.number))
        return range(min(n, start), min(n, stop))


@dataclass(frozen=True)
class ShardRecord:
    """What a part says: which it is, which of all things it has, and what tells the whole from others."""

    shard: Shard
    first: int
    stop: int
    total: int
    whole: dict[str, Any]

    @classmethod
    def of(cls, shard: Shard, span: range, total: int, whole: dict[str, Any]) -> Self:
        """The record of a part that has this span of all things."""
        return cls(shard, span.start, span.stop, total, whole)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The record that a file holds; nothing in it is believed before it is checked."""
        counts = ("number", "count", "first", "stop", "total")
        if not isinstance(value, dict) or set(value) != {*counts, "whole"} or not isinstance(value["whole"], dict):
            raise StorageError(f"a part must be described by {', '.join((*counts, 'whole'))}")
        number, count, first, stop, total = (value[key] for key in counts)
        if not all(type(value[key]) is int for key in counts):
            raise StorageError(f"a part must have whole numbers for {', '.join(counts)}")
        if not (1 <= number <= count and 0 <= first <= stop <= total):
            raise StorageError(f"a part must lie in the whole; got {first} to {stop} of {total} as {number}/{count}")
        return cls(Shard(number, count), first, stop, total, value["whole"])

    def json(self) -> dict[str, Any]:
        """What `from_json` takes."""
        content = asdict(self)
        return {**content.pop("shard"), **content}


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of what bits depend on: manyclass, NumPy and these modules."""
    return {name: str(import_module(name).__version__) for name in ("manyclass", "numpy", *names)}
