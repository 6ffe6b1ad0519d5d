"""Fronts of folders."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import manyclass
from manyclass._core.lazy import FOLDERS, HOMES, find_public, lazy_exports

ROOT = Path(manyclass.__file__).parent

FRONTS = sorted(
    ".".join(file.parent.relative_to(ROOT).parts)
    for file in ROOT.rglob("__init__.py")
    if file.parent != ROOT and "lazy_exports" in file.read_text()
)


@pytest.mark.parametrize("name", sorted(HOMES))
def test_every_public_name_has_the_home_that_the_table_says(name):
    thing = find_public(name)
    assert (thing.__name__, thing.__module__) == (name, f"manyclass.{HOMES[name]}")


def test_a_front_finds_its_names_and_no_others():
    find, names, exported = lazy_exports("manyclass.penalties", {"Gauge": "penalty"})
    assert find("TraceNorm") is sys.modules["manyclass.penalties.norms"].TraceNorm
    assert find("Gauge") is sys.modules["manyclass.penalties.penalty"].Gauge
    assert names() == exported == ["Gauge", "GroupNorm", "L1Norm", "Ridge", "TraceNorm"]
    with pytest.raises(AttributeError, match=r"^module 'manyclass.penalties' has no attribute 'Quantum'$"):
        find("Quantum")


def test_a_function_that_is_called_as_its_module_is_no_name_of_the_folder():
    assert "write_features" not in import_module("manyclass.features.extraction").__all__
    assert "write_features" in import_module("manyclass.features").__all__


@pytest.mark.parametrize("folder", FRONTS)
def test_what_a_front_exports_is_there(folder):
    front = import_module(f"manyclass.{folder}")
    for name in front.__all__:
        assert getattr(getattr(front, name), "__name__", name) == name


@pytest.mark.parametrize("folder", FRONTS)
def test_a_front_says_no_home_again(folder):
    source = Path(import_module(f"manyclass.{folder}").__file__).read_text()
    below = [name for name, home in HOMES.items() if home.startswith(f"{folder}.")]
    assert [name for name in below if f'"{name}":' in source] == []


def test_folders_are_names_of_the_folders_above_them():
    names = [folder.split(".") for folder in FRONTS]
    lines = [f"mc.{'.'.join(name)}" for name in names if name[0] in FOLDERS]
    subprocess.run([sys.executable, "-c", "import manyclass as mc\n" + "\n".join(lines)], check=True)
