"""The few checks that every folder shares, with the sentences in which they refuse, and the seed of a random_state."""

from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_2d(A: ArrayLike, name: str, height: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], bool]:
    """A as a C-ordered, aligned (height, k) array of dtype, and whether it was a vector."""
    A = np.asarray(A)
    if A.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {A.dtype}")
    if A.ndim not in (1, 2) or A.shape[0] != height:
        raise ValueError(f"{name} must have {height} rows; got shape {A.shape}")
    return as_native(A[:, None] if A.ndim == 1 else A, dtype), A.ndim == 1


def as_native(A: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """A as native loops take it: in C order, each number at an address that is a multiple of its size."""
    return np.require(A, dtype, ["C", "A"])


def as_row_index(index: Any, n: int) -> slice | NDArray[np.intp]:
    """A slice of step 1 or an array of positions in [0, n), from anything that NumPy would index rows with."""
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step, dtype=np.intp)
    index = np.asarray(index)
    if index.dtype == bool:
        if index.shape != (n,):
            raise ValueError(f"a mask of rows must have shape ({n},); got {index.shape}")
        return np.flatnonzero(index)
    if index.size == 0:
        return np.zeros(0, np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError(f"rows must be given by a vector of integers; got {index.dtype} of shape {index.shape}")
    index = index.astype(np.intp, copy=False)
    wrong = (index < -n) | (index >= n)
    if wrong.any():
        raise IndexError(f"rows must lie in [0, {n}); got {index[wrong][0]}")
    positions: NDArray[np.intp] = np.where(index < 0, index + n, index)
    return positions


def check_count(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """value as an int in [least, most]."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        span = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be a whole number, {span}; got {value!r}")
    return int(value)


def check_verbose(value: Any) -> None:
    """Refuse what says nothing about how much is to be told."""
    if not isinstance(value, bool | np.bool_):
        check_count(value, "verbose", least=0)


def check_nonnegative(value: Any, name: str) -> float:
    """value as a finite float, at least 0."""
    if not _is_number(value) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number, at least 0; got {value!r}")
    return float(value)


def check_positive(value: Any, name: str) -> float:
    """value as a finite float above 0."""
    if not _is_number(value) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_number(
    value: Any,
    name: str,
    rule: str,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float | None = None,
    besides: tuple[str | None, ...] = (),
) -> None:
    """Refuse a setting that is no number in bounds, with the words of the rule; `besides` are allowed too."""
    # An array has no one answer to what it equals.
    if isinstance(value, str | None) and value in besides:
        return
    inside = _is_number(value) and above < value and least <= value
    if not (inside and (value < below if most is None else value <= most)):
        raise ValueError(f"{name} must be {rule}; got {value!r}")


def check_fraction(value: Any, name: str) -> None:
    """Refuse a setting that is no number between 0 and 1."""
    if not check_positive(value, name) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1; got {value!r}")


def check_bool(value: Any, name: str) -> None:
    """Refuse a setting that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")


def check_callables(value: Any, name: str) -> None:
    """Refuse what is no list of functions."""
    # Not what can be gone through once only, as there may be two phases.
    if not isinstance(value, Collection) or not all(callable(function) for function in value):
        raise ValueError(f"{name} must be a list of functions; got {value!r}")


def check_class_weight(value: Any) -> None:
    """Refuse weights of classes that are none."""
    named = isinstance(value, str) and value == "balanced"
    if not (named or value is None or isinstance(value, dict)):
        raise ValueError(f"class_weight must be None, 'balanced' or a dictionary; got {value!r}")


def check_finite(X: NDArray[Any], name: str, numbers: int | NDArray[np.integer[Any]] = 0) -> None:
    """Refuse NaN and infinity, and say where the first one is; `numbers` are those of the rows, or of the first."""
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row = int(np.flatnonzero(~np.isfinite(X).reshape(len(X), -1).all(axis=1))[0])
        number = numbers + row if isinstance(numbers, int) else numbers[row]
        raise ValueError(f"{name} must hold finite numbers; row {number} has NaN or infinity")


def check_one_of(value: Any, name: str, names: Any) -> None:
    """Refuse a setting that is none of the names."""
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}; got {value!r}")


def check_length(values: Any, n: int, what: str, of: str) -> None:
    """Refuse values that are not as many as the n rows of something."""
    if len(values) != n:
        raise ValueError(f"{what} must have one entry per row of {of} ({n}); got {len(values)}")


def draw_seed(random_state: Any) -> int:
    """A seed drawn from what scikit-learn's users call `random_state`: None, an integer or a RandomState.

    >>> draw_seed(0)
    209652396
    """
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
