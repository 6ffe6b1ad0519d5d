"""Parameters that are losses or penalties, as plain values and back, so that a file of a model can hold them."""

from typing import Any

from manyclass.losses.scores import described_loss, loss_of
from manyclass.penalties.by_name import described_penalty, penalty_of


def as_plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Replace losses and penalties among parameters by dictionaries that describe them.

    Parameters
    ----------
    parameters : dict
        The parameters of an estimator.

    Returns
    -------
    dict
        The parameters as values that JSON can hold.

    Examples
    --------
    >>> from manyclass.penalties.trace import TraceNorm
    >>> as_plain({"penalty": TraceNorm(0.5), "loss": "softmax"})
    {'penalty': {'TraceNorm': 0.5}, 'loss': 'softmax'}
    """
    plain = dict(parameters)
    if "penalty" in plain and not isinstance(plain["penalty"], str):
        plain["penalty"] = described_penalty(plain["penalty"])
    if "loss" in plain and not isinstance(plain["loss"], str):
        plain["loss"] = described_loss(plain["loss"])
    return plain


def as_objects(parameters: dict[str, Any]) -> dict[str, Any]:
    """Restore what `as_plain` was given.

    Parameters
    ----------
    parameters : dict
        What `as_plain` returned.

    Returns
    -------
    dict
        The parameters of an estimator.
    """
    objects = dict(parameters)
    if isinstance(objects.get("penalty"), dict):
        objects["penalty"] = penalty_of(objects["penalty"])
    if isinstance(objects.get("loss"), dict):
        objects["loss"] = loss_of(objects["loss"])
    return objects
