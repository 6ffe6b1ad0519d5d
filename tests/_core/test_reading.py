"""The gate for all that is read: pipes, folders, devices and giants are refused at once, in one sentence."""

import ast
import os
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import (
    LIMITS,
    check_unpacked,
    load_json,
    open_file,
    read_file,
    read_json,
    read_pieces,
    read_text,
)
from tests.test_layers import FILES, shown

EVERY_SECOND = 10.0


def in_time(function, *arguments):
    """What a function raises, which must not wait for a pipe that nobody writes to."""
    raised = []

    def call():
        try:
            function(*arguments)
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(EVERY_SECOND)
    assert not thread.is_alive(), "it hangs"
    assert raised, "it was read"
    return raised[0]


def make_socket(path):
    os.chdir(path.parent)  # names of sockets must be short
    socket.socket(socket.AF_UNIX).bind(path.name)


IRREGULAR = {"a FIFO": os.mkfifo, "a folder": os.mkdir, "a device": lambda path: path.symlink_to("/dev/zero")}


@pytest.fixture(params=IRREGULAR)
def irregular(request):
    """(what it is, how to put it at a path)"""

    def put(path):
        if path.exists():
            path.unlink()
        IRREGULAR[request.param](path)
        return path

    return request.param, put


@pytest.mark.parametrize(
    "function", [open_file, lambda path: read_file(path, "record"), lambda path: [*read_pieces(path)]]
)
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, irregular, function):
    what, put = irregular
    error = in_time(function, put(tmp_path / "x"))
    assert isinstance(error, FileRefusedError)
    assert str(error) == f"{tmp_path}/x must be a regular file; it is {what}"


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_socket_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_socket(tmp_path / "x")
    with pytest.raises(FileRefusedError, match=r"it is a socket$"):
        open_file(tmp_path / "x")


READERS = {
    "x.npy": mc.as_matrix,
    "x.npz": mc.as_matrix,
    "x.parquet": mc.as_matrix,
    "m.safetensors": mc.load,
    "x.onnx": lambda path: mc.OnnxFeatures(path).n_features_out_,
    "labels.csv": lambda path: mc.datasets.label_files.read_labels(path),
    "labels.txt": lambda path: mc.datasets.label_files.read_labels(path),
    "g.pkl": mc.evaluation.read_truth,
    "g.mat": mc.evaluation.read_truth,
    "h.dat": mc.evaluation.read_truth,
    "x.jpg": mc.read_image,
    "run.json": lambda path: mc.runs.records.read_record(path, "run"),
}


@pytest.mark.parametrize("name", READERS)
def test_no_reader_waits_for_a_pipe_or_reads_a_device(tmp_path, name):
    import manyclass.datasets.label_files
    import manyclass.runs.records  # noqa: F401

    for number, (what, make) in enumerate([("FIFO", os.mkfifo), ("device", IRREGULAR["a device"])]):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        make(path)
        error = in_time(READERS[name], path)
        assert isinstance(error, ValueError)
        assert f"must be a regular file; it is a {what}" in str(error)


@pytest.mark.parametrize("name", ["manifest.json", "X-0.npy", "journal"])
def test_a_store_with_a_pipe_for_a_file_is_refused(tmp_path, name):
    store = mc.write_store(tmp_path / "s", np.eye(3, dtype=np.float32)).path
    if name == "journal":
        (store / "manifest.json").unlink()
    (store / name).unlink(missing_ok=True)
    os.mkfifo(store / name)
    read = mc.open_store if name != "journal" else lambda path: mc.StoreWriter(path, 3)
    assert "must be a regular file; it is a FIFO" in str(in_time(read, store))


def test_a_gallery_with_a_pipe_for_a_file_is_refused(tmp_path):
    for number, pattern in enumerate(["manifest.json", "X-*.npy", "labels-*"]):
        gallery = mc.Gallery(mc.WhitenedPCA(n_components=2).fit(np.eye(4)))
        gallery.add(np.eye(4))
        gallery.save(tmp_path / str(number))
        path = next((tmp_path / str(number)).glob(pattern))
        path.unlink()
        os.mkfifo(path)
        assert "must be a regular file; it is a FIFO" in str(in_time(mc.Gallery.open, path.parent))


def test_a_file_over_its_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(
        FileRefusedError, match=r"labels\.csv has 1\.1 TB, over the limit of 2\.0 GB; if you trust it, set "
    ):
        read_text(path, "labels")


