"""From whatever a user has to a collection, and what is done again."""

import json
import os
import time
from types import SimpleNamespace

import numpy as np
import pytest

import manyclass as mc
from manyclass.server.app import ServerSettings, create_app
from manyclass.server.export_api import steps_of
from manyclass.server.jobs import Job, JobCancelledError
from manyclass.server.preparation import Preparation, home_of, kind_of_path
from tests.server.drawn_collection import ODD, as_file, draw_pictures, drawn, names

SETTINGS = ServerSettings(n_workers=1)


def job(changed=lambda job: None):
    return Job("1", "prepare", "", "images", changed)


def prepared(path, home=None, **more):
    return Preparation(path, home or home_of(path), settings=SETTINGS, **more)


def made(preparation):
    """The collection, and whether it had to be made."""
    found = preparation.open()
    collection = found or preparation.make(job())
    collection.close()
    return collection, found is None


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A store whose encoder is learned already, so that nothing has to be."""
    base = tmp_path_factory.mktemp("encoder")
    pictures = [drawn(color, seed) for seed in range(6) for color in ("red", "green", "blue")]
    few = {"descriptors": ("color",), "n_components": 8, "scales": 1, "n_samples": 2000, "random_state": 0}
    mc.FisherVectors(n_gaussians=2, **few).fit(pictures).save(base / "encoder.safetensors")
    return str(base / "encoder.safetensors")


@pytest.fixture
def photos(tmp_path):
    return draw_pictures(tmp_path / "photos")


@pytest.fixture
def store(tmp_path):
    X = np.random.default_rng(0).random((120, 6), np.float32)
    mc.write_store(tmp_path / "x.store", X, [str(i % 3) for i in range(120)], names=[f"n{i}" for i in range(120)])
    return tmp_path / "x.store"


def test_a_folder_of_pictures_is_made_once(photos, encoder):
    first, again = (made(prepared(photos, kind=encoder)) for _ in range(2))
    assert (first[1], again[1]) == (True, False)
    for collection, _ in (first, again):
        assert sorted(collection.ids) == sorted(names())
        assert collection.home == photos.with_name("photos.serve")
        assert collection.pictures.path(collection.number(ODD[0])) == photos / ODD[0]
        assert collection.search_by_pictures
        assert (collection.name, collection.X.shape[0]) == ("photos", len(names()))
    assert made(prepared(photos))[1] is False  # without a kind, what is there is good


def test_nothing_is_written_outside_of_its_home(photos, encoder, tmp_path):
    before = sorted(str(path.relative_to(photos)) for path in photos.rglob("*"))
    made(prepared(photos, tmp_path / "home", kind=encoder))
    assert sorted(str(path.relative_to(photos)) for path in photos.rglob("*")) == before
    assert sorted(os.listdir(tmp_path)) == ["home", "photos"]


@pytest.mark.parametrize("change", ["added", "gone", "changed"])
def test_pictures_that_changed_are_read_again_and_that_is_said(photos, encoder, change):
    made(prepared(photos, kind=encoder))
    if change == "added":
        (photos / "red" / "new.png").write_bytes(as_file(drawn("red", 500)))
    elif change == "gone":
        (photos / "red" / "00.png").unlink()
    else:
        (photos / "red" / "00.png").write_bytes(as_file(drawn("blue", 500)))
    preparation = prepared(photos)
    collection, again = made(preparation)
    assert again
    assert any("has changed since it was read" in note for note in preparation.notes)
    assert ("red/new.png" in collection, "red/00.png" in collection) == (change == "added", change != "gone")


def test_only_new_pictures_of_a_changed_folder_are_encoded(photos, encoder):
    first, _ = made(prepared(photos, kind=encoder))
    time.sleep(0.02)  # clocks of file systems are coarse
    (photos / "red" / "new.png").write_bytes(as_file(drawn("red", 500)))
    counts = []
    again = prepared(photos).make(job(lambda job: counts.append((job.title, job.done))))
    again.close()
    assert min(done for title, done in counts if title == "encoding" and done) >= len(first)
    rows = dict(zip(again.ids, again.gallery.codes(again.raw_ids), strict=True))
    anew = prepared(photos, photos.with_name("anew"), kind=encoder).make(job())
    anew.close()
    for name, row in zip(anew.ids, anew.gallery.codes(anew.raw_ids), strict=True):
        np.testing.assert_array_equal(rows[name], row)


def test_a_damaged_store_of_an_earlier_start_costs_no_more_than_time(photos, encoder):
    made(prepared(photos, kind=encoder))
    time.sleep(0.02)
    (rows,) = (home_of(photos) / "photos.store").glob("X-*.npy")
    rows.write_bytes(rows.read_bytes()[:-40] + bytes(40))
    (photos / "red" / "new.png").write_bytes(as_file(drawn("red", 500)))
    collection, _ = made(prepared(photos))
    assert "red/new.png" in collection


def test_a_home_within_the_pictures_is_not_taken_for_pictures(photos, encoder):
    home = photos / "home"
    for _ in range(2):
        collection, _ = made(prepared(photos, home, kind=encoder))
        assert sorted(collection.ids) == sorted(names())


def test_notes_say_what_a_person_can_use_and_nothing_of_how_it_is_made(photos, encoder):
    collection, _ = made(prepared(photos, kind=encoder))
    assert collection.notes == []


def test_bad_files_are_left_out_and_named(photos, encoder):
    (photos / "red" / "bad.png").write_bytes(b"nothing")
    collection, _ = made(prepared(photos, kind=encoder))
    assert any("1 file left out; red/bad.png is not an image" in note for note in collection.notes)
    assert "red/bad.png" not in collection


def test_an_interrupted_preparation_goes_on(photos, encoder):
    def stop(job):
        if job.title == "encoding" and job.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared(photos, kind=encoder).make(job(stop))
    assert prepared(photos, kind=encoder).open() is None
    counts = []
    collection = prepared(photos, kind=encoder).make(job(lambda job: counts.append((job.title, job.done))))
    collection.close()
    assert min(done for title, done in counts if title == "encoding" and done) > 1
    assert len(collection) == len(names())


def test_an_interrupted_preparation_of_other_pictures_begins_anew(photos, encoder):
    def stop(job):
        if job.title == "encoding" and job.done >= 20:
            raise JobCancelledError

    with pytest.raises(JobCancelledError):
        prepared(photos, kind=encoder).make(job(stop))
    (photos / "red" / "new.png").write_bytes(as_file(drawn("red", 500)))
    collection, _ = made(prepared(photos, kind=encoder))
    assert "red/new.png" in collection


def test_features_become_a_gallery_that_is_made_anew_when_they_change(store):
    assert [made(prepared(store))[1] for _ in range(2)] == [True, False]
    X = np.random.default_rng(1).random((50, 6), np.float32)
    mc.write_store(store, X, names=[f"m{i}" for i in range(50)], overwrite=True)
    preparation = prepared(store)
    collection, again = made(preparation)
    assert (again, len(collection), collection.ids[0]) == (True, 50, "m0")
    assert any("has changed since its gallery was made" in note for note in preparation.notes)


def test_other_negatives_make_another_gallery(store, tmp_path):
    made(prepared(store))
    world = np.random.default_rng(2).random((100, 6), np.float32)
    np.save(tmp_path / "world.npy", world)
    preparation = prepared(store, negatives=tmp_path / "world.npy")
    collection, again = made(preparation)
    assert again
    assert any("another --negatives" in note for note in preparation.notes)
    assert "world.npy" in collection.encoder_words


def test_a_run_is_served_with_its_data_and_its_classifier(store, tmp_path):
    mc.runs.train(store, tmp_path / "run", objective="square")
    collection, _ = made(prepared(tmp_path / "run"))
    assert (len(collection), list(collection.model.classes_)) == (120, ["0", "1", "2"])
    assert collection.home == tmp_path / "run.serve"


def test_a_run_whose_data_is_gone_says_so(store, tmp_path):
    mc.runs.train(store, tmp_path / "run", objective="square")
    store.rename(tmp_path / "moved.store")
    with pytest.raises(ValueError, match=r"was trained on .*x\.store, which is not there; serve that, with --run"):
        prepared(tmp_path / "run")


def test_a_gallery_is_opened_as_it_is(store, tmp_path):
    mc.runs.build_gallery(store, tmp_path / "x.gallery", method="none")
    collection, again = made(prepared(tmp_path / "x.gallery", run=None))
    assert (again, len(collection), collection.data) == (False, 120, store)
    assert not home_of(tmp_path / "x.gallery").exists()


def test_what_is_there_is_known(photos, store, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    (tmp_path / "table.csv").write_text("path,label\nphotos/red/00.png,red\n")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "text.txt").write_text("text")
    kinds = {"photos": "pictures", "x.store": "features", "x.npy": "features", "table.csv": "pictures"}
    assert {name: kind_of_path(tmp_path / name) for name in kinds} == kinds
    for name in ("nothing", "text.txt"):
        with pytest.raises(ValueError, match="must be a gallery, features, a run or a folder of pictures"):
            kind_of_path(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="no gallery, features, run or folder of pictures at"):
        kind_of_path(tmp_path / "missing")


@pytest.mark.parametrize("content", ["", "{", "[]", json.dumps({"state": 7})])
def test_a_damaged_record_costs_no_more_than_time(store, content):
    made(prepared(store))
    (home_of(store) / "prepared.json").write_text(content)
    assert made(prepared(store))[1] is True


def test_steps_of_a_search_name_the_gallery_and_not_what_it_was_made_of(store):
    collection, _ = made(prepared(store))
    steps = steps_of(SimpleNamespace(collection=collection), "find")
    place = str(home_of(store) / "photos.gallery")
    assert steps["command"] == f"manyclass search {place} picture.jpg"
    assert repr(place) in steps["python"]


def test_a_damaged_gallery_of_its_own_is_made_anew(store):
    made(prepared(store))
    largest = max((home_of(store) / "photos.gallery").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    preparation = prepared(store)
    assert made(preparation)[1] is True
    assert any(largest.name in note and "made anew" in note for note in preparation.notes)


def test_a_home_that_cannot_be_written_is_told_in_a_sentence(store, tmp_path):
    (tmp_path / "home").write_text("a file")
    state = create_app(prepared(store, tmp_path / "home").begin, SETTINGS).state.server
    (job,) = state.jobs._jobs.values()
    assert job.finished.wait(60)
    assert "Errno" not in state.error
    assert "home" in state.error


def test_the_page_is_there_while_pictures_are_prepared_and_told_when_that_fails(tmp_path):
    (tmp_path / "photos").mkdir()
    for i in range(3):
        (tmp_path / "photos" / f"{i}.png").write_bytes(b"no picture")
    app = create_app(prepared(tmp_path / "photos").begin, SETTINGS)
    state = app.state.server
    (job,) = state.jobs._jobs.values()
    assert job.finished.wait(60)
    assert state.status()["state"] == "failed"
    assert state.error == job.error
    state.close()
