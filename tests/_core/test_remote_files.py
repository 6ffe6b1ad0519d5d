import io
import subprocess
import sys

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass._core.remote_files import _copy, _listed, _remote_file, as_url, local_path
from manyclass.datasets import read_features, read_images

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYCLASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def test_paths_are_no_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "x").touch()
    assert [as_url(path) for path in ("x.npy", "/a/b", "~/x", "s3:/x", "c:/x")] == [None] * 5


def test_features_are_read_from_an_address(memory):
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    with memory.open("/box/x.npy", "wb") as file:
        np.save(file, X)
    memory.pipe("/box/x_labels.csv", b"a\nb\na\nb\n")
    assert np.array_equal(mc.as_matrix("memory://box/x.npy").toarray(), X)
    found = read_features("memory://box/x.npy", labels="memory://box/x_labels.csv")
    assert found.y.tolist() == ["a", "b", "a", "b"]


def test_a_folder_of_pictures_is_fetched_whole(tmp_path):
    (tmp_path / "photos" / "cats").mkdir(parents=True)
    (tmp_path / "photos" / "cats" / "1.jpg").write_bytes(b"x")
    images = read_images(f"file://{tmp_path}/photos")
    assert (images.names, images.y.tolist()) == (["cats/1.jpg"], ["cats"])
    assert str(tmp_path / "cache") in images.paths[0]


def test_an_address_that_ends_in_dots_leaves_other_copies_alone(memory, cache):
    memory.pipe("/box/a.bin", b"one")
    memory.store["/other/../b.bin"] = memory.store["/box/a.bin"]
    memory.pseudo_dirs.append("/other/..")
    before = local_path("memory://box")
    after = local_path("memory://other/..")
    assert (before / "a.bin").read_bytes() == (after / "b.bin").read_bytes()
    assert after.name == "root"


def test_what_has_not_changed_is_not_fetched_again_and_what_has_is(memory, monkeypatch):
    memory.pipe("/box/a.bin", b"one")
    copied = []
    monkeypatch.setattr(
        "manyclass._core.remote_files._copy", lambda *about: copied.append(about[1].name) or _copy(*about)
    )
    assert local_path("memory://box/a.bin").read_bytes() == b"one"
    assert local_path("memory://box/a.bin").read_bytes() == b"one"
    assert len(copied) == 1
    memory.pipe("/box/a.bin", b"two!")
    assert local_path("memory://box/a.bin").read_bytes() == b"two!"


def test_what_is_gone_there_is_gone_here(memory):
    memory.pipe({"/box/a/1": b"1", "/box/a/2": b"2"})
    assert sorted(path.name for path in local_path("memory://box/a").glob("[!.]*")) == ["1", "2"]
    memory.rm("/box/a/1")
    assert [path.name for path in local_path("memory://box/a").glob("[!.]*")] == ["2"]


def test_a_fetch_that_broke_off_goes_on(memory, tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass._core.remote_files._PIECE", 4)
    memory.pipe("/box/a.bin", b"0123456789")
    file, place = _remote_file("/box/a.bin", "", memory.info("/box/a.bin")), tmp_path / "a.bin"

    class Breaking:
        info, invalidate_cache = memory.info, memory.invalidate_cache

        def open(self, path, mode):
            return Half()

    class Half(io.BytesIO):
        def read(self, n):
            if self.tell():
                raise OSError("the connection broke")
            self.seek(n)
            return b"0123"

    with pytest.raises(OSError, match="broke"):
        _copy(Breaking(), file, place)
    (part,) = tmp_path.glob(".a.bin.*.part")
    assert part.read_bytes() == b"0123"
    _copy(memory, file, place)
    assert place.read_bytes() == b"0123456789"


@pytest.mark.parametrize("name", ["../../evil", "a//b", "x\0y"])
def test_names_that_would_lead_out_are_refused(name):
    class Hostile:
        def info(self, root):
            return {"type": "directory", "name": "box"}

        def find(self, root, detail):
            return {f"box/{name}": {"size": 1}}

    with pytest.raises(StorageError, match="must have files of plain names"):
        _listed(Hostile(), "box", "memory://box")


def test_what_is_not_there_is_one_sentence(memory):
    with pytest.raises(FileNotFoundError, match="memory://box/none"):
        local_path("memory://box/none")
    with pytest.raises(StorageError, match="nosuch://x cannot be fetched"):
        local_path("nosuch://x")


def test_without_fsspec_it_says_what_to_install():
    program = "import sys; sys.modules['fsspec'] = None\nimport manyclass as mc\nmc.as_matrix('s3://bucket/x.npy')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert 's3://bucket/x.npy needs fsspec to be read; pip install "manyclass[remote]"' in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("s3://bucket/x.npy", "s3://bucket/x.npy needs s3fs to be read; pip install s3fs"),
        ("https://x.example/y", "needs aiohttp and requests to be read; pip install aiohttp requests"),
    ],
)
def test_the_package_of_a_service_is_named(url, words, monkeypatch):
    def missing(address):
        raise ImportError("Install something to access it")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(ImportError, match=words.replace(".", r"\.")):
        local_path(url)


