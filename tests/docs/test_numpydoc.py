"""Docstrings of public names are numpydoc, which editors and Sphinx read."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import pytest

import manyclass

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


def fronts() -> Iterator[ModuleType]:
    """The package and every folder below it that exports names."""
    yield manyclass
    for found in pkgutil.walk_packages(manyclass.__path__, "manyclass."):
        if found.ispkg and hasattr(front := importlib.import_module(found.name), "__all__"):
            yield front


def public_names() -> Iterator[str]:
    """Classes and functions that a front exports, each once, under the shortest of its names.

    Registries and types of arrays are values, which take no docstring.
    """
    seen: set[int] = set()
    for front in sorted(fronts(), key=lambda front: (front.__name__.count("."), front.__name__)):
        for name in front.__all__:
            thing = getattr(front, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{front.__name__}.{name}"


def with_members(name: str) -> Iterator[str]:
    """A name and, of a class, its public methods and properties that have docstrings of their own.

    An override without one has that of the method that it overrides, which is checked where it stands. An enumeration
    is made of values, and a protocol is never made: they take no parameters.
    """
    home, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(home), last)
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return
    if not getattr(thing, "_is_protocol", False):
        yield name
    for member in dir(thing) if inspect.isclass(thing) else ():
        home = next((cls for cls in thing.__mro__ if member in vars(cls)), None)
        if OTHERS.match(member) or home is None or not home.__module__.startswith("manyclass"):
            continue
        found, documented = vars(home)[member], inspect.getdoc(getattr(thing, member))
        described = isinstance(found, property) or callable(getattr(thing, member))
        if described and (found.__doc__ or not documented):
            yield f"{name}.{member}"


def errors(name: str) -> Iterator[str]:
    for code, message in numpydoc.validate(name)["errors"]:
        if code not in IGNORED:
            yield f"{name} {code} {message}"


def test_docstrings_of_public_names_are_numpydoc():
    names = {member for name in public_names() for member in with_members(name)}
    assert [error for name in sorted(names) for error in errors(name)] == []


def test_the_fronts_of_all_folders_are_read():
    names = set(public_names())
    assert {"manyclass.Gallery", "manyclass.losses.Softmax", "manyclass.solvers.batch.duality_gap"} <= names
