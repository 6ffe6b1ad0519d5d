"""read_features: features with their labels and names."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets import Dataset, read_features
from manyclass.datasets.dataset import count_classes, without_label

A = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([0, 2, 2, 5])  # labels may leave gaps
NAMES = ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
WAY_OUT = r"; labels=False \(--labels none\) leaves labels out$"


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


def table(names, labels):
    return "".join(f"{name},{label}\n" for name, label in zip(names, labels, strict=True))


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


def test_a_table_of_labels_gives_names(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text(table(NAMES, Y))
    assert list(read_features(tmp_path / "x.npy").names) == NAMES


def test_a_split_that_has_a_file_goes_before_that_of_a_table(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text("label,split\n" + table(Y, ["train"] * 4))
    (tmp_path / "split.txt").write_text("test\n" * 4)
    assert list(read_features(tmp_path / "x.npy").split) == ["test"] * 4


def test_a_table_of_labels_follows_names_that_have_a_file(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text(table(["z.jpg", *NAMES[::-1]], [9, *Y[::-1]]))
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    features = read_features(tmp_path / "x.npy")
    assert list(features.names) == NAMES
    np.testing.assert_array_equal(features.y, Y)


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
    message = r"/labels_2\.npy must have 2 entries, one per row of features_2\.npy; got 4" + WAY_OUT
    with pytest.raises(ValueError, match=message):
        read_features(shards)


def test_labels_of_a_shard_of_another_number_are_refused(shards):
    (shards / "labels_10.npy").rename(shards / "labels_9.npy")
    message = rf"^{shards} must have a file like labels_0\.npy for features_10\.npy; got none with its number" + WAY_OUT
    with pytest.raises(ValueError, match=message):
        read_features(shards)


def test_one_file_of_labels_must_fit_the_shards(shards):
    (shards / "labels.csv").write_text("p\nq\n")
    with pytest.raises(ValueError, match=rf"^{shards}/labels\.csv must have one entry .*\(4\); got 2" + WAY_OUT):
        read_features(shards)


@pytest.mark.parametrize("label", [Y.tolist(), list("abca")])
def test_a_parquet_has_columns_of_labels_and_names(tmp_path, label):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    split = ["train"] * 3 + ["test"]
    table = pa.table({"label": label, "path": NAMES, "split": split, "embedding": list(A), "caption": ["?"] * 4})
    pq.write_table(table, tmp_path / "x.parquet")
    features = read_features(tmp_path / "x.parquet")
    np.testing.assert_array_equal(features.X.toarray(), A)
    assert features.label_names().tolist() == label
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


def test_labels_of_a_folder_that_do_not_fit_are_left_out_with_a_notice(tmp_path):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "labels.npy", Y[:3])
    message = rf"^{tmp_path}/labels\.npy must have one entry per row of {tmp_path}/x\.npy \(4\); got 3; it is left out$"
    with pytest.warns(UserWarning, match=message) as warned:
        features = read_features(tmp_path / "x.npy")
    assert features.y is None
    assert features.notices == tuple(str(warning.message) for warning in warned)


def test_labels_made_for_the_file_must_fit(tmp_path):
    np.save(tmp_path / "x.npy", A)
    np.save(tmp_path / "x_labels.npy", Y[:3])
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x_labels\.npy must have one entry .*\(4\); got 3" + WAY_OUT):
        read_features(tmp_path / "x.npy")


@pytest.mark.parametrize("name", ["x_labels.npy", "labels.csv", "labels.txt"])
@pytest.mark.parametrize("labels", [False, Y], ids=["none", "given"])
def test_labels_that_are_set_aside_are_in_nobodys_way(tmp_path, name, labels):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / name).write_bytes(b"\xff,,\n,")
    features = read_features(tmp_path / "x.npy", labels=labels)
    assert (features.y is None, features.notices) == (labels is False, ())


def test_without_labels_there_are_no_classes_but_names_and_split(tmp_path):
    np.savez(tmp_path / "x.npz", X=A, y=Y, names=NAMES, split=list("abab"), classes=list("uvwxyz"))
    features = read_features(tmp_path / "x.npz", labels=False)
    assert (features.y, features.classes) == (None, None)
    assert (list(features.names), list(features.split)) == (NAMES, list("abab"))


def test_given_labels_follow_the_names_of_the_rows(tmp_path):
    np.savez(tmp_path / "x.npz", X=A, names=NAMES, y=[0, 0, 0, 0])
    (tmp_path / "y.csv").write_text(table(NAMES[::-1], Y[::-1]))
    features = read_features(tmp_path / "x.npz", labels=tmp_path / "y.csv")
    assert list(features.names) == NAMES
    np.testing.assert_array_equal(features.y, Y)


def test_given_labels_follow_names_in_a_table_of_labels_that_is_set_aside(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text(table(NAMES, [0, 0, 0, 0]))
    (tmp_path / "y.csv").write_text(table(NAMES[::-1], Y[::-1]))
    np.testing.assert_array_equal(read_features(tmp_path / "x.npy", labels=tmp_path / "y.csv").y, Y)


def test_without_labels_a_table_of_them_gives_names_alone(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "labels.csv").write_text(table(NAMES, Y))
    features = read_features(tmp_path / "x.npy", labels=False)
    assert (features.y, list(features.names)) == (None, NAMES)


def test_given_labels_of_other_names_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", X=A, names=NAMES)
    (tmp_path / "y.csv").write_text(table([*NAMES[:2], "C.jpg", "d.jpg"], Y))
    message = rf"^{tmp_path}/y\.csv must have a label for 'c\.jpg', which is row 2; got none; "
    with pytest.raises(ValueError, match=message):
        read_features(tmp_path / "x.npz", labels=tmp_path / "y.csv")


def test_given_labels_follow_the_names_in_a_store(tmp_path):
    mc.write_store(tmp_path / "x.store", A, names=NAMES)
    (tmp_path / "y.csv").write_text(table(NAMES[::-1], Y[::-1]))
    np.testing.assert_array_equal(read_features(tmp_path / "x.store", labels=tmp_path / "y.csv").y, Y)


@pytest.mark.parametrize("labels", [[1, 0, 1, 0], ["bird", "cat", "fish", "cat"], [7, 8, 9, 7]])
def test_given_labels_do_not_take_the_classes_of_others(tmp_path, labels):
    np.savez(tmp_path / "x.npz", X=A, y=[0, 1, 0, 1], classes=["cat", "dog"])
    features = read_features(tmp_path / "x.npz", labels=labels)
    assert (features.y.tolist(), features.classes) == (labels, None)


def test_given_labels_of_another_number_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "y.txt").write_text("1\n2\n")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/y\.txt must have one entry per row of .*x\.npy \(4\); got 2$"):
        read_features(tmp_path / "x.npy", labels=tmp_path / "y.txt")


@pytest.mark.parametrize("given", [True, False])
def test_labels_of_yes_and_no_are_integers(tmp_path, given):
    y = np.array([True, False, True, True])
    np.savez(tmp_path / "x.npz", X=A, **({} if given else {"y": y}))
    assert read_features(tmp_path / "x.npz", labels=y if given else None).y.dtype == np.int64


@pytest.mark.parametrize("y", [[0, 1, 2, 0], ["cat", "cat", "dog", "bird"]], ids=["integers", "strings"])
def test_classes_that_do_not_fit_the_labels_are_left_out_with_a_notice(tmp_path, y):
    np.savez(tmp_path / "x.npz", X=A, y=y, classes=["cat", "dog"])
    with pytest.warns(UserWarning, match=r"x\.npz member 'classes' does not fit the labels: .*; it is left out$"):
        features = read_features(tmp_path / "x.npz")
    assert (features.y.tolist(), features.classes) == (y, None)


def test_classes_without_labels_are_passed_over(tmp_path):
    np.save(tmp_path / "x.npy", A)
    (tmp_path / "classes.txt").write_text("u\nv\n")
    assert read_features(tmp_path / "x.npy").classes is None


@pytest.mark.parametrize("key", ["names", "split"])
def test_names_and_split_that_do_not_fit_are_left_out_with_a_notice(tmp_path, key):
    np.savez(tmp_path / "x.npz", X=A, y=Y, **{key: ["a"]})
    with pytest.warns(UserWarning, match=rf"^{tmp_path}/x\.npz member '{key}' must have one entry per row .*; got 1; "):
        features = read_features(tmp_path / "x.npz")
    assert (getattr(features, key), features.y.tolist()) == (None, Y.tolist())


@pytest.mark.parametrize("wrong", [-1, 3])
def test_labels_must_be_among_the_classes(wrong):
    message = rf"^labels must be integers in \[0, 3\); got {wrong} at row 2$"
    with pytest.raises(ValueError, match=message):
        Dataset(mc.DenseMatrix(A), y=np.array([0, 1, wrong, 9]), classes=list("abc"))


@pytest.mark.parametrize("what", ["names", "split"])
def test_names_and_split_are_one_per_row(what):
    with pytest.raises(ValueError, match=rf"^{what} must have one entry per row of X \(4\); got 1$"):
        Dataset(mc.DenseMatrix(A), **{what: ["a"]})


@pytest.fixture
def zoo():
    split = np.array(["train", "test", "train", "test"])
    return Dataset(mc.DenseMatrix(A), np.array([0, 1, 1, 2]), list("abcd"), ["ant", "bee", "cat"], split)


def test_a_subset_has_the_rows_of_its_split(zoo):
    test = zoo.subset("test")
    assert (len(test), test.subset_name, test.rows.tolist()) == (2, "test", [1, 3])
    np.testing.assert_array_equal(test.X.toarray(), A[[1, 3]])
    assert (test.y.tolist(), list(test.names), test.split.tolist()) == ([1, 2], ["b", "d"], ["test", "test"])
    assert zoo.subset("all") is zoo
    assert zoo.split_names() == ["test", "train"]


def test_a_subset_that_is_not_there_is_refused(zoo):
    with pytest.raises(ValueError, match="`subset` must be all or a part of the data, which has the parts test, train"):
        zoo.subset("val")
    with pytest.raises(ValueError, match="which has no split; got train"):
        Dataset(mc.DenseMatrix(A)).subset("train")


@pytest.mark.parametrize("before", [False, True], ids=["asked after", "asked before"])
def test_labels_are_the_names_of_classes_of_rows_taken_too(zoo, before):
    if before:
        assert zoo.label_names().tolist() == ["ant", "bee", "bee", "cat"]
    assert zoo.take(np.array([3, 0])).label_names().tolist() == ["cat", "ant"]
    assert Dataset(mc.DenseMatrix(A), np.array([7, 8, 9, 7])).label_names().tolist() == [7, 8, 9, 7]
    assert Dataset(mc.DenseMatrix(A)).label_names() is None


@pytest.mark.parametrize(
    "rows", [slice(1, 3), np.array([3, 0, 1, 2]), np.array([2, 2])], ids=["range", "order", "twice"]
)
def test_rows_are_taken_in_the_order_asked_for(zoo, rows):
    taken = zoo.take(rows)
    np.testing.assert_array_equal(taken.X.toarray(), A[rows])
    assert [taken.row_name(i) for i in range(len(taken))] == np.array(list("abcd"))[rows].tolist()


def test_a_row_without_a_name_is_known_by_its_number_in_the_whole():
    rows = Dataset(mc.DenseMatrix(A)).take(slice(1, 4)).take(np.array([2, 0]))
    assert [rows.row_name(0), rows.row_name(1)] == ["3", "1"]


@pytest.mark.parametrize("labels", [[-1, 1, 1], [-2, -1, 3], [0, 1, 2]])
def test_numbers_that_are_classes_are_labels(labels):
    assert not without_label(np.array(labels)).any()


@pytest.mark.parametrize(
    ("labels", "n"), [(["a", "", "b", ""], 2), ([0, -1, 1, 2], 3), ([-1, 1, 1, -1], 2), ([3, 3, 3, 3], 1)]
)
def test_rows_without_a_label_are_of_no_class(labels, n):
    assert count_classes(np.array(labels)) == n


def test_a_fingerprint_tells_rows_and_labels_apart_and_not_how_labels_are_kept():
    words = np.array(["cat", "dog", "dog", "fox"])

    def mark(X, y):
        return Dataset(mc.DenseMatrix(X), y).fingerprint()

    first = mark(A, words)
    assert mark(A.copy(), words.astype("<U40")) == first
    assert mark(A, Y) == mark(A, Y.astype(np.int8))
    others = [(A, words[::-1]), (A[::-1], words), (A[:-1], words[:-1]), (A, None), (A, Y)]
    assert len({mark(X, y) for X, y in others} | {first}) == 6


def test_examples_are_the_same_whatever_their_features_and_their_order():
    def mark(X, y, names):
        return Dataset(mc.DenseMatrix(X), np.array(y), names=names).examples_fingerprint()

    first = mark(A, list("uvvw"), NAMES)
    assert mark(A[:, :2] + 1, list("wvvu"), NAMES[::-1]) == first
    others = [(list("uvwv"), NAMES), (list("uvvw"), [*NAMES[:3], "e.jpg"]), (list("uvvx"), NAMES)]
    assert len({mark(A, y, names) for y, names in others} | {first}) == 4
    assert Dataset(mc.DenseMatrix(A), Y).examples_fingerprint() is None
    assert Dataset(mc.DenseMatrix(A), names=NAMES).examples_fingerprint() is None


def test_two_spellings_of_a_class_in_a_store_are_one(tmp_path):
    path = tmp_path / "x.store"
    mc.write_store(path, A, y=np.array([0, 1, 2, 1]), classes=["caf\u00e9", "cafe\u0301", "tea"])
    assert read_features(path).label_names().tolist() == ["caf\u00e9", "caf\u00e9", "tea", "caf\u00e9"]
