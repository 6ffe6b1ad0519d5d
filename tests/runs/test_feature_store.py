"""From pictures to a store of features."""

import time
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

from manyclass.features.extraction.earlier_rows import EarlierRows
from manyclass.runs.feature_store import features_provenance, list_pictures, make_store, training_paths
from manyclass.runs.provenance import choose_kind

FEW = {"n_words": 2, "descriptors": "color", "n_components": 4, "scales": 1, "n_samples": 500}


@pytest.fixture
def photos(tmp_path):
    rng = np.random.default_rng(0)
    for part, label in (("train", "a"), ("train", "b"), ("test", "a")):
        (tmp_path / "photos" / part / label).mkdir(parents=True)
        for i in range(4):
            pixels = rng.integers(0, 255, (40, 40, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / part / label / f"{i}.png")
    return tmp_path / "photos"


def recorded(said):
    @contextmanager
    def progress(what, unit):
        yield lambda done, total: said.append((what, done, total))

    return progress


def test_a_store_has_a_row_for_every_picture_and_goes_on_where_it_was(photos, tmp_path):
    images, said = list_pictures(photos, tmp_path / "out.store"), []
    run = make_store(photos, tmp_path / "out.store", choose_kind("bow", 0, FEW), images, progress=recorded(said))
    assert run.store.shape[0] == 12
    assert {what for what, *_ in said} == {"learning", "encoding"}
    assert run.store.provenance["made by"] == "manyclass features"
    assert sorted(run.store.names) == sorted(images.names)


def test_encoders_learn_from_the_part_that_is_for_it(photos):
    images = list_pictures(photos, photos / "out")
    assert len(training_paths(images)) == 8
    assert all("/train/" in path for path in training_paths(images))


def test_what_is_no_folder_of_pictures_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(ValueError, match="must hold pictures"):
        list_pictures(tmp_path / "x.npy", tmp_path / "out")


def test_notices_are_told(photos, tmp_path):
    (photos / "train" / "stray.png").write_bytes((photos / "train" / "a" / "0.png").read_bytes())
    told = []
    list_pictures(photos, tmp_path / "out", warn=told.append)
    assert any("labels are left out" in words for words in told)


def test_what_a_network_sees_is_on_record(tmp_path):
    class Network:
        input_ = "224 x 224 pixels"

    about = features_provenance(tmp_path, "network", 3, None, Network())
    assert (about["kind"], about["seed"], about["input"]) == ("network", 3, "224 x 224 pixels")


@pytest.mark.parametrize(("n_new", "learns"), [(1, False), (20, True)])
def test_an_encoder_learns_again_where_most_pictures_are_new(photos, tmp_path, n_new, learns):
    place, kind, said = tmp_path / "out.store", choose_kind("bow", 0, FEW), []
    since = time.time() + 1  # as if all pictures were older
    store = make_store(photos, place, kind, list_pictures(photos, place), progress=recorded([])).store
    for i in range(n_new):
        (photos / "train" / "a" / f"new{i}.png").write_bytes((photos / "train" / "a" / "0.png").read_bytes())
    images = list_pictures(photos, place)
    earlier = EarlierRows(store, since)
    run = make_store(photos, place, kind, images, overwrite=True, progress=recorded(said), earlier=earlier)
    assert ("learning" in {what for what, *_ in said}) == learns
    assert run.store.shape[0] == 12 + n_new
