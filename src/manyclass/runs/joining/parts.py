"""Part: a folder that holds one part of a whole; and the check that parts are all of one whole.

Parts are known by what they say of themselves, never by their names or their order.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NoReturn, Self

from manyclass._core.errors import StorageError
from manyclass._core.shards import SHARD, Shard, ShardRecord

_MOST_NAMED = 5  # missing parts in a sentence; the others are counted

# What to do where parts differ in this.
_WAYS_OUT = {
    "features.encoder": "; machines may learn differently from the same images: learn in one, and give its encoder to "
    "the others by `kind`",
    "features.images": "; all parts must see the same images, with the same names and sizes",
    "labels": "; the same folders, and the same `test_fraction`, must be given for all parts",
    "versions": "; make all parts with the same versions",
}


@dataclass(frozen=True)
class Part:
    """A folder, and what its provenance says of the whole; `count` is how many things it has accounted for.

    `option` is the argument that made it a part.
    """

    path: Path
    record: ShardRecord
    count: int
    option: str = "shard"

    @classmethod
    def of(cls, path: Path, provenance: dict[str, Any], count: int, option: str = "shard") -> Self:
        """The part in a folder, which must be as it was made."""
        if SHARD not in provenance:
            raise StorageError(f"{path} is no part: it was made without `{option}`, and is whole as it is")
        try:
            record = ShardRecord.from_json(provenance[SHARD])
        except StorageError as error:
            raise StorageError(f"{path} cannot be read as a part: {error}") from None
        if count != record.stop - record.first:
            wanted = record.stop - record.first
            things = "images" if option == "shard" else option
            raise StorageError(f"{path} was changed since it was made: it has {count:,} of its {wanted:,} {things}")
        return cls(path, record, count, option)

    @property
    def shard(self) -> Shard:
        return self.record.shard


def in_order(parts: Iterable[Part]) -> list[Part]:
    """All parts of one whole in their order; StorageError if one is missing, there twice, or of another whole."""
    found = sorted(parts, key=lambda part: part.shard.number)
    first = found[0]
    for other in found[1:]:
        _check_same(first, other)
    for a, b in pairwise(found):
        if a.shard == b.shard:
            raise StorageError(f"{a.path} and {b.path} are both part {a.shard}; leave one of them out")
    if len(found) < first.shard.count:
        raise StorageError(_missing(first.shard.count, {part.shard.number for part in found}))
    ends = [0, *(part.record.stop for part in found)]
    for part, start in zip(found, ends, strict=False):
        if part.record.first != start:
            raise StorageError(f"{part.path} must begin at {start}, where the part before it ends; make it again")
    if ends[-1] != first.record.total:
        raise StorageError(f"the parts must have all {first.record.total:,}; they end at {ends[-1]:,}; make them again")
    return found


def _check_same(first: Part, other: Part) -> None:
    if first.shard.count != other.shard.count:
        raise StorageError(
            f"{first.path} is part {first.shard} and {other.path} is part {other.shard}; "
            f"give parts that were made by the same n of `{first.option}`"
        )
    key = _difference(first.record.whole, other.record.whole)
    if key is None and first.record.total != other.record.total:
        key = "total"
    if key is not None:
        refuse_other(first.path, other.path, key, _value(first.record.whole, key), _value(other.record.whole, key))


def refuse_other(first: Path, other: Path, key: str, a: Any = None, b: Any = None) -> NoReturn:
    """Say what one part has otherwise than another."""
    words = key.rpartition(".")[2].replace("_", " ")
    shown = f" ({a} and {b})" if all(isinstance(x, int | float | str) and len(str(x)) < 40 for x in (a, b)) else ""
    way_out = next((words for start, words in _WAYS_OUT.items() if key.startswith(start)), "")
    raise StorageError(f"{first} and {other} are not parts of one whole: they differ in {words}{shown}{way_out}")


def _difference(a: dict[str, Any], b: dict[str, Any], above: str = "") -> str | None:
    """The first key, with dots between those above it, under which two dictionaries differ."""
    for key in sorted({*a, *b}):
        x, y = a.get(key), b.get(key)
        if isinstance(x, dict) and isinstance(y, dict):
            if found := _difference(x, y, f"{above}{key}."):
                return found
        elif x != y:
            return f"{above}{key}"
    return None


def _value(whole: Any, key: str) -> Any:
    for word in key.split("."):
        whole = whole.get(word) if isinstance(whole, dict) else None
    return whole


def _missing(count: int, there: set[int]) -> str:
    # Of a count that somebody mistyped, by far the most are.
    absent = islice((number for number in range(1, count + 1) if number not in there), _MOST_NAMED)
    shown = [f"{number}/{count}" for number in absent]
    more = count - len(there) - len(shown)
    if not more and len(shown) == 1:
        return f"part {shown[0]} is missing; make it, and give it with the others"
    words = ", ".join(shown) + f" and {more:,} more" if more else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"parts {words} are missing; make them, and give them with the others"
