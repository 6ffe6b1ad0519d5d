"""What a run works on: rows with labels at a path, a subset of them, and something else that lies there."""

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

from manyclass.runs.sources import (
    check_is_pictures,
    draw_sample,
    draw_test_subset,
    labeled_subset,
    labels_words,
    read_labeled,
    read_source,
    read_subset,
    read_validation,
)


def npz(path, **more):
    X, y = rows()
    np.savez(path, **{"X": X, "y": y, **more})
    return path


def test_the_first_preferred_subset_is_read(tmp_path):
    data = store(tmp_path / "x.store")
    assert read_subset(data, None, None, ("val", "test", "train")).subset_name == "test"
    assert read_subset(data, None, None, ("val",)).subset_name == "all"
    train = read_subset(data, None, "train", ())
    assert (len(train), set(train.label_names())) == (120, set(CLASSES))


def test_validation_is_never_a_test_subset(tmp_path):
    parts = np.array(["train", "test"] * 90)
    with pytest.raises(ValueError, match="must have a part val, or no part test, to choose by; it has the parts test,"):
        read_validation(npz(tmp_path / "x.npz", split=parts))
    assert len(read_validation(npz(tmp_path / "y.npz", split=np.where(parts == "test", "val", "train")))) == 90
    assert len(read_validation(npz(tmp_path / "z.npz"))) == 180


def test_labels_beside_the_rows_are_told_of(tmp_path):
    X, y = rows()
    np.save(tmp_path / "x.npy", X)
    for name in ("labels.npy", "x_labels.npy"):  # the name of the rows goes before any other
        np.save(tmp_path / name, y)
        found = read_subset(tmp_path / "x.npy", None, None, ())
        assert labels_words(found) == f", with the labels of {tmp_path / name}"
    assert labels_words(read_subset(tmp_path / "x.npy", str(tmp_path / "labels.npy"), None, ())) == ""
    assert labels_words(read_labeled(npz(tmp_path / "x.npz"), None)) == ""


@pytest.mark.parametrize("labels", [[1, 0, -1, 2], ["a", "b", "", "c"]], ids=["numbers", "words"])
def test_rows_without_a_label_are_left_out_and_told(tmp_path, labels):
    np.savez(tmp_path / "x.npz", X=np.eye(4), y=labels)
    said = []
    found = labeled_subset(read_labeled(tmp_path / "x.npz", None), None, (), said.append)
    assert found.rows.tolist() == [0, 1, 3]
    assert [words.startswith(f"1 row of {tmp_path / 'x.npz'} left out, as its label is") for words in said] == [True]


def test_what_counts_as_no_label_is_seen_in_all_rows(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(4), y=[-1, 5, 6, 7], split=["a", "a", "b", "b"])
    assert read_subset(tmp_path / "x.npz", None, "a", (), warn=lambda words: None).rows.tolist() == [1]


def test_a_test_subset_is_drawn_where_there_is_no_split(tmp_path):
    dataset = read_source(npz(tmp_path / "x.npz"))
    assert draw_test_subset(dataset, None, 0) is dataset
    assert len(draw_test_subset(dataset, 0.2, 0).subset("test")) == 36
    with pytest.raises(ValueError, match=r"`test_fraction` must be between 0 and 1; got 1\.0"):
        draw_test_subset(dataset, 1.0, 0)


def test_what_the_reader_leaves_out_is_told(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(4), y=[0, 1, 0, 1], names=["a", "b"])
    with pytest.warns(UserWarning, match="it is left out"):
        read_source(tmp_path / "x.npz")
    said = []
    assert read_source(tmp_path / "x.npz", warn=said.append).names is None
    assert len(said) == 1


def test_labels_may_be_left_out(tmp_path):
    assert read_source(npz(tmp_path / "x.npz"), "none").y is None


def test_a_folder_of_pictures_or_a_run_is_told_for_what_it_is(tmp_path):
    (tmp_path / "photos" / "cat").mkdir(parents=True)
    (tmp_path / "photos" / "cat" / "1.jpg").touch()
    with pytest.raises(ValueError, match="must hold features, and it holds pictures; make features of them first"):
        read_source(tmp_path / "photos")
    check_is_pictures(tmp_path / "photos")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text('{"format": "manyclass run"}')
    with pytest.raises(ValueError, match="must hold features, and it holds a run"):
        read_source(tmp_path / "run")
    with pytest.raises(ValueError, match="must hold pictures, and it is a run of manyclass train"):
        check_is_pictures(tmp_path / "run")


def test_features_are_no_pictures(tmp_path):
    with pytest.raises(ValueError, match="is a store of features already"):
        check_is_pictures(store(tmp_path / "x.store"))
    with pytest.raises(ValueError, match="is a file of features already"):
        check_is_pictures(npz(tmp_path / "x.npz"))


@pytest.mark.parametrize("sample", [8, 20, 61, 100])
def test_a_sample_has_so_many_rows_of_every_class_alike_and_at_least_one(tmp_path, sample):
    counts = np.array([1, 1, 2, 3, 10, 20, 40, 43])
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(8), counts))
    data = read_labeled(npz(tmp_path / "x.npz", X=np.arange(120, dtype=np.float32)[:, None], y=y), None)
    drawn = draw_sample(data, sample, seed=0)
    found = np.bincount(np.asarray(drawn.label_names(), int), minlength=8)
    assert found.sum() == sample
    assert found.min() >= 1
    # What the first of small classes take is missing elsewhere.
    assert (found <= 1 + np.ceil(counts * sample / 120)).all()
    assert (np.diff(np.asarray(drawn.X.rows(slice(0, sample)))[:, 0]) > 0).all()


def test_a_sample_of_fewer_rows_than_classes_is_refused(tmp_path):
    data = read_labeled(npz(tmp_path / "x.npz", X=np.eye(120, 2, dtype=np.float32), y=np.arange(120) % 40), None)
    with pytest.raises(ValueError, match="`sample` must be at least 40, a row of every class; got 39"):
        draw_sample(data, 39, seed=0)
    assert len(draw_sample(data, 40, seed=0)) == 40
    assert draw_sample(data, 120, seed=0) is draw_sample(data, None, seed=0) is data
