"""The house: which room may import which, and how large rooms and files may be, read from the syntax trees.

ARCHITECTURE.md draws what is kept here.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "manyclass"
FILES = sorted(SOURCE.rglob("*.py"))

# What a room may import of ours, besides itself and `_core`, which all share and which knows nobody.
MAY_IMPORT: dict[str, set[str]] = {
    "_core": set(),
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
    "audit": {"estimators", "exemplar", "features", "retrieval", "datasets", "evaluation", "solvers", "data"},
    "runs": {"audit", "estimators", "exemplar", "features", "retrieval", "datasets", "evaluation", "solvers", "data"},
    "report": {"runs", "evaluation", "features"},
    "cluster": {"estimators", "exemplar", "features", "retrieval", "datasets", "evaluation", "solvers", "data"},
}
MAY_IMPORT["server"] = set(MAY_IMPORT) - {"cluster"}
MAY_IMPORT["cli"] = set(MAY_IMPORT)
ROOMS = set(MAY_IMPORT)
# Libraries behind an extra, or slow to load: imported by the function that needs them.
HEAVY = {"cvxpy", "faiss", "fontTools", "fsspec", "matplotlib", "onnxruntime", "pandas", "pyarrow", "ray"}
# Rooms that users meet as objects of scikit-learn's kind.
ESTIMATORS = {"estimators", "exemplar", "features"}

MOST_MODULES, MOST_LINES, FEWEST_LINES = 18, 400, 40
ALIAS = re.compile(r"[A-Z][a-z]\w*")  # constants have capitals only
# Files that are shorter and still a thing of their own.
SHORT = {"__main__.py", "_core/typing.py", "cli/main.py", "cli/report.py"}

# Modules without a test file of their name, and where their promises are tested.
TESTED_ELSEWHERE = {
    "__main__.py": "cli/test_main.py",
    "_core/typing.py": "types alone, which mypy checks",
    "losses/loss.py": "abstract: contracts/loss.py, by way of test_multiclass.py",
    "estimators/shared/kernel_machines.py": "abstract: test_shared_structure.py, test_multi_task.py",
    "exemplar/linear_encoder.py": "abstract: test_encoder.py and the encoders that derive from it",
    "retrieval/storage/open.py": "what was saved is opened: test_save.py",
    "retrieval/storage/segments.py": "what was saved is opened: test_save.py",
}


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


def is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def broken_rules(module: str, source: str) -> set[str]:
    """What a module, such as "data.store.writer", imports and should not."""
    tree = ast.parse(source)
    home = module.split(".")
    room = home[0] if len(home) > 1 else "cli" if module == "__main__" else ""
    forbidden = ROOMS - {room, "_core"} - MAY_IMPORT.get(room, set())
    broken = set()
    for name in imports(tree):
        parts = name.split(".")
        if name.startswith("."):
            broken.add(f"a relative import of {name}")
        if parts[:2] == ["sklearn", "base"] and room not in ESTIMATORS:
            broken.add("sklearn.base")
        if room == "evaluation" and parts[0] == "sklearn":
            broken.add(parts[0])
        if parts[0] != "manyclass":
            continue
        if forbidden.intersection(parts[1:2]):
            broken.add(f"manyclass.{parts[1]}")
        # The file below a folder may be private to that folder; `_core` and the compiled `_native` are nobody's.
        for i, part in enumerate(parts[2:], 2):
            if is_private(part) and parts[1:i] != home[: i - 1]:
                broken.add(f"the private {'.'.join(parts[: i + 1])}")
    # Arrays are scored with NumPy alone; a reader of a file of MATLAB's may ask scipy for it.
    late = HEAVY | {"scipy"} if room == "evaluation" else HEAVY
    for statement in at_module_level(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            broken |= {name.split(".")[0] for name in imports(statement)} & late
    return broken


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def shown(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_a_file_imports_only_what_its_room_may():
    broken = {shown(path): broken_rules(module_of(path), path.read_text()) for path in FILES}
    assert {path: rules for path, rules in broken.items() if rules} == {}


def test_every_room_has_its_place_in_the_house():
    assert {path.relative_to(SOURCE).parts[0] for path in FILES} - {"__init__.py", "__main__.py"} == ROOMS


def test_a_room_is_seen_at_a_glance():
    modules = Counter(shown(path.parent) for path in FILES if path.name != "__init__.py")
    assert {room: count for room, count in modules.items() if count > MOST_MODULES} == {}


def test_a_file_is_a_thing_and_no_sliver():
    lines = {shown(path): len(path.read_text().splitlines()) for path in FILES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}
    short = {path for path, count in lines.items() if count < FEWEST_LINES and not path.endswith("__init__.py")}
    assert short <= SHORT


def test_every_folder_has_a_front_that_says_what_is_in_it():
    silent = []
    for folder in {path.parent for path in FILES} - {SOURCE}:
        words = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        silent += [shown(path) for path in folder.glob("[!_]*.py") if not re.search(rf"\b{path.stem}\b", words)]
    assert silent == []


def names_of_types(tree: ast.Module) -> Iterator[str]:
    """Classes anywhere, and public aliases of types, such as `Floats = NDArray[np.floating[Any]]`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name) and ALIAS.fullmatch(one.id))


