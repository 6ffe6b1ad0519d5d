"""Columns of parquet files that say something of the rows: usable, unusable, or missing in a later file."""

import numpy as np
import pytest

from manyclass.datasets import read_features

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

A = np.arange(12, dtype=np.float32).reshape(4, 3)
STRUCT = pa.array([{"a": 1}] * 4)


def write(path, /, **columns):
    pq.write_table(pa.table({"embedding": list(A), **columns}), path)
    return path


UNUSABLE = [
    ("url", ["a", None, "c", "d"], "must have no gaps; row 1 is null"),
    ("key", [b"\xff\xd8", b"a", b"b", b"c"], "must be text in UTF-8; row 0 is not"),
    ("path", STRUCT, "must be integers or strings; got struct<a: int64>"),
    ("split", [0.5, 1, 2, 3], "must be integers or strings; got double"),
    ("split", pa.nulls(4), "must be integers or strings; got null"),
]


@pytest.mark.parametrize(("name", "values", "problem"), UNUSABLE)
def test_unusable_names_and_split_are_left_out_with_a_notice(tmp_path, name, values, problem):
    path = write(tmp_path / "x.parquet", label=list("abca"), **{name: values})
    with pytest.warns(UserWarning, match=rf"^{path} column '{name}' {problem}; it is left out$"):
        features = read_features(path)
    assert (features.names, features.split, features.label_names().tolist()) == (None, None, list("abca"))


BAD_LABELS = [
    ("target", [0.5, 1, 2, 3], "must be integers or strings; got double"),
    ("label", [1, None, 2, 3], "must have no gaps; row 1 is null"),
    ("label", [["a"], ["a", "b"], [], ["c"]], "must be integers or strings; got list<.*>"),
    ("label", STRUCT, "must be integers or strings; got struct<a: int64>"),
]


@pytest.mark.parametrize(("name", "values", "problem"), BAD_LABELS)
def test_unusable_labels_are_refused_with_a_way_out(tmp_path, name, values, problem):
    path = write(tmp_path / "x.parquet", **{name: values})
    message = rf"^{path} column '{name}' {problem}; labels=False \(--labels none\) leaves labels out$"
    with pytest.raises(ValueError, match=message):
        read_features(path)


@pytest.mark.parametrize(("name", "values", "problem"), BAD_LABELS)
def test_unusable_labels_can_be_left_out(tmp_path, name, values, problem):
    features = read_features(write(tmp_path / "x.parquet", **{name: values}), labels=False)
    assert (features.y, features.notices) == (None, ())


def test_a_column_that_can_hold_labels_goes_before_one_that_cannot(tmp_path):
    path = write(tmp_path / "x.parquet", target=[0.5, 1, 2, 3], category=list("abca"))
    assert read_features(path).label_names().tolist() == list("abca")


@pytest.mark.parametrize(
    "values",
    [[True, False, True, True], pa.array([5, 7, 5, 5], pa.int16()), pa.array([5, 7, 5, 5]).dictionary_encode()],
    ids=["bool", "int16", "dictionary"],
)
def test_labels_are_integers_whatever_they_are_kept_as(tmp_path, values):
    y = read_features(write(tmp_path / "x.parquet", label=values)).y
    assert y.dtype.kind == "i"
    np.testing.assert_array_equal(y, pa.array(values).to_pylist())


def test_words_are_classes_in_order_and_digits_stay_words(tmp_path):
    words = read_features(write(tmp_path / "x.parquet", label=["owl", "ant", "owl", "bee"]))
    assert (words.y.tolist(), list(words.classes)) == ([2, 0, 2, 1], ["ant", "bee", "owl"])
    digits = read_features(write(tmp_path / "y.parquet", label=["10", "9", "10", "9"]))
    assert (digits.y.tolist(), digits.classes) == (["10", "9", "10", "9"], None)


def test_words_and_names_of_several_files_are_one_column(tmp_path):
    for number, words in enumerate((["owl", "e\u0301", "", "owl"], ["ant", "\u00e9", "owl", "bee"])):
        write(tmp_path / f"{number}.parquet", label=words, path=[f"{number}/猫{i}" for i in range(4)])
    features = read_features(tmp_path)
    assert features.label_names().tolist() == ["owl", "\u00e9", "", "owl", "ant", "\u00e9", "owl", "bee"]
    assert list(features.names) == [f"{number}/猫{i}" for number in (0, 1) for i in range(4)]


def test_bytes_that_are_text_are_names(tmp_path):
    path = write(tmp_path / "x.parquet", key=[b"a", b"b", b"c", "猫".encode()])
    assert list(read_features(path).names) == ["a", "b", "c", "猫"]


def test_a_later_file_without_the_labels_is_named(tmp_path):
    write(tmp_path / "0.parquet", label=list("abca"))
    write(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/1\.parquet must have a column 'label'; got embedding; labels="):
        read_features(tmp_path)


def test_a_later_file_without_the_names_costs_the_names(tmp_path):
    write(tmp_path / "0.parquet", label=list("abca"), url=list("0123"))
    write(tmp_path / "1.parquet", label=list("abca"))
    with pytest.warns(
        UserWarning, match=r"/1\.parquet must have a column 'url'; got embedding, label; it is left out$"
    ):
        features = read_features(tmp_path)
    assert (features.names, len(features.y)) == (None, 8)


def test_a_later_file_of_another_kind_is_named(tmp_path):
    write(tmp_path / "0.parquet", label=[1, 2, 3, 4])
    write(tmp_path / "1.parquet", label=list("abca"))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/1\.parquet must hold integers, as .*0\.parquet does; got str"):
        read_features(tmp_path)
