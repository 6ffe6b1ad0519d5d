"""Which folder may import which: the direction that ARCHITECTURE.md draws, read from the syntax trees."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "manyclass"
FILES = sorted(SOURCE.rglob("*.py"))

# What a folder may import of ours, besides itself and the small shared modules, whose names start with an underscore.
MAY_IMPORT: dict[str, set[str]] = {
    "data": set(),
    "losses": set(),
    "penalties": set(),
    "evaluation": set(),
    "solvers": {"data", "losses", "penalties"},
    "estimators": {"solvers", "data", "losses", "penalties"},
    "exemplar": {"solvers", "data", "losses", "penalties", "evaluation"},
    "features": {"data"},
    "retrieval": {"data"},
    "datasets": {"data"},
    "report": {"evaluation", "features"},
}
EVERYTHING = {*MAY_IMPORT, "cli", "server"}
MAY_IMPORT["cli"] = MAY_IMPORT["server"] = EVERYTHING
# Libraries behind an extra, or slow to load: imported by the function that needs them.
HEAVY = {"cvxpy", "faiss", "fontTools", "matplotlib", "onnxruntime", "pandas", "pyarrow", "ray"}


def imports(tree: ast.AST) -> Iterator[str]:
    """Full names of the modules that a tree imports anywhere in it, also by a name in a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"manyclass(\.\w+)+", str(node.value)):
            yield str(node.value)


def at_module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported, those inside `if`, `try` and `class` included."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def broken_rules(folder: str, source: str) -> set[str]:
    """What a file of a folder ('' for the files beside the folders) imports and should not."""
    tree = ast.parse(source)
    forbidden = EVERYTHING - {folder} - MAY_IMPORT.get(folder, set())
    broken = set()
    for name in imports(tree):
        parts = name.split(".")
        if name.startswith("."):
            broken.add(f"a relative import of {name}")
        if parts[0] == "manyclass" and forbidden.intersection(parts[1:2]):
            broken.add(f"manyclass.{parts[1]}")
        if parts[:2] == ["sklearn", "base"] and folder not in {"estimators", "exemplar", "features"}:
            broken.add("sklearn.base")
        if folder == "evaluation" and parts[0] == "sklearn":
            broken.add(parts[0])
    # Arrays are scored with NumPy alone; a reader of a file of MATLAB's may ask scipy for it.
    late = HEAVY | {"scipy"} if folder == "evaluation" else HEAVY
    for statement in at_module_level(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            broken |= {name.split(".")[0] for name in imports(statement)} & late
    return broken


def folder_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_what_its_folder_may(path):
    assert broken_rules(folder_of(path), path.read_text()) == set()


def test_every_folder_has_its_place_in_the_house():
    assert {folder_of(path) for path in FILES} - {""} <= EVERYTHING


@pytest.mark.parametrize(
    ("folder", "source", "broken"),
    [
        ("data", "from manyclass import _checks, _threads\nfrom manyclass.data.matrix import Matrix", set()),
        ("data", "from manyclass.losses.hinge import Hinge", {"manyclass.losses"}),
        ("data", "def f():\n    from manyclass import datasets", {"manyclass.datasets"}),
        ("data", "HOMES = {'x': 'manyclass.solvers.batch.fista'}", {"manyclass.solvers"}),
        ("solvers", "from manyclass.data.matrix import Matrix", set()),
        ("retrieval", "import manyclass.cli.main", {"manyclass.cli"}),
        ("estimators", "from manyclass import report", {"manyclass.report"}),
        ("", "import manyclass.data", {"manyclass.data"}),
        ("cli", "from manyclass import datasets, report", set()),
        (
            "datasets",
            "from .glyphs import glyphs",
            {"a relative import of .glyphs", "a relative import of .glyphs.glyphs"},
        ),
        ("datasets", "import pyarrow.parquet as pq", {"pyarrow"}),
        ("datasets", "try:\n    import faiss\nexcept ImportError:\n    pass", {"faiss"}),
        ("datasets", "def f():\n    import pyarrow", set()),
        ("data", "from sklearn.base import BaseEstimator", {"sklearn.base"}),
        ("estimators", "from sklearn.base import BaseEstimator", set()),
        ("exemplar", "from sklearn.base import TransformerMixin", set()),
        ("exemplar", "from manyclass.evaluation.ranking import area_of", set()),
        ("estimators", "from manyclass.evaluation.ranking import area_of", {"manyclass.evaluation"}),
        ("features", "from sklearn.base import TransformerMixin", set()),
        ("exemplar", "from manyclass.estimators.linear_model import LinearModel", {"manyclass.estimators"}),
        ("evaluation", "import scipy.stats", {"scipy"}),
        ("evaluation", "def f():\n    from scipy.io import loadmat", set()),
        ("evaluation", "def f():\n    import sklearn.metrics", {"sklearn"}),
    ],
)
def test_the_rules_notice_what_breaks_them(folder, source, broken):
    assert broken_rules(folder, source) == broken
