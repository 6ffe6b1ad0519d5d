"""What holds for the package as a whole."""

import ast
import doctest
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import manyclass

SOURCE = Path(manyclass.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = ["manyclass", *(module.name for module in pkgutil.walk_packages(manyclass.__path__, "manyclass."))]
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec"}


@pytest.mark.parametrize("name", manyclass.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name):
    thing = getattr(manyclass, name)
    assert name == "__version__" or (thing.__doc__ or "").strip()


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'manyclass' has no attribute 'Nothing'"):
        manyclass.Nothing  # noqa: B018


def test_importing_the_package_loads_no_large_library():
    large = {"scipy", "sklearn", "faiss", "pyarrow", "matplotlib", "pandas", "typer", "PIL"}
    code = f"import sys, manyclass; print(*sorted({large!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def unsafe(source: str) -> Iterator[str]:
    """Whatever could run code that a file holds."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        elif isinstance(node, ast.ImportFrom):
            yield from {(node.module or "").split(".")[0]} & UNSAFE_MODULES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from {node.func.id} & UNSAFE_CALLS
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield "allow_pickle"


def test_no_file_of_a_user_can_run_code():
    found = {str(path.relative_to(SOURCE)): list(unsafe(path.read_text())) for path in FILES}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("from joblib import load", ["joblib"]),
        ("eval('1')", ["eval"]),
        ("np.load(f, allow_pickle=True)", ["allow_pickle"]),
        ("np.load(f, allow_pickle=trust)", ["allow_pickle"]),
        ("np.load(f, allow_pickle=False)", []),
        ("model.eval()", []),
    ],
)
def test_what_is_unsafe_is_noticed(source, found):
    assert list(unsafe(source)) == found


def test_examples_in_docstrings_give_what_they_show():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = {name: doctest.testmod(import_module(name), optionflags=flags) for name in MODULES}
    assert {name: result.failed for name, result in done.items() if result.failed} == {}
    assert sum(result.attempted for result in done.values()) > len(MODULES)
