"""Answers of several binary tasks as signs, and back."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.estimators.labels import check_labels

Signs = NDArray[np.int8]
# A task is known by its two answers, sorted; the second is the positive one.
Classes = list[NDArray[Any]]


def encode_tasks(y: Any, n: int, unknown: Any) -> tuple[Classes, Signs]:
    """(the two answers of each task, signs (n, t) with 0 where y (n, t) or (n,) is `unknown`)."""
    classes: Classes = []
    answers = list(_columns(y, n))
    signs = np.zeros((n, len(answers)), np.int8)
    for task, column in enumerate(answers):
        known = np.flatnonzero(is_known(column, unknown))
        unsaid = (
            f" besides missing_label={unknown!r}; if that is an answer, pass missing_label=None"
            if len(known) < n
            else ""
        )
        pair, signs[known, task] = _encode(column[known], task, unsaid)
        classes.append(pair)
    return classes, signs


def encode_lists(X: list[Any], y: list[Any]) -> tuple[NDArray[Any], Classes, Signs]:
    """(all rows, the two answers of each task, signs), of tasks that have rows (n_j, d) and answers (n_j,) each."""
    if len(X) != len(y):
        raise ValueError(f"X and y must be lists with one entry per task; got {len(X)} and {len(y)}")
    X = [np.asarray(rows) for rows in X]
    for task, rows in enumerate(X):
        if rows.ndim != 2 or rows.shape[1] != X[0].shape[1]:
            raise ValueError(
                f"X must be a list of arrays (n_j, d) with the same d; got shape {rows.shape} for task {task}"
            )
    ends = np.cumsum([0, *(len(rows) for rows in X)])
    classes: Classes = []
    signs = np.zeros((ends[-1], len(X)), np.int8)
    for task, answers in enumerate(y):
        start, end = ends[task : task + 2]
        pair, signs[start:end, task] = _encode(check_labels(answers, end - start), task)
        classes.append(pair)
    return np.concatenate(X), classes, signs


def decode_tasks(S: NDArray[Any], classes: Classes) -> NDArray[Any]:
    """The answers (n, t) that scores (n, t) give."""
    return np.stack([pair[(s > 0).astype(np.intp)] for pair, s in zip(classes, S.T, strict=True)], axis=1)


def _columns(y: Any, n: int) -> Iterator[NDArray[Any]]:
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim not in (1, 2) or y.shape[-1] == 0:
        raise ValueError(f"y must hold one answer for each row and task, (n, t); got shape {y.shape}")
    if len(y) != n:
        raise ValueError(f"y must have one row per row of X ({n}); got {len(y)}, inconsistent numbers of samples")
    yield from y.T if y.ndim == 2 else [y]


def is_known(y: NDArray[Any], unknown: Any) -> NDArray[np.bool_]:
    """Which answers are there, in an array of any shape; None stands for no answer's being unknown."""
    if unknown is None:
        return np.ones(y.shape, bool)
    # NaN is the one value that differs from itself.
    return np.asarray(y == y if unknown != unknown else y != unknown)


def _encode(answers: NDArray[Any], task: int, unsaid: str = "") -> tuple[NDArray[Any], Signs]:
    pair, codes = np.unique(check_labels(answers, len(answers)), return_inverse=True)
    if len(pair) != 2:
        kinds = "1 class" if len(pair) == 1 else f"{len(pair)} classes"
        rule = f"Only binary classification is supported: task {task} of y must have 2 classes"
        raise ValueError(f"{rule}; got {kinds}{unsaid if len(pair) < 2 else ''}")
    return pair, (2 * codes - 1).astype(np.int8)