class NoCredentialsError(Exception):
    """As botocore has it."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError("Forbidden"), "may not be read: Forbidden; set up the credentials that s3fs looks for"),
        (NoCredentialsError("Unable to locate them"), "may not be read: Unable to locate them; set up the credentials"),
        (OSError(28, "No space left on device"), "the disk is full; make room and give the same command again"),
        (TimeoutError(), "s3://bucket/x cannot be fetched: TimeoutError"),
    ],
    ids=["forbidden", "no credentials", "full", "no words"],
)
def test_what_a_service_refuses_is_one_sentence_with_a_way_out(error, words, monkeypatch):
    def fails(address):
        raise error

    monkeypatch.setattr(fsspec.core, "url_to_fs", fails)
    with pytest.raises(StorageError, match=words) as caught:
        local_path("s3://bucket/x")
    assert "\n" not in str(caught.value)


def test_a_file_that_changes_while_it_is_fetched_is_no_mixture(memory, tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass._core.remote_files._PIECE", 4)
    memory.pipe("/box/a.bin", b"0123456789")
    file, place = _remote_file("/box/a.bin", "", memory.info("/box/a.bin")), tmp_path / "a.bin"

    class Changing(io.BytesIO):
        def read(self, n):
            memory.pipe("/box/a.bin", b"abcdefghij")
            return super().read(n)

    class System:
        info, invalidate_cache = memory.info, memory.invalidate_cache

        def open(self, path, mode):
            return Changing(b"0123456789")

    with pytest.raises(StorageError, match="was changed while it was fetched; give the same command again"):
        _copy(System(), file, place)
    assert list(tmp_path.glob(".a.bin*")) == []
    (tmp_path / ".a.bin.0123456789ab.part").write_bytes(b"of what it was before")
    _copy(memory, _remote_file("/box/a.bin", "", memory.info("/box/a.bin")), place)
    assert place.read_bytes() == b"abcdefghij"
    assert list(tmp_path.glob("*.part")) == []


def test_a_fetch_that_is_killed_goes_on_with_what_is_there(tmp_path, monkeypatch):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "shard_0.bin").write_bytes(b"x" * 1000)
    (tmp_path / "far" / "shard_1.bin").write_bytes(b"y" * 1000)
    program = (
        "import os, sys\nimport manyclass._core.remote_files as remote\nremote._PIECE = 400\nplain = remote._append\n"
        "def killed(source, out, file):\n"
        "    if file.name == 'shard_0.bin': return plain(source, out, file)\n"
        "    out.write(source.read(400)); out.flush(); os.kill(os.getpid(), 9)\n"
        "remote._append = killed\nremote.local_path(sys.argv[1])"
    )
    url = f"file://{tmp_path}/far"
    done = subprocess.run([sys.executable, "-c", program, url], capture_output=True, check=False)
    assert done.returncode == -9
    copied = []
    monkeypatch.setattr(
        "manyclass._core.remote_files._copy", lambda *about: copied.append(about[1].name) or _copy(*about)
    )
    folder = local_path(url)
    assert copied == ["shard_1.bin"]
    assert [(folder / f"shard_{i}.bin").read_bytes() for i in (0, 1)] == [b"x" * 1000, b"y" * 1000]
