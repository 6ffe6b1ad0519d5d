"""Of images that a store has already, only those that are new or were touched are encoded."""

import os
import time

import numpy as np
import pytest

import manyclass as mc
from manyclass.features.extraction import encoding
from manyclass.features.extraction.earlier_rows import EarlierRows
from manyclass.features.extraction.write_features import write_features
from tests.features.extraction.written import contents_of
from tests.features.hostile import picture, saved

FEW = {"descriptors": ("color",), "n_components": 4, "scales": 1, "n_samples": 500}


@pytest.fixture(scope="module")
def encoder():
    return mc.FisherVectors(2, random_state=0, **FEW).fit([picture(30, 40, seed=i) for i in range(6)])


@pytest.fixture
def read(monkeypatch):
    """The names of the files that are decoded."""
    names = []

    def noted(image, *limits, read_image=encoding.read_image):
        names.append(os.path.basename(image))
        return read_image(image, *limits)

    monkeypatch.setattr(encoding, "read_image", noted)
    return names


def draw(folder, names, seed=0):
    folder.mkdir(exist_ok=True)
    for i, name in enumerate(names):
        (folder / name).write_bytes(saved(picture(20, 30, seed=seed + i), "PNG"))


def write(path, folder, encoder, **more):
    names = sorted(os.listdir(folder))
    return write_features(path, [str(folder / name) for name in names], encoder, names=names, **more)


def later():
    """A time after everything that was written before, as clocks of file systems see it."""
    time.sleep(0.02)
    return time.time()


@pytest.mark.parametrize("batch_size", [1, 3])
def test_new_and_touched_images_alone_are_encoded_and_the_store_is_that_of_all(
    tmp_path, encoder, read, batch_size, monkeypatch
):
    monkeypatch.setattr(type(encoder), "batch_size", batch_size, raising=False)
    monkeypatch.setattr(
        type(encoder), "encode_many", lambda self, images: [self.encode(image) for image in images], raising=False
    )
    draw(tmp_path / "in", [f"{i}.png" for i in range(8)])
    since = later()
    old = write(tmp_path / "old.store", tmp_path / "in", encoder).store
    later()
    draw(tmp_path / "in", ["3.png", "35.png"], seed=50)
    (tmp_path / "in" / "6.png").unlink()
    read.clear()
    write(tmp_path / "new.store", tmp_path / "in", encoder, earlier=EarlierRows(old, since))
    assert read == (["3.png", "35.png"] if batch_size == 1 else ["3.png", "35.png", "4.png"])
    write(tmp_path / "fresh.store", tmp_path / "in", encoder)
    assert contents_of(tmp_path / "new.store") == contents_of(tmp_path / "fresh.store")


def test_a_file_of_the_same_size_and_date_is_told_by_when_it_came(tmp_path, encoder, read):
    draw(tmp_path / "in", ["a.png", "b.png"])
    since = later()
    old = write(tmp_path / "old.store", tmp_path / "in", encoder).store
    later()
    about = os.stat(tmp_path / "in" / "a.png")
    draw(tmp_path / "in", ["a.png"], seed=9)
    os.utime(tmp_path / "in" / "a.png", ns=(about.st_atime_ns, about.st_mtime_ns))
    assert EarlierRows(old, since).unchanged(
        [str(tmp_path / "in" / x) for x in ("a.png", "b.png")], ["a.png", "b.png"]
    ) == {1: 1}


def test_rows_of_another_encoder_are_not_taken(tmp_path, encoder, read):
    draw(tmp_path / "in", ["a.png", "b.png"])
    since = later()
    old = write(tmp_path / "old.store", tmp_path / "in", encoder).store
    read.clear()
    other = mc.FisherVectors(2, random_state=1, **FEW).fit([picture(30, 40, seed=i) for i in range(6)])
    write(tmp_path / "new.store", tmp_path / "in", other, earlier=EarlierRows(old, since))
    assert read == ["a.png", "b.png"]


def test_nothing_is_known_of_arrays_of_missing_files_and_of_stores_without_names(tmp_path):
    store = mc.write_store(tmp_path / "x.store", np.eye(2, dtype=np.float32), names=["a", "b"])
    earlier = EarlierRows(store, time.time() + 9)
    assert earlier.unchanged([np.zeros((4, 4, 3), np.uint8), str(tmp_path / "no")], ["a", "b"]) == {}
    nameless = mc.write_store(tmp_path / "y.store", np.eye(2, dtype=np.float32))
    assert EarlierRows(nameless, time.time() + 9).unchanged([str(tmp_path)], ["a"]) == {}


def test_progress_begins_with_what_is_known(tmp_path, encoder):
    draw(tmp_path / "in", [f"{i}.png" for i in range(8)])
    since, said = later(), []
    old = write(tmp_path / "old.store", tmp_path / "in", encoder).store
    later()
    draw(tmp_path / "in", ["9.png"], seed=50)
    earlier = EarlierRows(old, since)
    write(tmp_path / "new.store", tmp_path / "in", encoder, earlier=earlier, progress=lambda *now: said.append(now))
    assert said[0] == (8, 9)
    assert said[-1] == (9, 9)


def test_codes_of_a_quantizer_are_not_taken_for_rows(tmp_path, encoder, read):
    draw(tmp_path / "in", [f"{i}.png" for i in range(4)])
    since = later()
    quantizer = mc.ScalarQuantizer(bits=8)
    old = write(tmp_path / "old.store", tmp_path / "in", encoder, quantizer=quantizer).store
    read.clear()
    write(tmp_path / "new.store", tmp_path / "in", encoder, earlier=EarlierRows(old, since))
    assert len(read) == 4
