"""A folder of everything that folders of pictures hold: one run over it, no crash, each file with its reason."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets import read_images
from manyclass.features.extraction.write_features import read_skipped
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


WORKERS = """
import sys, manyclass as mc
from tests.features.child import Peak
images = mc.datasets.read_images(sys.argv[1])
with mc.threads(2):
    run = mc.write_features(sys.argv[2], images.paths, Peak(), names=images.names)
print(len(run.skipped), *run.store.X.toarray().ravel().tolist())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc tells the peak of this very program")
def test_no_process_that_works_on_the_folder_ever_holds_512_megabytes(folder, tmp_path):
    # The largest pictures stand first, so that the rows after them, whose numbers are peaks, tell of them.
    images = tmp_path / "photos"
    images.mkdir()
    for name in LARGEST:
        (images / f"0 {name}").write_bytes(LARGEST[name]())
    for path in folder[0].iterdir():
        (images / f"1 {path.name[-200:]}").symlink_to(path)
    command = [sys.executable, "-c", WORKERS, images, tmp_path / "a.store"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    skipped, *peaks = (float(word) for word in done.stdout.split())
    assert skipped > 60
    assert len(peaks) > 60
    assert 150 < max(peaks) < 512
