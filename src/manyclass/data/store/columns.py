"""Labels, splits and names of rows, from what users give to the arrays of a segment."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.store.manifest import Manifest

_MOST_SPLITS = 256  # a split is one byte

_PIECE = 1 << 16  # strings


@dataclass(frozen=True)
class StoreColumns:
    """The arrays of a segment by role, and the words that labels and splits stand for."""

    arrays: dict[str, NDArray[Any]]
    classes: list[str] | None
    splits: list[str] | None

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())


def collect_columns(
    n: int, y: Any, names: Any, classes: Any, split: Any, before: Manifest | None = None
) -> StoreColumns:
    """The columns of n rows. After a store's earlier rows (`before`) they must be the same columns, and words that are
    new to it come after its own."""
    if before:
        _check_same(before, {"y": y, "names": names, "split": split})
    if y is None and classes is not None:
        raise ValueError("classes need labels; pass y too")
    arrays: dict[str, NDArray[Any]] = {}
    words = splits = None
    if y is not None:
        arrays["y"], words = _labels(_column(y, "y", n), _class_names(classes), before)
    if split is not None:
        arrays["split"], splits = _split_codes(_column(split, "split", n), before)
    if names is not None:
        arrays["names"], arrays["name_offsets"] = encode_names(_column(names, "names", n))
    return StoreColumns(arrays, words, splits)


def concatenate_columns(parts: Sequence[StoreColumns]) -> StoreColumns:
    """The columns of rows that follow one another, as those of all rows together would be: words are sorted anew,
    unless all parts that have rows have the same, which may have been given in an order of their own."""
    classes = _common_words(parts, "y", [part.classes for part in parts])
    splits = _common_words(parts, "split", [part.splits for part in parts])
    arrays: dict[str, NDArray[Any]] = {}
    for role, first in parts[0].arrays.items():
        pieces = [part.arrays[role] for part in parts]
        if role == "y" and classes is not None:
            pieces = [_renumbered(part.arrays[role], part.classes, classes) for part in parts]
        elif role == "split":
            pieces = [_renumbered(part.arrays[role], part.splits, splits) for part in parts]
        elif role == "name_offsets":
            ends = np.cumsum([0, *(piece[-1] for piece in pieces)])
            pieces = [*(piece[:-1] + end for piece, end in zip(pieces, ends, strict=False)), ends[-1:]]
        arrays[role] = np.concatenate(pieces).astype(first.dtype)
    return StoreColumns(arrays, classes, splits)


def _common_words(parts: Sequence[StoreColumns], role: str, words: list[list[str] | None]) -> list[str] | None:
    # Parts without rows do not know whether labels are words.
    known = [own for part, own in zip(parts, words, strict=True) if len(part.arrays.get(role, ()))] or words[:1]
    if known[0] is None or all(own == known[0] for own in known):
        return known[0]
    return sorted({word for own in known for word in own or []})


def _renumbered(codes: NDArray[Any], own: list[str] | None, words: list[str] | None) -> NDArray[np.int64]:
    """Positions in the words of a part as positions in those of all."""
    position = {word: i for i, word in enumerate(words or [])}
    moved: NDArray[np.int64] = np.array([position[word] for word in own or []], np.int64)[codes]
    return moved


def _check_same(before: Manifest, columns: dict[str, Any]) -> None:
    for name, values in columns.items():
        if before.has(name) and values is None:
            raise ValueError(f"{name} must be given, since the existing rows have it")
        if not before.has(name) and values is not None:
            raise ValueError(f"{name} must be left out, since the existing rows have none")


def _column(values: Any, name: str, n: int) -> Any:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} must be a sequence with one entry per row; got {type(values).__name__}")
    if len(values) != n:
        raise ValueError(f"{name} must have one entry per row of X ({n}); got {len(values)}")
    return values


def _class_names(classes: Any) -> list[str] | None:
    if classes is None:
        return None
    words = _strings(classes, "classes")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise ValueError(f"classes must be distinct; got {twice!r} twice")
    return words


def _labels(y: Any, classes: list[str] | None, before: Manifest | None) -> tuple[NDArray[np.int64], list[str] | None]:
    if isinstance(next(iter(y), None), str):
        return _word_labels(y, classes, before)
    classes = before.classes if before else classes
    labels = np.asarray(y) if len(y) else np.zeros(0, np.int64)
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise ValueError(f"labels must be integers, or strings; got dtype {labels.dtype}")
    least, most = (0, len(classes)) if classes is not None else (-(2**63), 2**63)
    wrong = (labels < least) | (labels > most - 1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"labels must be integers in [{least}, {most}); got {labels[row]} at row {row}")
    return labels.astype(np.int64, copy=False), classes


def _word_labels(
    labels: Sequence[str], classes: list[str] | None, before: Manifest | None
) -> tuple[NDArray[np.int64], list[str]]:
    if before and before.classes is None:
        raise ValueError("labels must be integers, like those of the existing rows; got strings")
    known = before.classes if before else classes
    positions, words = _encode_words(labels, "labels", known)
    if classes is not None and len(words) > len(classes):
        row = int(np.flatnonzero(positions >= len(classes))[0])
        word = next(islice(labels, row, None))  # not labels[row], as a Series is asked for a name so
        raise ValueError(f"labels must be among the {len(classes)} classes; got {str(word)!r} at row {row}")
    return positions, words


def _split_codes(split: Any, before: Manifest | None) -> tuple[NDArray[np.uint8], list[str]]:
    positions, splits = _encode_words(split, "split", before.splits if before else None)
    if len(splits) > _MOST_SPLITS:
        raise ValueError(f"split must name at most {_MOST_SPLITS} parts; got {len(splits)}")
    return positions.astype(np.uint8), splits


def _encode_words(words: Sequence[Any], name: str, known: list[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    """Positions of words in the vocabulary, and the vocabulary: what is known, then what is new, sorted."""
    known = known or []
    new = {word for words_here in _strings_in_pieces(words, name) for word in words_here} - set(known)
    vocabulary = [*known, *sorted(new)]
    position = {word: i for i, word in enumerate(vocabulary)}
    found = (position[word] for words_here in _strings_in_pieces(words, name) for word in words_here)
    return np.fromiter(found, np.int64, len(words)), vocabulary


def _strings(values: Sequence[Any], name: str) -> list[str]:
    return [word for words in _strings_in_pieces(values, name) for word in words]


def _strings_in_pieces(values: Sequence[Any], name: str) -> Iterator[list[str]]:
    """The strings, some at a time: as objects, those of an array take several times its memory."""
    each, first = iter(values), 0
    while words := list(islice(each, _PIECE)):
        for row, word in enumerate(words, first):
            if not isinstance(word, str):
                raise ValueError(f"{name} must be strings throughout; got {word!r} at row {row}")
        yield [str(word) for word in words]
        first += len(words)


def encode_names(names: Iterable[str | os.PathLike[str]]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(bytes, offsets) of names, each a string or a path; those of a store have them."""
    if hasattr(names, "arrays"):
        return names.arrays()  # type: ignore[no-any-return]
    encoded = [_encode(name, row) for row, name in enumerate(names)]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def _encode(name: Any, row: int) -> bytes:
    try:
        text = os.fspath(name)
        return text.encode("utf-8", "surrogateescape")  # type: ignore[no-any-return]
    except (TypeError, AttributeError, UnicodeEncodeError):
        raise ValueError(f"names must be strings or paths; got {name!r} at row {row}") from None
