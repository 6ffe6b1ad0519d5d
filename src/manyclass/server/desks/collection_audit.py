"""CollectionAudit: what an audit found among the pictures of a collection, how it is found, and its file.

The engine is `manyclass.audit`. Labels are what people said, or else what the pictures came with. Pictures that are set
aside take no part, and those of which somebody said that they are right are not suspected again.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import explain_disk_errors, make_folder, write_bytes
from manyclass._core.reading import read_file
from manyclass._core.sealed import seal, unseal
from manyclass._core.text import pluralize
from manyclass._core.typing import ProgressFactory
from manyclass.audit.cosine_join import TooManyPairsError
from manyclass.audit.mislabeled import MOST_COLUMNS, label_errors
from manyclass.audit.near_duplicates import Duplicates, duplicates
from manyclass.audit.outlying import outliers
from manyclass.data.matrix import Matrix
from manyclass.data.views import RowSelection

LABELS, DUPLICATES, OUTLIERS = CHECKS = ("labels", "duplicates", "outliers")

LEAST = 0.05  # the probability from which on a label is suspected, as in the tables of `manyclass audit`

_VERSION = 1

_SHARE = 0.6  # of the memory that is free, which an audit may take


@dataclass(frozen=True)
class Suspect:
    """A label that is likely wrong."""

    number: int
    given: str
    proposed: str
    probability: float


@dataclass(frozen=True)
class NearCopies:
    """Pictures that are nearly the same, and the least cosine of the pairs that make them one group."""

    numbers: list[int]
    similarity: float


@dataclass(frozen=True)
class FarPicture:
    """A picture that is unlike the rest of its class, or of all."""

    number: int
    distance: float
    percentile: float


@dataclass(frozen=True)
class CollectionAudit:
    """What was found, the most suspicious first; None for what was not looked for.

    `event` is the number of the last thing that people had said when it began, and `pictures` tells the ids of the
    collection from others.
    """

    checks: list[str]
    threshold: float
    time: str
    event: int
    pictures: str
    notes: list[str]
    suspects: list[Suspect] | None
    copies: list[NearCopies] | None
    far: list[FarPicture] | None

    def counts(self) -> dict[str, int | None]:
        """How many of each were found."""
        found = (self.suspects, self.copies, self.far)
        return {check: None if those is None else len(those) for check, those in zip(CHECKS, found, strict=True)}

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        with explain_disk_errors(path):
            make_folder(path.parent)
            write_bytes(path, seal({"version": _VERSION, **asdict(self)}))

    @classmethod
    def read(cls, path: Path, ids: Sequence[str]) -> "CollectionAudit":
        """What `save` wrote about pictures of these ids; ValueError for anything else."""
        about = unseal(read_file(path, "record"))
        if about.pop("version", None) != _VERSION:
            raise StorageError("it was written by another version")
        try:
            kinds = (("suspects", Suspect), ("copies", NearCopies), ("far", FarPicture))
            found = {name: about[name] and [kind(**one) for one in about[name]] for name, kind in kinds}
            audit = cls(**{**about, **found})
        except (KeyError, TypeError):
            raise StorageError("it is no audit") from None
        if audit.pictures != ids_digest(ids):
            raise StorageError("the pictures are others since")
        return audit


def ids_digest(ids: Sequence[str]) -> str:
    """What tells the ids of a collection, in their order, from others."""
    return sha256_digest(f"{len(one)} {one}\n" for one in ids)


def audit_collection(
    X: Matrix,
    ids: Sequence[str],
    labels: Sequence[str | None],
    set_aside: frozenset[str],
    kept: frozenset[str],
    *,
    checks: Sequence[str] = CHECKS,
    threshold: float,
    event: int = 0,
    notes: Sequence[str] = (),
    progress: ProgressFactory | None = None,
) -> CollectionAudit:
    """Look for what is wrong with pictures, whose features are rows of X, by number."""
    said = list(notes)
    numbers = np.array([number for number, one in enumerate(ids) if one not in set_aside], np.intp)
    labeled = np.array([number for number in numbers.tolist() if labels[number] is not None], np.intp)
    y = np.array([labels[number] for number in labeled.tolist()], np.str_)
    of_classes = len(np.unique(y)) > 1
    if LABELS in checks and not of_classes:
        said.append("labels are not of two classes or more, so that wrong ones were not looked for")
    if of_classes and len(labeled) < len(numbers):
        said.append(
            f"{pluralize(len(numbers) - len(labeled), 'picture')} without a label took part in duplicates alone"
        )
    results: dict[str, Any] = {}
    if LABELS in checks and of_classes:
        results["suspects"] = _suspects(X, labeled, y, ids, kept, progress)
    if DUPLICATES in checks and len(numbers):
        try:
            pairs = duplicates(RowSelection(X, numbers), threshold=threshold, progress=progress)
            results["copies"] = _copies(pairs, numbers)
        except TooManyPairsError as error:
            said.append(f"duplicates were left out: {error}")
    if OUTLIERS in checks and len(numbers):
        rows, classes = (labeled, y) if of_classes else (numbers, None)
        results["far"] = _far(X, rows, classes, ids, kept, progress)
    return CollectionAudit(
        list(checks),
        threshold,
        datetime.now(UTC).isoformat(timespec="seconds"),
        event,
        ids_digest(ids),
        said,
        **{name: results.get(name) for name in ("suspects", "copies", "far")},
    )


def _suspects(
    X: Matrix,
    rows: NDArray[np.intp],
    y: NDArray[np.str_],
    ids: Sequence[str],
    kept: frozenset[str],
    progress: ProgressFactory | None,
) -> list[Suspect]:
    errors = label_errors(RowSelection(X, rows), y, progress=progress)
    return [
        Suspect(
            int(rows[row]), str(errors.given[row]), str(errors.proposed[row]), round(float(errors.probability[row]), 6)
        )
        for row in errors.ranked(LEAST).tolist()
        if ids[rows[row]] not in kept
    ]


def _copies(found: Duplicates, rows: NDArray[np.intp]) -> list[NearCopies]:
    """Groups, those that are surely copies first, and of those that are as sure the largest."""
    groups = found.groups()
    group_of = {int(row): number for number, members in enumerate(groups) for row in members}
    least = [1.0] * len(groups)
    for (row, _), cosine in zip(found.pairs.tolist(), found.similarities.tolist(), strict=True):
        least[group_of[row]] = min(least[group_of[row]], cosine)
    copies = [
        NearCopies(rows[members].tolist(), round(cosine, 6)) for members, cosine in zip(groups, least, strict=True)
    ]
    return sorted(copies, key=lambda group: (-group.similarity, -len(group.numbers), group.numbers[0]))


def _far(
    X: Matrix,
    rows: NDArray[np.intp],
    y: NDArray[np.str_] | None,
    ids: Sequence[str],
    kept: frozenset[str],
    progress: ProgressFactory | None,
) -> list[FarPicture]:
    found = outliers(RowSelection(X, rows), y, progress=progress)
    return [
        FarPicture(int(rows[row]), round(float(found.distance[row]), 6), round(float(found.percentile[row]), 4))
        for row in found.ranked().tolist()
        if ids[rows[row]] not in kept
    ]


def is_affordable(X: Matrix) -> bool:
    """Whether there is memory for an audit of these rows: they are copied as float32, and machines take squares."""
    n, d = X.shape
    side = min(n, d)
    needed = 8 * n * d + (32 * side**2 if side <= MOST_COLUMNS else 0)
    return needed < _SHARE * _free_memory()


def _free_memory() -> int:
    """Bytes that can be taken without others being put to disk; of the whole memory where nobody says."""
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