def test_limits_are_settings(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("12345")
    with mc.limits(labels=4), pytest.raises(FileRefusedError, match=r"MANYCLASS_LIMITS=labels=5"):
        read_file(tmp_path / "x", "labels")
    assert read_file(tmp_path / "x", "labels") == b"12345"
    monkeypatch.setenv("MANYCLASS_LIMITS", "labels=2kB, record=1 MB")
    with mc.limits(labels="3 GB"):
        assert (mc.get_limits()["labels"], mc.get_limits()["record"]) == (3 * 10**9, 10**6)
    assert mc.get_limits()["labels"] == 2000
    assert mc.get_limits()["model"] == LIMITS["model"]


@pytest.mark.parametrize("words", ["labels", "labels=", "labels=-1", "label=3", "labels=3 XB", "labels=1e9"])
def test_a_limit_that_is_none_is_refused(monkeypatch, words):
    monkeypatch.setenv("MANYCLASS_LIMITS", words)
    with pytest.raises(ValueError, match=r"^limits must be sizes of manifest, .*, such as labels=4GB; got "):
        mc.get_limits()


def test_a_file_of_the_system_that_tells_no_size_is_read():
    if Path("/proc/self/status").exists():
        assert b"VmHWM" in read_file("/proc/self/status", "record")


def test_text_has_newlines_for_all_ends_of_lines(tmp_path):
    (tmp_path / "x").write_bytes(b"a\r\nb\rc\n")
    assert read_text(tmp_path / "x", "record") == "a\nb\nc\n"


@pytest.mark.parametrize("depth", [101, 900, 20_000])
@pytest.mark.parametrize(("left", "right"), ["[]", ('{"a":', "}")])
def test_json_nested_too_deeply_is_refused(tmp_path, depth, left, right):
    (tmp_path / "x").write_text(left * depth + "1" + right * depth)
    with pytest.raises(ValueError, match=r"/x must .*; it is nested too deeply$"):
        read_json(tmp_path / "x", "record")


def test_json_of_usual_depth_is_read():
    assert load_json("[" * 90 + "]" * 90, "x")
    with pytest.raises(ValueError, match=r"^x must hold JSON; Expecting value"):
        load_json("[", "x")


def test_what_unpacks_to_much_more_than_it_has_is_refused():
    check_unpacked(256 * 10**6, 0, "x")
    check_unpacked(10**10, 10**8, "x")
    with pytest.raises(
        ValueError, match=r"^x must not take much more memory .* 6\.4 GB; if you trust it, set MANYCLASS_LIM"
    ):
        check_unpacked(6_400_000_000, 6_500_000, "x")
    with mc.limits(unpacked="7 GB"):
        check_unpacked(6_400_000_000, 6_500_000, "x")


# Who opens files besides the gate, and what for.
WRITERS = {
    "_core/files.py": "writes, locks and syncs",
    "_core/sealed.py": "maps what the gate has opened, and reads what it writes to seal it",
    "data/store/journal.py": "goes on with files of its own that it writes",
    "data/store/blocks.py": "maps what the gate has opened",
    "features/extraction/skip_log.py": "adds to a file of its own",
    "cli/predict.py": "writes its results",
    "report/page.py": "files of the package",
    "cli/terminal/command_errors.py": "the null device",
    "cli/main.py": "the null device",
    "cli/galleries/serve.py": "a browser",
    "_core/remote_files.py": "files of elsewhere, and a note of its own beside a copy",
    "data/parquet_matrix.py": "a file of its own that has no name",
    "server/desks/collection_audit.py": "what the system says of its memory",
    "server/listening.py": "a preparation, which opens by the gate",
    "server/pages.py": "files of the package",
    "server/picture_workers.py": "what the system says of its memory",
}
READS = {
    "read_bytes",
    "read_text",
    "fdopen",
    "open_memmap",
    "memmap",
    "fromfile",
    "loadmat",
    "load_npz",
    "genfromtxt",
    "loadtxt",
    "mmap",
}
ALWAYS = {("np", "load"), ("os", "open"), ("io", "open"), ("onnx", "load"), ("json", "load"), ("tomllib", "load")}
WRITING = {"a", "w", "x", "ab", "wb", "xb"}


def reads(source):
    """The calls in a module that open files to read them, by line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        words = {
            word.value for word in [*node.args, *(key.value for key in node.keywords)] if isinstance(word, ast.Constant)
        }
        if isinstance(node.func, ast.Name) and node.func.id == "open" and not words & WRITING:
            found.append(f"open in line {node.lineno}")
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            if ast.unparse(node).startswith("mmap.mmap(-1,"):  # memory of no file
                continue
            if node.func.attr in READS or (owner, node.func.attr) in ALWAYS:
                found.append(f"{owner}.{node.func.attr} in line {node.lineno}")
            # path.open(), but not Image.open(file) or Gallery.open(folder)
            if node.func.attr == "open" and owner.islower() and (owner, "open") not in ALWAYS and not words & WRITING:
                found.append(f"{owner}.open in line {node.lineno}")
    return found


def test_nobody_reads_files_but_the_gate():
    by_itself = {shown(path): reads(path.read_text()) for path in FILES if shown(path) != "_core/reading.py"}
    assert {path: found for path, found in by_itself.items() if found and path not in WRITERS} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("open(path)", 1),
        ("mmap.mmap(file, 100)", 1),
        ("mmap.mmap(-1, 100)", 0),
        ("open(path, 'rb')", 1),
        ("open(path, 'ab')", 0),
        ("path.read_bytes()", 1),
        ("(folder / 'x').read_text()", 1),
        ("path.open('rb')", 1),
        ("path.open('w')", 0),
        ("np.load(path)", 1),
        ("models.load(path)", 0),
        ("Image.open(file)", 0),
        ("Gallery.open(folder)", 0),
        ("os.open(path, 0)", 1),
        ("read_file(path, 'record')", 0),
    ],
)
def test_the_rule_notices_who_reads(source, found):
    assert len(reads(source)) == found
