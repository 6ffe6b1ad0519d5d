"""Settings and fixtures that all tests share."""

import errno
import gc
import itertools
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time; a slow machine is not a failure.
settings.register_profile(
    "manyclass",
    derandomize=True,
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("manyclass")

# What is imported and collected stays until the end: half a million objects, which the garbage collector need not look
# through again and again. Measured on scikit-learn's checks, which take 34 s: 6 s of them before, 2 s now.
gc.disable()

# Files of tests lie in memory where there is a disk of it: the library asks the disk to keep what it writes about a
# hundred thousand times here, which takes milliseconds each. Whoever sets TMPDIR has them there instead.
MEMORY_DISK, ROOM = "/dev/shm", 4 << 30


def has_memory_disk():
    """Whether that disk has room for all tests, which leave less than one gigabyte, and lets libraries be loaded."""
    if not (os.path.ismount(MEMORY_DISK) and os.access(MEMORY_DISK, os.W_OK)):
        return False
    return shutil.disk_usage(MEMORY_DISK).free >= ROOM and not os.statvfs(MEMORY_DISK).f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and has_memory_disk():
    os.environ.setdefault("RAY_TMPDIR", tempfile.gettempdir())  # whose logs stay
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY_DISK


def pytest_collection_finish():
    """Everything is there: from now on only what tests leave is looked through."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def disk_path():
    """A folder on a disk, as waiting for it is most of what writers do: kills at random are to hit them there."""
    with tempfile.TemporaryDirectory(dir="/var/tmp" if os.path.isdir("/var/tmp") else None) as folder:
        yield Path(folder)


@pytest.fixture
def any_level():
    """The names of the instruction sets of this machine; the one in force comes back after the test."""
    from manyclass import _native

    before = _native.level()
    yield _native.levels()
    _native.set_level(before)


@pytest.fixture
def as_first_version():
    """A function that makes of a store what the first version of the format had: nothing is attached to it."""
    from dataclasses import replace

    from manyclass.data.store.manifest import MANIFEST, read_manifest

    def change(path):
        manifest = read_manifest(path)
        for file in manifest.attachments.values():
            (path / file.name).unlink()
        (path / MANIFEST).write_bytes(replace(manifest, version=1, attachments={}).to_bytes())
        return path

    return change


@pytest.fixture
def failing_call(monkeypatch):
    """`with failing_call("fsync", 3) as hit:` the third such call of `os` fails; `hit` tells afterwards if it came.

    Of "open", those that write are counted.
    """

    @contextmanager
    def arrange(name, when, error=errno.EIO):
        call, count, hit = getattr(os, name), itertools.count(1), []

        def counted(*arguments, **more):
            reads = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_DIRECTORY)
            if not reads and next(count) == when:
                hit.append(arguments[0])
                raise OSError(error, os.strerror(error), *(arguments[:1] if name != "fsync" else ()))
            return call(*arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, counted)
            yield hit

    return arrange
