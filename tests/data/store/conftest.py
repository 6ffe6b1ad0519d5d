"""What the tests of the store share: a store with everything in it, in small blocks."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StoreWriter, manifest, open_store, transaction


@pytest.fixture(scope="session")
def rows():
    rows = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    rows.flags.writeable = False
    return rows


@pytest.fixture(scope="session")
def columns():
    return {
        "y": [("cat", "dog", "eel")[i % 3] for i in range(60)],
        "names": [f"images/{i}é.jpg" for i in range(60)],
        "split": ["train"] * 50 + ["test"] * 10,
    }


def make_blocks_small(patch):
    patch.setattr(manifest, "BLOCK_BYTES", 64)
    patch.setattr(transaction, "BLOCK_BYTES", 64)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 bytes, so that small stores have many."""
    make_blocks_small(monkeypatch)


@pytest.fixture(scope="session")
def master(tmp_path_factory, rows, columns):
    """A store of codes with all columns, a quantizer and two segments, in small blocks, to be copied."""
    path = tmp_path_factory.mktemp("master") / "full.store"
    with pytest.MonkeyPatch.context() as patch:
        make_blocks_small(patch)
        with StoreWriter(path, quantizer=ScalarQuantizer().fit(rows)) as writer:
            writer.append(rows)
            writer.commit(**columns, provenance={"made": "by a test"})
        with StoreWriter.extending(path) as writer:
            writer.append(rows)
            writer.commit(**columns)
    return path


@pytest.fixture
def full_store(tmp_path, master):
    """A copy of the master, opened."""
    return open_store(shutil.copytree(master, tmp_path / "full.store"))


@pytest.fixture
def public_store(master):
    """The path of a copy of the master in a folder that everybody may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield shutil.copytree(master, folder / "full.store")
    (folder / "full.store").chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody():
    """`with as_nobody():` has no special rights, also where the tests run as root."""

    @contextlib.contextmanager
    def dropped():
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)

    return dropped


def contents(path):
    """{name: bytes} of a folder."""
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.fixture(name="contents")
def contents_fixture():
    return contents
