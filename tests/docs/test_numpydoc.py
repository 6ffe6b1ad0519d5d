"""Docstrings of public names are numpydoc, which editors and Sphinx read."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum

import pytest

import manyclass
from manyclass._core.lazy import FOLDERS

numpydoc = pytest.importorskip("numpydoc.validate")

# Private names, and what scikit-learn puts into every estimator for its metadata routing.
OTHERS = re.compile(r"_|set_\w+_request$")
IGNORED = {
    "GL01": "the summary begins on the opening line",
    "ES01": "a summary that says everything needs no more text",
    "EX01": "examples stand where they explain something, mostly on classes",
    "SA01": "related names are linked where the text mentions them",
    "SS06": "a summary may need two lines of 120 characters",
    "YD01": "numpydoc takes a decorator with yield for a generator",
}


def public_names() -> Iterator[str]:
    """Of the package, and of the fronts of its folders what the package does not export itself."""
    yield from set(manyclass.__all__) - {"__version__"}
    for folder in FOLDERS:
        exported = set(getattr(manyclass, folder).__all__) - set(manyclass.__all__)
        yield from (f"{folder}.{name}" for name in exported)


def with_members(name: str) -> Iterator[str]:
    """A name and, of a class, its public methods and properties that have docstrings of their own.

    An override without one has that of the method that it overrides, which is checked where it stands. An enumeration
    is made of values, which take no parameters.
    """
    thing = manyclass
    for part in name.split("."):
        thing = getattr(thing, part)
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return
    yield f"manyclass.{name}"
    for member in dir(thing) if inspect.isclass(thing) else ():
        home = next((cls for cls in thing.__mro__ if member in vars(cls)), None)
        if OTHERS.match(member) or home is None or not home.__module__.startswith("manyclass"):
            continue
        found, documented = vars(home)[member], inspect.getdoc(getattr(thing, member))
        described = isinstance(found, property) or callable(getattr(thing, member))
        if described and (found.__doc__ or not documented):
            yield f"manyclass.{name}.{member}"


def errors(name: str) -> Iterator[str]:
    for code, message in numpydoc.validate(name)["errors"]:
        if code not in IGNORED:
            yield f"{name} {code} {message}"


def test_docstrings_of_public_names_are_numpydoc():
    names = {member for name in public_names() for member in with_members(name)}
    assert [error for name in sorted(names) for error in errors(name)] == []
