"""Which rows are learned from and which judge; and that files of other rows are refused."""

import numpy as np
import pytest

from manyclass.runs.probing.probe_data import read_probe_data


def write(path, n=60, k=4, seed=0, **more):
    rng = np.random.default_rng(seed)
    content = {"X": rng.standard_normal((n, 5), np.float32), "y": np.arange(n) % k} | more
    np.savez(path, **{key: value for key, value in content.items() if value is not None})
    return path


def read(*paths, labels=None, test_fraction=None, sample=None, seed=0, warn=pytest.fail):
    return read_probe_data(list(paths), labels, test_fraction, sample, seed, warn)


def positions(dataset):
    return dataset.rows.tolist()


def test_data_without_parts_keeps_a_fifth_of_every_class_by_the_seed(tmp_path):
    path = write(tmp_path / "x.npz")
    first, same, other = read(path), read(path), read(path, seed=1)
    assert np.bincount(first.y_test).tolist() == [3, 3, 3, 3]
    assert positions(first.judged[0]) == positions(same.judged[0]) != positions(other.judged[0])
    assert not set(positions(first.judged[0])) & set(positions(first.learned[0]))
    assert first.protocol.startswith("20 % of every class are held out, drawn by seed 0; 48 rows to learn from and 12 ")


@pytest.mark.parametrize(
    ("parts", "learned", "judged", "chosen"),
    [
        (["train", "test"], {"train"}, {"test"}, None),
        (["train", "val"], {"train"}, {"val"}, None),
        (["train", "val", "test"], {"train", "val"}, {"test"}, {"val"}),
        (["train", "test", "extra"], {"train"}, {"test"}, None),
    ],
)
def test_the_parts_of_the_data_are_used(tmp_path, parts, learned, judged, chosen):
    split = np.array(parts)[np.arange(60) // 4 % len(parts)]
    data = read(write(tmp_path / "x.npz", split=split))
    assert set(split[positions(data.learned[0])]) == learned
    assert set(split[positions(data.judged[0])]) == judged
    task = data.task(0)
    if chosen:
        assert set(split[positions(data.learned[0])][task.held_out]) == chosen
    assert sorted([*task.learned, *task.held_out]) == list(range(len(data.y)))


def test_a_class_of_the_part_val_alone_is_learned_from(tmp_path):
    split = np.array(["train", "val", "test"])[np.arange(60) % 3]
    y = np.where((split == "val") & (np.arange(60) < 12), 7, np.arange(60) // 3 % 4)
    task = read(write(tmp_path / "x.npz", y=y, split=split)).task(0)
    assert set(task.y[task.learned]) == set(task.y) == {0, 1, 2, 3, 4}
    assert set(task.y[task.held_out]) == {0, 1, 2, 3}


def test_parts_of_other_names_are_refused(tmp_path):
    path = write(tmp_path / "x.npz", split=np.array(["a", "b"])[np.arange(60) % 2])
    with pytest.raises(ValueError, match=r"parts train and test \(or val\), or no parts at all; it has a, b"):
        read(path)


def test_rows_keep_their_labels(tmp_path):
    X = np.arange(300, dtype=np.float32).reshape(60, 5)
    data = read(write(tmp_path / "x.npz", X=X, y=np.array(["owl", "cat", "dog"])[np.arange(60) % 3]))
    for dataset, y in ((data.learned[0], data.y), (data.judged[0], data.y_test)):
        rows = positions(dataset)
        assert (dataset.X.toarray() == X[rows]).all()
        assert data.classes[y].tolist() == np.array(["owl", "cat", "dog"])[np.array(rows) % 3].tolist()


def test_several_files_share_the_split_of_the_one_that_has_it(tmp_path):
    split = np.where(np.arange(60) % 3, "train", "test")
    data = read(write(tmp_path / "a.npz"), write(tmp_path / "b.npz", seed=1, split=split))
    assert data.names == ["a", "b"]
    assert [set(split[positions(one)]) for one in data.judged] == [{"test"}, {"test"}]
    assert not (data.learned[0].X.toarray() == data.learned[1].X.toarray()).any()


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        ({}, {"n": 59}, "it has 59 rows, and not 60"),
        ({}, {"y": np.arange(60) % 4 - (np.arange(60) == 7)}, "row 7 has the label '3' there and '2' here"),
        (
            {"names": np.array([f"{i}.jpg" for i in range(60)])},
            {"names": np.array([f"{i ^ 1}.jpg" for i in range(60)])},
            "row 0 has the name '0.jpg' there and '1.jpg' here",
        ),
        (
            {"split": np.where(np.arange(60) % 3, "train", "test")},
            {"split": np.where(np.arange(60) % 5, "train", "test")},
            "row 3 has the part 'test' there and 'train' here",
        ),
    ],
)
def test_files_of_other_rows_are_refused(tmp_path, first, other, said):
    paths = write(tmp_path / "a.npz", **first), write(tmp_path / "b.npz", **other)
    with pytest.raises(ValueError, match=f"b.npz must have the rows of .*a.npz in the same order .*; {said}"):
        read(*paths)


