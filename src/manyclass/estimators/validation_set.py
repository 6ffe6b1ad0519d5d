"""The validation set that users give."""

from typing import Any

from manyclass.data.inputs import open_examples
from manyclass.estimators.labels import known_labels
from manyclass.solvers.problem import Problem


def validation_problem(estimator: Any, validation: Any) -> Problem:
    """(X, y), with the columns and classes of the estimator, as a problem; errors speak of `validation`."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        size = f" of {len(validation)}" if isinstance(validation, tuple | list) else ""
        raise ValueError(f"validation must be (X, y); got {type(validation).__name__}{size}")
    X, y = validation
    try:
        matrix = open_examples(estimator, X)
        codes = known_labels(y, estimator.classes_, len(matrix))
    except (ValueError, TypeError) as error:
        raise type(error)(f"validation must be (X, y) like those of fit: {error}") from error
    return Problem.whole(matrix, codes, len(estimator.classes_))
