"""What holds for every command."""

import os
import subprocess
import sys

import numpy as np
import pytest

import manyclass
from manyclass.cli.terminal.command_errors import FAILED

COMMANDS = [
    "compress", "demo", "encode", "evaluate", "features", "info", "predict", "report", "search", "train", "verify",
]  # fmt: skip


def test_version_is_that_of_the_package(run):
    assert run("--version").out == f"manyclass {manyclass.__version__}\n"


def test_python_runs_the_package_as_the_command():
    done = subprocess.run([sys.executable, "-m", "manyclass", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"manyclass {manyclass.__version__}\n"


def test_help_names_every_command(run):
    out = run("--help").out
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_teaches_by_an_example(run, command):
    outcome = run(command, "--help")
    assert outcome.code == 0
    assert f"Example: manyclass {command}" in " ".join(outcome.out.split())


@pytest.mark.parametrize("arguments", [("nonsense",), ("info",), ("verify", "a", "b"), ("--nothing",)])
def test_wrong_usage_is_exit_two(run, arguments):
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Usage: manyclass" in outcome.err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("x must be\n  small; got 9"), "manyclass: x must be small; got 9\n"),
        (PermissionError(13, "Permission denied", "x.store"), "manyclass: x.store: permission denied\n"),
        (ImportError('pip install "manyclass[plot]"'), 'manyclass: pip install "manyclass[plot]"\n'),
        (ValueError("x; pass overwrite=True to replace it"), "manyclass: x; add --overwrite to replace it\n"),
    ],
)
def test_known_errors_are_one_line_and_exit_one(run, monkeypatch, error, said):
    outcome = run_failing(run, monkeypatch, error)
    assert (outcome.code, outcome.err) == (FAILED, said)


def test_a_lack_of_memory_is_one_line(run, monkeypatch):
    outcome = run_failing(run, monkeypatch, MemoryError("Unable to allocate 9 TiB"))
    assert outcome.code == 1
    assert "Unable to allocate 9 TiB" in outcome.err


def test_an_interrupted_command_is_exit_130_and_says_what_it_leaves(run, monkeypatch):
    outcome = run_failing(run, monkeypatch, KeyboardInterrupt())
    assert (outcome.code, outcome.err) == (130, "manyclass: interrupted; nothing was changed\n")


@pytest.mark.parametrize("error", [TypeError("a defect"), ModuleNotFoundError("no module x", name="x")])
def test_a_defect_keeps_its_traceback(run, monkeypatch, error):
    with pytest.raises(type(error)):
        run_failing(run, monkeypatch, error)


_INTERRUPTED_IMPORT = """
import sys

wanted = sys.argv.pop(1)


class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            raise KeyboardInterrupt


sys.meta_path.insert(0, Interrupter())
from manyclass.cli.main import main

main()
"""


@pytest.mark.parametrize("module", ["typer", "numpy"])
def test_ctrl_c_while_modules_are_imported_is_exit_130_without_a_traceback(tmp_path, module):
    command = [sys.executable, "-c", _INTERRUPTED_IMPORT, module, "info", tmp_path]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 130
    assert "Traceback" not in process.stderr
    assert process.stderr.startswith("manyclass: interrupted")


def run_failing(run, monkeypatch, error):
    """`manyclass info`, whose work ends in an error."""
    from importlib import import_module

    def fail(*given):
        raise error

    monkeypatch.setattr(import_module("manyclass.cli.info"), "describe", fail)
    return run("info", "anything")


def test_a_command_works_where_all_streams_are_closed(tmp_path):
    npy, store = tmp_path / "X.npy", tmp_path / "X.store"
    np.save(npy, np.zeros((4, 8), np.float32))
    inner = "import sys; from manyclass.cli.main import main; sys.argv[0] = 'manyclass'; main()"
    command = ["sh", "-c", 'exec "$0" "$@" 0<&- 1>&- 2>&-', sys.executable, "-c", inner, "compress", npy]
    subprocess.run([*command, "--kind", "scalar", "-o", store], check=True, timeout=60)
    assert manyclass.open_store(store).shape == (4, 8)


def process(*words, stdout, **more):
    """A command in a process of its own, which prints to a file or pipe; how it ended."""
    command = [sys.executable, "-c", "from manyclass.cli.main import main; main()", *words]
    env = {**os.environ, **more}
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=env, check=False)


@pytest.mark.parametrize(("json", "unbuffered"), [("--json", ""), ("--json", "1"), (None, "")])
@pytest.mark.parametrize("command", ["predict", "info", "verify"])
def test_a_reader_who_has_read_enough_ends_a_command_quietly_with_its_own_code(tmp_path, command, json, unbuffered):
    X, y = np.eye(4, dtype=np.float32).repeat(500, 0), np.arange(4).repeat(500)
    store = manyclass.write_store(tmp_path / "x.store", X)
    if command == "predict":
        manyclass.StochasticClassifier(max_epochs=1, random_state=0).fit(X, y).save(tmp_path / "m")
    if command == "verify":
        next(store.path.glob("X-*")).write_bytes(b"short")
    words = [command, *([tmp_path / "m"] if command == "predict" else []), store.path, *([json] if json else [])]
    reader, writer = os.pipe()
    os.close(reader)
    ended = process(*words, stdout=writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    assert ended.returncode == (1 if command == "verify" else 0)
    assert [line for line in ended.stderr.splitlines() if "rows more" not in line] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_without_room_for_the_results_is_one_sentence(tmp_path, unbuffered):
    np.save(tmp_path / "x.npy", np.ones((4, 2)))
    with open("/dev/full", "w") as full:
        ended = process("info", tmp_path / "x.npy", "--json", stdout=full, PYTHONUNBUFFERED=unbuffered)
    words = "manyclass: the disk is full; make room and give the same command again\n"
    assert (ended.returncode, ended.stderr) == (1, words)


def test_a_pipe_that_breaks_elsewhere_is_a_failure(run, monkeypatch):
    assert run_failing(run, monkeypatch, BrokenPipeError(32, "Broken pipe")).code == FAILED


def test_a_command_loads_no_other_command_and_search_none_of_what_learns(tmp_path):
    negatives = np.random.default_rng(0).standard_normal((60, 4))
    g = manyclass.Gallery(manyclass.SquareLossExemplar(random_state=0).fit(negatives))
    g.add(np.eye(4))
    g.save(tmp_path / "g")
    np.save(tmp_path / "q.npy", np.eye(4)[:1])
    program = """
import sys
from manyclass.cli.main import main
sys.argv = ["manyclass", "search", sys.argv[1], sys.argv[2], "--json"]
try:
    main()
except SystemExit:
    pass
print(*sorted(sys.modules))
"""
    command = [sys.executable, "-c", program, str(tmp_path / "g"), str(tmp_path / "q.npy")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    loaded = {name for name in told if name.startswith("manyclass.")}
    assert "manyclass.cli.galleries.search" in loaded
    unwanted = ("cli.train", "cli.audit", "cli.galleries.encode", "estimators", "solvers.sgd", "server", "report")
    assert not [name for name in loaded if name.removeprefix("manyclass.").startswith(unwanted)]
    # pandas, where it is installed, is loaded by scikit-learn itself.
    assert not {"faiss", "matplotlib", "PIL", "scipy.stats._stats_py"} & set(told)


def test_importing_the_package_loads_neither_numpy_nor_what_needs_it():
    program = "import sys, manyclass; print(*sorted(sys.modules))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "typer", "rich"} & set(told)