def test_the_same_file_twice_is_refused(tmp_path):
    path = write(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="the same file must be given once only"):
        read(path, path)


def test_files_of_one_name_are_called_by_their_paths(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    paths = [write(tmp_path / folder / "x.npz", seed=i) for i, folder in enumerate("ab")]
    assert read(*paths).names == [str(path) for path in paths]


def test_rows_of_classes_that_cannot_be_learned_are_left_out_with_a_sentence(tmp_path):
    said = []
    y = np.where(np.arange(60) == 59, 9, np.arange(60) % 4)
    data = read(write(tmp_path / "x.npz", y=y, split=np.where(np.arange(60) < 40, "train", "test")), warn=said.append)
    assert len(data.y_test) == 19
    assert said == [f"1 row of 1 class of {tmp_path / 'x.npz'} left out, as there are none of them to learn from"]


def test_a_test_of_unknown_classes_alone_is_refused(tmp_path):
    path = write(tmp_path / "x.npz", y=np.arange(60) // 20, split=np.where(np.arange(60) < 40, "train", "test"))
    with pytest.raises(ValueError, match="no row is of one"):
        read(path)


def test_a_sample_has_a_row_of_every_class_and_is_told(tmp_path):
    data = read(write(tmp_path / "x.npz", n=200), sample=20)
    assert (len(data.y), len(data.y_test), data.sampled) == (20, 20, True)
    assert len(np.unique(data.y)) == 4
    assert data.protocol.endswith("(a sample of at most 20 each)")


def test_rows_without_a_label_are_left_out(tmp_path):
    said = []
    y = np.where(np.arange(60) % 10 == 0, "", np.array(["a", "b", "c"])[np.arange(60) % 3])
    data = read(write(tmp_path / "x.npz", y=y), warn=said.append)
    assert data.classes.tolist() == ["a", "b", "c"]
    assert len(data.y) + len(data.y_test) == 54
    assert all("left out, as" in words for words in said)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused_with_their_file_and_row(tmp_path, value):
    X = np.zeros((60, 5), np.float32)
    X[17, 2] = value
    with pytest.raises(ValueError, match=r"x\.npz must hold finite numbers; row 17 has NaN or infinity"):
        read(write(tmp_path / "x.npz", X=X))


def test_classes_of_one_row_each_cannot_be_judged(tmp_path):
    with pytest.raises(ValueError, match="must have a class of two rows or more, to hold one out; each has one"):
        read(write(tmp_path / "x.npz", y=np.arange(60)))


def test_one_class_is_too_few(tmp_path):
    with pytest.raises(ValueError, match="must have at least two classes to learn from; got 1"):
        read(write(tmp_path / "x.npz", y=np.zeros(60, int)))
