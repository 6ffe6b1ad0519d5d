"""A method that fails or is interrupted leaves the estimator as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def rollback_on_error(method: F) -> F:
    """Put back all attributes of the estimator when the method raises anything, Ctrl-C included.

    The method must replace what it learns and not write into it, but it may append to lists.
    """

    @wraps(method)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        lengths = [(values, len(values)) for values in before.values() if isinstance(values, list)]
        try:
            return method(estimator, *args, **kwargs)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            for values, length in lengths:
                del values[length:]
            raise

    return cast(F, guarded)
