"""read_features: features with their labels and names."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets import Features, read_features

A = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([0, 2, 2, 5])  # labels may leave gaps
NAMES = ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]


def test_an_npz_has_labels_names_classes_and_split_beside_the_features(tmp_path):
    split = np.array(["train", "test"] * 2)
    np.savez(
        tmp_path / "x.npz", features=A.astype(np.float16), labels=Y, names=NAMES, split=split, classes=list("uvwxyz")
    )
    features = read_features(tmp_path / "x.npz")
    np.testing.assert_array_equal(features.X.toarray(), A)
    np.testing.assert_array_equal(features.y, Y)
    assert list(features.names) == NAMES
    assert list(features.split) == split.tolist()
    assert list(features.classes) == list("uvwxyz")


def test_what_is_not_there_is_none(tmp_path):
    np.save(tmp_path / "x.npy", A)
    features = read_features(tmp_path / "x.npy")
    assert (features.y, features.names, features.classes, features.split) == (None, None, None, None)


def save_labels(path):
    np.save(path, Y) if path.suffix == ".npy" else path.write_text("\n".join(map(str, Y)))


@pytest.mark.parametrize("name", ["labels.npy", "labels.csv", "labels.txt", "x_labels.npy", "x_labels.csv"])
def test_labels_beside_an_npy_are_found(tmp_path, name):
    np.save(tmp_path / "x.npy", A)
    save_labels(tmp_path / name)
    np.testing.assert_array_equal(read_features(tmp_path / "x.npy").y, Y)


def test_labels_of_the_same_name_go_before_those_of_the_folder(tmp_path):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "labels.npy", np.zeros(9, int))
    np.save(tmp_path / "x_labels.npy", Y)
    np.testing.assert_array_equal(read_features(tmp_path / "x.npy").y, Y)


def test_names_and_classes_beside_an_npy_are_found(tmp_path):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "labels.npy", Y)
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    (tmp_path / "classes.txt").write_text("u\nv\nw\nx\ny\nz\n")
    features = read_features(tmp_path / "x.npy")
    assert list(features.names) == NAMES
    assert list(features.classes) == list("uvwxyz")


def test_a_table_of_labels_gives_names_unless_they_have_a_file(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text("".join(f"{name},{y}\n" for name, y in zip(NAMES, Y, strict=True)))
    assert list(read_features(tmp_path / "x.npy").names) == NAMES
    (tmp_path / "names.txt").write_text("1\n2\n3\n4\n")
    assert list(read_features(tmp_path / "x.npy").names) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("labels", [Y, Y.tolist(), list("bcad"), np.array(list("bcad"), object)])
def test_labels_that_are_given_go_before_those_that_are_found(tmp_path, labels):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "labels.npy", np.zeros(9, int))
    np.testing.assert_array_equal(read_features(tmp_path / "x.npy", labels=labels).y, labels)


def test_labels_may_be_given_as_a_file(tmp_path):
    np.save(tmp_path / "x.npy", A)
    save_labels(tmp_path / "elsewhere.csv")
    np.testing.assert_array_equal(read_features(str(tmp_path / "x.npy"), labels=str(tmp_path / "elsewhere.csv")).y, Y)


@pytest.fixture
def shards(tmp_path):
    for i, rows in ((0, slice(0, 1)), (2, slice(1, 3)), (10, slice(3, 4))):
        np.save(tmp_path / f"features_{i}.npy", A[rows])
        np.save(tmp_path / f"labels_{i}.npy", Y[rows])
    return tmp_path


def test_shards_have_shards_of_labels(shards):
    features = read_features(shards)
    np.testing.assert_array_equal(features.X.toarray(), A)
    np.testing.assert_array_equal(features.y, Y)


def test_shards_may_have_one_file_of_labels(shards):
    (shards / "labels.csv").write_text("p\nq\nr\ns\n")
    assert list(read_features(shards).y) == list("pqrs")


def test_a_shard_of_labels_of_another_length_is_named(shards):
    np.save(shards / "labels_2.npy", Y)
    with pytest.raises(ValueError, match=r"/labels_2\.npy must have 2 entries, one per row of features_2\.npy; got 4$"):
        read_features(shards)


def test_a_missing_shard_of_labels_is_said(shards):
    (shards / "labels_10.npy").unlink()
    with pytest.raises(ValueError, match=r"must have as many files like labels_0\.npy as of features, 3; got 2$"):
        read_features(shards)


@pytest.mark.parametrize("label", [Y.tolist(), list("abca")])
def test_a_parquet_has_columns_of_labels_and_names(tmp_path, label):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    split = ["train"] * 3 + ["test"]
    table = pa.table({"label": label, "path": NAMES, "split": split, "embedding": list(A), "caption": ["?"] * 4})
    pq.write_table(table, tmp_path / "x.parquet")
    features = read_features(tmp_path / "x.parquet")
    np.testing.assert_array_equal(features.X.toarray(), A)
    assert features.y.tolist() == label
    assert list(features.names) == NAMES
    assert list(features.split) == split


def test_a_folder_of_parquet_files_keeps_labels_with_their_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for i, rows in ((10, slice(3, 4)), (9, slice(0, 3))):
        pq.write_table(pa.table({"label": Y[rows], "emb": list(A[rows])}), tmp_path / f"{i}.parquet")
    features = read_features(tmp_path)
    np.testing.assert_array_equal(features.X.toarray(), A)
    np.testing.assert_array_equal(features.y, Y)


def test_a_store_gives_what_was_written(tmp_path):
    mc.write_store(tmp_path / "x.store", A, y=Y, names=NAMES, classes=list("uvwxyz"))
    features = read_features(tmp_path / "x.store")
    np.testing.assert_array_equal(features.X.toarray(), A)
    np.testing.assert_array_equal(features.y, Y)
    assert list(features.names) == NAMES
    assert list(features.classes) == list("uvwxyz")


def test_another_number_of_labels_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "labels.npy", Y[:3])
    message = rf"^{tmp_path}/x\.npy does not fit .*: labels must have one entry per row of X \(4\); got 3$"
    with pytest.raises(ValueError, match=message):
        read_features(tmp_path / "x.npy")


@pytest.mark.parametrize("wrong", [-1, 3])
def test_labels_must_be_among_the_classes(wrong):
    message = rf"^labels must be integers in \[0, 3\); got {wrong} at row 2$"
    with pytest.raises(ValueError, match=message):
        Features(mc.DenseMatrix(A), y=np.array([0, 1, wrong, 9]), classes=list("abc"))


@pytest.mark.parametrize("what", ["names", "split"])
def test_names_and_split_are_one_per_row(what):
    with pytest.raises(ValueError, match=rf"^{what} must have one entry per row of X \(4\); got 1$"):
        Features(mc.DenseMatrix(A), **{what: ["a"]})
