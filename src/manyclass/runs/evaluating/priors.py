"""Priors of classes as users name them: a word, a file of shares, or a dictionary; and the sizes of classes."""

import csv
import os
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from manyclass._core.errors import SettingsError
from manyclass._core.files import expand_home
from manyclass._core.reading import read_text
from manyclass._core.typing import Notify

UNIFORM, TRAINING = "uniform", "training"

Prior = str | os.PathLike[str] | Mapping[str, float]


def set_prior(model: Any, prior: Prior | None) -> None:
    """Give a classifier that prior; None leaves the one that it has."""
    if prior is None:
        return
    if not hasattr(model, "set_prior"):
        raise ValueError(f"`prior` needs a classifier that takes one; got a {type(model).__name__}")
    if getattr(model, "has_several_labels", False):
        raise ValueError("`prior` is for one label per row, and this classifier has several")
    wanted = read_prior(prior)
    if isinstance(wanted, dict):
        # Labels in files are text, whatever the classes are.
        labels = {str(label): label for label in model.classes_.tolist()}
        wanted = {labels.get(name, name): share for name, share in wanted.items()}
    model.set_prior(wanted)


def read_prior(prior: Prior) -> Any:
    """What `set_prior` of a classifier takes: "uniform", None for "training", or shares by the names of classes."""
    if isinstance(prior, Mapping):
        return {str(label): share for label, share in prior.items()}
    if prior in (UNIFORM, TRAINING):
        return UNIFORM if prior == UNIFORM else None
    path = expand_home(prior)
    if not path.exists():
        raise SettingsError(
            f"`prior` must be {UNIFORM}, {TRAINING}, or a CSV file of class and share; there is no file at {path}"
        )
    return _read_shares(path)


def _read_shares(path: Path) -> dict[str, float]:
    """Lines of a class and a number; a first line without a number is a heading."""
    shares: dict[str, float] = {}
    for number, line in enumerate(csv.reader(StringIO(read_text(path, "labels"))), start=1):
        if not line:
            continue
        try:
            label, share = line[0], float(line[1])
        except (IndexError, ValueError):
            if number == 1:
                continue
            raise ValueError(
                f"{path} must have a class and a number on every line; got {','.join(line)!r} on line {number}"
            ) from None
        if label in shares:
            raise ValueError(f"{path} must have every class once; got {label!r} again on line {number}")
        shares[label] = share
    return shares


def prior_name(prior: Prior | None) -> str | None:
    """What a record calls it.

    >>> prior_name("uniform"), prior_name({"cat": 1.0, "dog": 2.0}), prior_name(None)
    ('uniform', 'given', None)
    """
    return None if prior is None else "given" if isinstance(prior, Mapping) else os.fspath(prior)


def class_sizes(model: Any, run: dict[str, Any] | None) -> dict[str, int] | None:
    """The rows of each class that a classifier learned from; None where neither it nor its run says."""
    counts = getattr(model, "class_counts_", None)
    if counts is not None and len(counts) == len(model.classes_):
        return {str(label): size for label, size in zip(model.classes_.tolist(), counts.tolist(), strict=True)}
    training = (run or {}).get("training")
    return {one["class"]: one["rows"] for one in training["per_class"]} if training else None


def change_with_prior(model: Any, change: Callable[[], Any], warn: Notify) -> None:
    """Change the classes of a classifier by a call that forgets its prior, and set that again, where it can be.

    An even prior is even among other classes too, and of fewer classes shares stay in proportion.
    """
    shares = dict(zip(model.classes_.tolist(), model.prior_.tolist(), strict=True)) if hasattr(model, "prior_") else {}
    change()
    if not shares:
        return
    classes = model.classes_.tolist()
    if len(set(shares.values())) == 1:
        model.set_prior(UNIFORM)
    elif shares.keys() >= set(classes):
        model.set_prior({label: shares[label] for label in classes})
    else:
        warn("the prior of the run has no number for classes that are new, and was left out; predict with another one")
