"""Files of two series that belong together by the numbers in their names."""

from collections.abc import Sequence
from pathlib import Path

from manyclass.data.npy import numbers

Numbers = tuple[int, ...]


def partners(features: Sequence[Path], others: Sequence[Path]) -> list[Path]:
    """For every file of features the one of `others` that has its numbers.

    Numbers that all files of one series share may be missing in the other: vit16_emb_3.npy goes with labels_3.npy.

    >>> [path.name for path in partners([Path("emb_0"), Path("emb_3")], [Path(f"labels_{i}") for i in range(4)])]
    ['labels_0', 'labels_3']
    """
    lonely: list[list[Path]] = []
    for mine, theirs in ((_all, _all), (_telling, _all), (_all, _telling)):
        known = _by_numbers(others, theirs(others))
        pairs = [(path, known.get(each)) for path, each in zip(features, mine(features), strict=True)]
        lonely.append([path for path, partner in pairs if partner is None])
        if not lonely[-1]:
            return [partner for _, partner in pairs if partner]
    folder, like, path = others[0].parent, others[0].name, min(lonely, key=len)[0]
    raise ValueError(f"{folder} must have a file like {like} for {path.name}; got none with its number")


def _all(paths: Sequence[Path]) -> list[Numbers]:
    return [numbers(path) for path in paths]


def _telling(paths: Sequence[Path]) -> list[Numbers]:
    """The numbers that tell the files of a series apart; all of them where there is only one file."""
    every = _all(paths)
    if len(every) < 2 or len({len(each) for each in every}) > 1:
        return every
    varies = [len(set(column)) > 1 for column in zip(*every, strict=True)]
    return [tuple(number for number, keep in zip(each, varies, strict=True) if keep) for each in every]


def _by_numbers(paths: Sequence[Path], keys: Sequence[Numbers]) -> dict[Numbers, Path]:
    known: dict[Numbers, Path] = {}
    for path, key in zip(paths, keys, strict=True):
        if known.setdefault(key, path) != path:
            raise ValueError(f"{path.parent} must have one file per number; got {known[key].name} and {path.name}")
    return known
