"""Pictures that are named by paths, as rows."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.pictures import picture_blocks, pictures_among
from tests.features.hostile import picture, saved


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures") / "album"
    for i in range(6):
        path = folder / f"kind{i % 2}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(saved(picture(48, 52, seed=i), "PNG"))
    (folder / "kind0" / "bad.png").write_bytes(b"no picture")
    (folder / "notes.txt").write_text("no picture")
    return folder


@pytest.fixture(scope="module")
def encoder(album):
    paths = [str(path) for path in sorted(album.rglob("[0-9].png"))]
    return mc.BagOfWords(n_words=4, descriptors=("sift",), n_samples=300, scales=1, random_state=0).fit(paths)


def test_pictures_are_found_below_folders_and_features_are_none(album, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    one = album / "kind1" / "1.png"
    found = pictures_among([album, one, tmp_path / "x.npy"])
    assert list(found) == [album, one]
    assert len(found[album]) == 7
    assert found[one] == [str(one)]


def test_rows_are_those_of_the_encoder_and_bad_pictures_are_told_of(album, encoder):
    told, paths = [], pictures_among([album])[album]
    (block,) = picture_blocks(paths, encoder, lambda name, why: told.append((name, why)))
    assert [name for name, _ in told] == [str(album / "kind0" / "bad.png")]
    assert len(block) == 6
    np.testing.assert_array_equal(block.X.rows(slice(None)), encoder.transform(list(block.names)))


def test_a_folder_without_pictures_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="must hold features or pictures; it holds none"):
        pictures_among([tmp_path / "empty"])


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder at"):
        pictures_among([tmp_path / "none"])


@pytest.fixture(scope="module")
def run(album, encoder, tmp_path_factory):
    """A model of two kinds, and its encoder."""
    folder = tmp_path_factory.mktemp("run")
    paths = [str(path) for path in sorted(album.rglob("[0-9].png"))]
    X = encoder.transform(paths)
    mc.SquareLossClassifier(0.01).fit(X, [path.split("/")[-2] for path in paths]).save(folder / "model")
    encoder.save(folder / "encoder")
    return folder


def add(run, data, out, **more):
    return mc.runs.add_classes(run / "model", data, out, encoder=run / "encoder", **more)


def new_pictures(folder, *kinds):
    for i, kind in enumerate(kinds):
        path = folder / kind / f"new{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(saved(picture(48, 52, seed=50 + i), "PNG"))
    return folder


def test_a_folder_of_pictures_is_a_class_of_its_name(run, tmp_path):
    folder = new_pictures(tmp_path, "zebra", "zebra") / "zebra"
    assert add(run, folder, tmp_path / "new").changed == ["zebra"]


def test_folders_below_a_folder_are_a_class_each(run, tmp_path):
    folder = new_pictures(tmp_path / "new", "zebra", "okapi", "okapi")
    found = add(run, folder, tmp_path / "out")
    assert (found.changed, found.rows) == (["okapi", "zebra"], 3)


def test_one_picture_is_a_class_of_the_name_that_is_given(run, tmp_path):
    folder = new_pictures(tmp_path, "downloads")
    assert add(run, folder / "downloads" / "new0.png", tmp_path / "out", name="zebra").changed == ["zebra"]


def test_pictures_that_cannot_be_read_are_left_out_and_told_of(run, tmp_path):
    folder = new_pictures(tmp_path, "zebra") / "zebra"
    (folder / "bad.png").write_bytes(b"no picture")
    told = []
    assert add(run, folder, tmp_path / "out", warn=told.append).rows == 1
    assert len(told) == 1
    (folder / "new0.png").unlink()
    with pytest.raises(ValueError, match="must hold a picture that can be read; it holds none"):
        add(run, folder, tmp_path / "other", warn=told.append)
