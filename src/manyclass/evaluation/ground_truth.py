"""Truth: which images of a database are right for which query.

Ground truth and lists of files write the name of the same image differently: names are compared by their `stem`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count
from manyclass.evaluation.labels import as_labels, check_same_kind

Rows = NDArray[np.intp]

Box = tuple[float, float, float, float]


def _no_rows() -> Rows:
    return np.zeros(0, np.intp)


@dataclass(frozen=True, eq=False)
class Query:
    """Ground truth of one query, as rows of the database.

    Where easy and hard images are not distinguished, all that are right are easy.

    Parameters
    ----------
    name : str
        Name of the query.
    easy : array-like of shape (n_easy,)
        Rows of images that are right and easy to find.
    hard : array-like of shape (n_hard,), default=()
        Rows of images that are right and hard to find.
    junk : array-like of shape (n_junk,), default=()
        Rows of images that are neither right nor wrong.
    row : int, default=None
        Row of the query itself; None if it is not in the database.
    box : tuple of 4 floats, default=None
        Region of the query image, (left, top, right, bottom); None for all of it.
    """

    name: str
    easy: Rows
    hard: Rows = field(default_factory=_no_rows)
    junk: Rows = field(default_factory=_no_rows)
    row: int | None = None
    box: Box | None = None

    def __post_init__(self) -> None:
        for kind in ("easy", "hard", "junk"):
            object.__setattr__(self, kind, _check_rows(getattr(self, kind), f"{kind} of query {self.name!r}"))
        if self.row is not None:
            object.__setattr__(self, "row", check_count(self.row, f"row of query {self.name!r}", least=0))
        every = np.concatenate([self.easy, self.hard, self.junk])
        rows, counts = np.unique(every, return_counts=True)
        if (counts > 1).any():
            raise ValueError(
                f"easy, hard and junk must share no row; query {self.name!r} has {rows[counts > 1][0]} more than once"
            )

    @property
    def positives(self) -> Rows:
        """Rows of all images that are right, easy or hard."""
        return np.union1d(self.easy, self.hard)


@dataclass(frozen=True, eq=False)
class Truth:
    """Ground truth of queries against a database.

    Parameters
    ----------
    names : tuple of str
        Names of the images of the database, in the order of the columns of scores.
    queries : tuple of Query
        Queries.

    Examples
    --------
    >>> truth = Truth.from_labels([0, 1], database=[1, 0, 1])
    >>> [query.positives.tolist() for query in truth.queries]
    [[1], [0, 2]]
    """

    names: tuple[str, ...]
    queries: tuple[Query, ...]

    def __post_init__(self) -> None:
        for query in self.queries:
            rows = np.concatenate([query.easy, query.hard, query.junk, [-1 if query.row is None else query.row]])
            if rows.max() >= len(self.names):
                raise ValueError(
                    f"truth must name rows of the database, in [0, {len(self.names)}); "
                    f"query {query.name!r} has {rows.max()}"
                )

    @property
    def boxes(self) -> NDArray[np.float64]:
        """Boxes of the queries, an array of shape (n_queries, 4), NaN for whole images."""
        whole = (np.nan,) * 4
        return np.array([query.box or whole for query in self.queries], np.float64).reshape(-1, 4)

    @classmethod
    def from_labels(cls, queries: ArrayLike, database: ArrayLike, rows: Sequence[int] | None = None) -> "Truth":
        """Make ground truth of labels: images are right if they have the label of the query.

        Parameters
        ----------
        queries : array-like of shape (n_queries,)
            Labels of the queries.
        database : array-like of shape (n_database,)
            Labels of the images.
        rows : sequence of int, default=None
            Rows of the queries in the database, if they are there; a query is not among its own positives.

        Returns
        -------
        Truth
            Ground truth.
        """
        asked, labels = as_labels(queries, "queries"), as_labels(database, "database")
        check_same_kind(asked, labels, "queries", "database")
        own: Sequence[int | None] = [None] * len(asked) if rows is None else rows
        if len(own) != len(asked):
            raise ValueError(f"rows must have one entry per query ({len(asked)}); got {len(own)}")
        alike = (np.flatnonzero(labels == label) for label in asked)
        found = enumerate(zip(alike, own, strict=True))
        asking = tuple(Query(str(i), np.setdiff1d(right, _own(row)), row=row) for i, (right, row) in found)
        return cls(tuple(str(i) for i in range(len(labels))), asking)

    def take(self, queries: ArrayLike) -> "Truth":
        """Select queries, with the same database.

        Parameters
        ----------
        queries : array-like of int
            Positions of the queries.

        Returns
        -------
        Truth
            Ground truth of these queries.
        """
        return replace(self, queries=tuple(self.queries[int(i)] for i in np.atleast_1d(np.asarray(queries))))

    def reordered(self, names: Sequence[str]) -> "Truth":
        """Return the same ground truth for a database in another order, with more images or less junk.

        Parameters
        ----------
        names : sequence of str
            Names of the images of the new database, which are compared without folders and file extensions. Every
            positive must be among them, and every query that was in the database.

        Returns
        -------
        Truth
            Ground truth with rows of the new database.
        """
        position = positions_of_names(names)
        return Truth(tuple(names), tuple(self._reorder_query(query, position) for query in self.queries))

    def _reorder_query(self, query: Query, position: Mapping[str, int]) -> Query:
        easy, hard, own = (
            self._positions(rows, position, query.name) for rows in (query.easy, query.hard, _own(query.row))
        )
        junk = [position[name] for name in (stem(self.names[row]) for row in query.junk) if name in position]
        return replace(query, easy=easy, hard=hard, junk=np.array(junk, np.intp), row=int(own[0]) if len(own) else None)

    def _positions(self, rows: Iterable[int], position: Mapping[str, int], query: str) -> Rows:
        names = [stem(self.names[row]) for row in rows]
        if missing := [name for name in names if name not in position]:
            raise ValueError(f"names must hold every image that counts; {missing[0]!r} is missing, for query {query!r}")
        return np.array([position[name] for name in names], np.intp)


def _own(row: int | None) -> list[int]:
    return [] if row is None else [row]


def _check_rows(values: ArrayLike, name: str) -> Rows:
    """Rows in ascending order, each once, as the official programs count them."""
    rows = np.asarray(values)
    if rows.size == 0:
        return _no_rows()
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.min() < 0:
        raise ValueError(f"{name} must be a vector of rows of the database; got {values!r}")
    return np.unique(rows.astype(np.intp))


_ENDINGS = ("jpg", "jpeg", "png", "webp", "ppm", "pgm", "tif", "tiff", "gif", "bmp")


def stem(name: str) -> str:
    """The name without folders and without the ending of an image file.

    >>> stem("jpg/all_souls_000013.jpg"), stem("all_souls_000013")
    ('all_souls_000013', 'all_souls_000013')
    """
    base = name.strip().replace("\\", "/").rsplit("/", 1)[-1]
    start, dot, ending = base.rpartition(".")
    return start if dot and start and ending.lower() in _ENDINGS else base


def positions_of_names(names: Iterable[str]) -> dict[str, int]:
    """Where every name stands, without folders and endings; refused where two are then the same."""
    found: dict[str, int] = {}
    for i, name in enumerate(names):
        if found.setdefault(stem(name), i) != i:
            raise ValueError(f"names must be distinct without folders and file extensions; got {stem(name)!r} twice")
    return found