def test_a_class_or_type_has_one_home():
    homes = defaultdict(list)
    for path in FILES:
        for name in names_of_types(ast.parse(path.read_text())):
            homes[name].append(shown(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_a_file_name_has_one_folder():
    # A command and the module of the library that it calls may share a name.
    names = Counter(path.name for path in FILES if path.name != "__init__.py" and not shown(path).startswith("cli/"))
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_nothing_public_is_hidden_by_a_module_of_its_name():
    """A name that a front exports would turn into a module, once somebody imports that."""
    hidden = []
    for folder in {path.parent for path in FILES} - {SOURCE}:
        front = ast.parse((folder / "__init__.py").read_text())
        words = {node.value for node in ast.walk(front) if isinstance(node, ast.Constant)}
        keys = {key.value for node in ast.walk(front) if isinstance(node, ast.Dict) for key in node.keys}
        hidden += [shown(path) for path in folder.glob("*.py") if path.stem in keys & words]
    assert hidden == []


def test_tests_are_where_one_looks_for_them():
    """tests/data/test_dense.py, or test_dense_something.py, is for data/dense.py.

    A private module may be tested by way of the public one beside it, which is its only user.
    """
    missing = set()
    for path in FILES:
        folder, name = TESTS / path.relative_to(SOURCE).parent, path.stem.strip("_")
        found = any(re.fullmatch(rf"test_{name}(_\w+)?", file.stem) for file in folder.glob("test_*.py"))
        if not found and not is_private(path.stem) and path.name != "__init__.py":
            missing.add(shown(path))
    assert missing == set(TESTED_ELSEWHERE)


@pytest.mark.parametrize(
    ("module", "source", "broken"),
    [
        ("data.dense", "from manyclass._core import checks\nfrom manyclass.data.matrix import Matrix", set()),
        ("data.dense", "from manyclass import _native", set()),
        ("data.dense", "from manyclass.losses.hinge import Hinge", {"manyclass.losses"}),
        ("data.dense", "def f():\n    from manyclass import datasets", {"manyclass.datasets"}),
        ("data.dense", "HOMES = {'x': 'manyclass.solvers.fista'}", {"manyclass.solvers"}),
        ("_core.models", "from manyclass.data.matrix import Matrix", {"manyclass.data"}),
        ("solvers.problem", "from manyclass.data.matrix import Matrix", set()),
        ("retrieval.gallery", "import manyclass.cli.main", {"manyclass.cli"}),
        ("estimators.stochastic", "from manyclass import report", {"manyclass.report"}),
        ("runs.training", "from manyclass.cli.train import train", {"manyclass.cli"}),
        ("runs.training", "from manyclass.estimators.linear_model import LinearModel", set()),
        ("report.page", "from manyclass.runs.records import read_record", set()),
        ("audit.outlying", "from manyclass.runs.records import read_record", {"manyclass.runs"}),
        ("__init__", "import manyclass.data", {"manyclass.data"}),
        ("cli.train", "from manyclass import datasets, report", set()),
        ("cli.train", "from manyclass.cli.terminal.console import Console", set()),
        ("cli.demo.command", "from manyclass.cli.terminal.console import Console", set()),
        ("cli.train", "from manyclass.exemplar._svm_solvers import f", {"the private manyclass.exemplar._svm_solvers"}),
        ("exemplar.svm", "from manyclass.exemplar import _svm_solvers", set()),
        (
            "datasets.dataset",
            "from .glyphs import glyphs",
            {"a relative import of .glyphs", "a relative import of .glyphs.glyphs"},
        ),
        ("datasets.dataset", "import pyarrow.parquet as pq", {"pyarrow"}),
        ("datasets.dataset", "try:\n    import faiss\nexcept ImportError:\n    pass", {"faiss"}),
        ("datasets.dataset", "def f():\n    import pyarrow", set()),
        ("data.dense", "from sklearn.base import BaseEstimator", {"sklearn.base"}),
        ("estimators.batch", "from sklearn.base import BaseEstimator", set()),
        ("exemplar.encoder", "from sklearn.base import TransformerMixin", set()),
        ("exemplar.calibration", "from manyclass.evaluation.ranking import area_of", set()),
        ("estimators.batch", "from manyclass.evaluation.ranking import area_of", {"manyclass.evaluation"}),
        ("features.onnx.network", "from sklearn.base import TransformerMixin", set()),
        ("exemplar.linear", "from manyclass.estimators.linear_model import LinearModel", {"manyclass.estimators"}),
        ("evaluation.ranking", "import scipy.stats", {"scipy"}),
        ("evaluation.ranking", "def f():\n    from scipy.io import loadmat", set()),
        ("evaluation.ranking", "def f():\n    import sklearn.metrics", {"sklearn"}),
    ],
)
def test_the_rules_notice_what_breaks_them(module, source, broken):
    assert broken_rules(module, source) == broken
