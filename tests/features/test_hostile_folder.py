"""A folder of everything that folders of pictures hold: one run over it, no crash, each file with its reason."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets import read_images
from manyclass.features.skipped import read_skipped
from tests.features import hostile
from tests.features.child import Means


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "photos"
    return path, hostile.write(path)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    images = read_images(folder[0])
    store = tmp_path_factory.mktemp("run") / "a.store"
    return images, mc.write_features(store, images.paths, Means(), names=images.names)


def test_there_are_more_than_sixty_kinds_and_bad_and_good_among_them(folder):
    reasons = list(folder[1].values())
    assert len(reasons) > 120
    assert sum(reason is not hostile.GOOD for reason in reasons) > 60


def test_every_file_is_listed_whatever_it_is_called(folder, run):
    assert set(run[0].names) == set(folder[1])


def test_every_bad_file_is_skipped_with_its_reason_and_every_good_one_has_its_row(folder, run):
    expected, found = folder[1], {entry.name: entry.reason for entry in run[1].skipped}
    assert set(found) == {name for name, reason in expected.items() if reason is not hostile.GOOD}
    for name, reason in found.items():
        assert expected[name] in reason, name
        assert reason.isprintable()
        assert len(reason) < 200
    assert list(run[1].store.names) == [name for name in run[0].names if name not in found]


def test_the_report_beside_the_store_says_the_same(run):
    assert read_skipped(run[1].store.path) == run[1].skipped


def test_the_rows_are_those_of_the_named_pictures(folder, run):
    for row in range(0, len(run[1].store), 7):
        image = mc.read_image(folder[0] / run[1].store.names[row])
        np.testing.assert_array_equal(run[1].store.X.rows(row), Means().encode(image))


LARGEST = {
    "alpha.png": lambda: hostile.zeros_png(7070, 7070, 8, 6, 4),
    "deep.png": lambda: hostile.zeros_png(7070, 7070, 16, 0, 1),
    "thin.png": lambda: hostile.zeros_png(5, 9_999_999, 8, 2, 3),
}


PEAK = """
import sys, manyclass as mc, sklearn.base
mc.read_image(sys.argv[1])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc tells the peak of this very program")
@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_pictures_that_are_read_take_less_than_512_megabytes(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(LARGEST[name]())
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    assert 20_000 < int(done.stdout) < 512 * 1024
