"""Every public name is in the reference, and nothing of others."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

import manyclass
from manyclass._core.lazy import FOLDERS

DOCS = Path(__file__).parents[2] / "docs"
LISTED = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE))


def public_names() -> set[str]:
    names = set(manyclass.__all__) - {"__version__"}
    for folder in FOLDERS:
        names |= {f"{folder}.{name}" for name in getattr(manyclass, folder).__all__ if name not in names}
    return names


def extension(name: str):
    """A module of docs/extensions."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference():
    assert public_names() - LISTED == set()


@pytest.mark.parametrize("name", sorted(LISTED))
def test_every_entry_of_the_reference_is_there(name):
    *folders, last = name.split(".")
    home = importlib.import_module(".".join(["manyclass", *folders]))
    assert getattr(home, last).__doc__


@pytest.mark.parametrize("name", ["command_reference", "inherited_members", "linked_names", "root_pages"])
def test_the_examples_of_the_extensions_give_what_they_show(name):
    assert doctest.testmod(extension(name)).failed == 0


def test_what_another_library_adds_to_a_class_is_left_out():
    skip, classifier = extension("inherited_members").skip, manyclass.StochasticClassifier
    assert skip(None, "class", "get_params", classifier.get_params, False, {}) is True
    assert skip(None, "class", "fit", classifier.fit, False, {}) is None
