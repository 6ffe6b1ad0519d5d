"""Rows with several labels: LabelPairs, as users have them, and LabelLists, as positions of classes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelLists:
    """The classes of n rows: those of row i are ``classes[starts[i] : starts[i + 1]]``, ascending and different.

    A row may have none. The layout is that of a sparse matrix by rows whose entries are all 1.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n + 1,)
        Where the classes of every row begin, and where those of the last end.
    classes : ndarray of int32 of shape (m,)
        The classes, row after row.

    Examples
    --------
    >>> lists = LabelLists.of_pairs([0, 2, 0], [5, 1, 3], 3)
    >>> lists.starts.tolist(), lists.classes.tolist()
    ([0, 2, 2, 3], [3, 5, 1])
    """

    starts: NDArray[np.int64]
    classes: NDArray[np.int32]

    @classmethod
    def of_pairs(cls, rows: Any, classes: Any, n: int) -> "LabelLists":
        """Make them of pairs of a row and a class, in any order and as often as they come.

        Parameters
        ----------
        rows : array-like of shape (m,)
            The rows, from 0 to n - 1.
        classes : array-like of shape (m,)
            The class of each, from 0 on.
        n : int
            The number of rows.

        Returns
        -------
        LabelLists
            The lists.
        """
        rows, classes = np.asarray(rows, np.int64), np.asarray(classes, np.int64)
        k = int(classes.max(initial=0)) + 1
        pairs = np.unique(rows * k + classes)
        starts = np.searchsorted(pairs, k * np.arange(n + 1, dtype=np.int64)).astype(np.int64)
        return cls(starts, (pairs % k).astype(np.int32))

    @classmethod
    def single(cls, y: Any) -> "LabelLists":
        """Make those of rows that have one class each.

        Parameters
        ----------
        y : array-like of shape (n,)
            The class of every row.

        Returns
        -------
        LabelLists
            The lists.
        """
        y = np.asarray(y, np.int32)
        return cls(np.arange(len(y) + 1, dtype=np.int64), y)

    @classmethod
    def above(cls, scores: NDArray[Any], thresholds: NDArray[Any]) -> "LabelLists":
        """Make those of the classes that score more than their threshold.

        Parameters
        ----------
        scores : ndarray of shape (n, k)
            The scores.
        thresholds : ndarray of shape (k,)
            The thresholds.

        Returns
        -------
        LabelLists
            The lists.
        """
        chosen = scores > thresholds
        return cls(_ends(np.count_nonzero(chosen, axis=1)), np.nonzero(chosen)[1].astype(np.int32))

    @classmethod
    def join(cls, parts: "list[LabelLists]") -> "LabelLists":
        """Put the lists of rows that follow one another together.

        Parameters
        ----------
        parts : list of LabelLists
            The lists.

        Returns
        -------
        LabelLists
            Those of all rows.
        """
        none = np.zeros(0, np.int64)
        counts = np.concatenate([none, *(part.counts for part in parts)])
        return cls(_ends(counts), np.concatenate([none.astype(np.int32), *(part.classes for part in parts)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many classes every row has, an ndarray of shape (n,)."""
        return np.diff(self.starts)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row of every entry of `classes`, an ndarray of shape (m,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts)

    def sizes(self, k: int) -> NDArray[np.intp]:
        """Count the rows of each of k classes.

        Parameters
        ----------
        k : int
            The number of classes.

        Returns
        -------
        ndarray of shape (k,)
            The counts.
        """
        return np.bincount(self.classes, minlength=k)

    def take(self, index: Any) -> "LabelLists":
        """Make the lists of some rows.

        Parameters
        ----------
        index : slice or ndarray of shape (r,)
            The rows, in any order.

        Returns
        -------
        LabelLists
            Their lists.

        Examples
        --------
        >>> LabelLists.of_pairs([0, 2, 0], [5, 1, 3], 3).take(np.array([2, 0])).classes.tolist()
        [1, 3, 5]
        """
        counts = self.counts[index]
        starts = _ends(counts)
        places = np.repeat(self.starts[:-1][index] - starts[:-1], counts) + np.arange(starts[-1])
        return LabelLists(starts, self.classes[places])

    def within(self, first: int, m: int) -> "LabelLists":
        """Make the lists of m classes from the first on, which become the classes 0 to m - 1.

        Parameters
        ----------
        first : int
            The first class.
        m : int
            How many there are.

        Returns
        -------
        LabelLists
            The lists.
        """
        kept = (self.classes >= first) & (self.classes < first + m)
        if kept.all():
            return self if first == 0 else LabelLists(self.starts, self.classes - np.int32(first))
        before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        return LabelLists(before[self.starts], self.classes[kept] - np.int32(first))

    def with_class(self, c: int) -> "LabelLists":
        """Make the lists that have one class more in every row.

        Parameters
        ----------
        c : int
            The class, above all that there are.

        Returns
        -------
        LabelLists
            The lists.
        """
        return LabelLists(
            self.starts + np.arange(len(self.starts)), np.insert(self.classes, self.starts[1:], np.int32(c))
        )

    def hits(self, other: "LabelLists") -> NDArray[np.int64]:
        """Count the classes that each row has in both.

        Parameters
        ----------
        other : LabelLists
            Lists of as many rows.

        Returns
        -------
        ndarray of shape (n,)
            The counts.
        """
        k = 1 + max(int(lists.classes.max(initial=0)) for lists in (self, other))
        pairs, others = (lists.rows * k + lists.classes for lists in (self, other))
        return np.bincount(self.rows[np.isin(pairs, others)], minlength=len(self))

    def are_of(self, classes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which rows are of each of some classes.

        Parameters
        ----------
        classes : ndarray of shape (m,)
            The classes, ascending.

        Returns
        -------
        ndarray of bool of shape (n, m)
            Whether they are.
        """
        places = np.minimum(np.searchsorted(classes, self.classes), len(classes) - 1)
        found = classes[places] == self.classes
        Y = np.zeros((len(self), len(classes)), bool)
        Y[self.rows[found], places[found]] = True
        return Y

    def indicator(self, k: int, dtype: Any = np.bool_) -> NDArray[Any]:
        """Make the matrix that has 1 for the classes of a row and 0 for all others.

        Parameters
        ----------
        k : int
            The number of classes.
        dtype : dtype, default=bool
            The type of its entries.

        Returns
        -------
        ndarray of shape (n, k)
            The matrix.
        """
        Y = np.zeros((len(self), k), dtype)
        Y[self.rows, self.classes] = 1
        return Y


def _ends(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Where lists of these lengths begin, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


class LabelPairs(NamedTuple):
    """Pairs of a row and a label of it, and what they were read from."""

    rows: NDArray[np.int64]  # (m,)
    labels: NDArray[Any]  # (m,)
    n: int
    form: str  # one of FORMS
    columns: int | None  # of an indicator matrix, whose columns are the labels

    @classmethod
    def of(cls, y: Any, name: str = "y") -> "LabelPairs":
        """Read an indicator matrix, dense or sparse, or a list of lists of labels.

        Lists of one length, at least 2, that hold nothing but 0 and 1 are a matrix, as scikit-learn has it.

        >>> LabelPairs.of([["cat", "dog"], [], ["cat"]]).rows.tolist()
        [0, 0, 2]
        >>> LabelPairs.of(np.array([[0, 1, 1], [1, 0, 0]])).labels.tolist()
        [1, 2, 0]
        """
        if hasattr(y, "tocsr"):
            Y = y.tocoo()
            _check_indicator(Y.data, name)
            kept = Y.data != 0
            n, columns = Y.shape
            return cls(Y.row[kept].astype(np.int64), Y.col[kept].astype(np.int64), n, "sparse", columns)
        matrix = _as_indicator(y, name)
        if matrix is not None:
            rows, columns = np.nonzero(matrix)
            return cls(rows.astype(np.int64), columns.astype(np.int64), len(matrix), "indicator", matrix.shape[1])
        lists = [list(row) for row in y]
        labels = np.asarray([label for row in lists for label in row])
        if labels.ndim != 1:
            raise ValueError(f"{name} must hold lists of labels; got labels of shape {labels.shape[1:]}")
        rows = np.repeat(np.arange(len(lists), dtype=np.int64), [len(row) for row in lists])
        return cls(rows, labels, len(lists), "lists", None)


FORMS = ("indicator", "sparse", "lists")


def holds_lists(y: Any) -> bool:
    """Whether y has any number of labels for each row: a matrix of several columns, or lists in a list.

    >>> holds_lists([["cat"], []]), holds_lists(np.eye(3)), holds_lists([1, 2]), holds_lists(np.ones((3, 1)))
    (True, True, False, False)
    """
    if hasattr(y, "tocsr"):
        return True
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        return len(shape) == 2 and shape[1] > 1
    if isinstance(y, str | bytes | dict) or not hasattr(y, "__len__") or not hasattr(y, "__iter__"):
        return False
    if getattr(getattr(y, "dtype", None), "kind", "O") != "O":  # labels of a NumPy array or a column of a table
        return False
    return any(_is_list(row) for row in y)


def _is_list(row: Any) -> bool:
    return isinstance(row, list | tuple | set | frozenset) or (isinstance(row, np.ndarray) and row.ndim == 1)


def _as_indicator(y: Any, name: str) -> NDArray[Any] | None:
    """A matrix, or lists that are one; None for lists of labels."""
    if len(getattr(y, "shape", ())) == 2:
        matrix = np.asarray(y)
        _check_indicator(matrix, name)
        return matrix
    for row in (row for row in y if not _is_list(row)):
        raise ValueError(f"{name} must hold a list of labels for every row; got {row!r}")
    y = list(y)
    if len({len(row) for row in y}) != 1 or len(y[0]) < 2:
        return None
    if any(isinstance(label, str | bytes) for row in y for label in row):
        return None
    matrix = np.asarray([list(row) for row in y])
    return matrix if matrix.dtype.kind in "biuf" and np.isin(matrix, (0, 1)).all() else None


def _check_indicator(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        wrong = next((value for value in values.ravel().tolist() if value not in (0, 1)), None)
        raise ValueError(
            f"{name} with a column for every class must hold 0 and 1; got {wrong!r}; "
            "give labels as a vector, or as a list of lists"
        )
