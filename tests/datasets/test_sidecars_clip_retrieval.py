"""The folder that clip-retrieval writes."""

import numpy as np
import pytest

from manyclass.datasets import read_features

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NUMBERS = (0, 1, 2, 10)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "img_emb").mkdir()
    for i in NUMBERS:
        np.save(tmp_path / "img_emb" / f"img_emb_{i}.npy", np.full((2, 3), i, np.float16))
    return tmp_path


def write_metadata(folder, digits=1, rows=2, **columns):
    (folder / "metadata").mkdir()
    for i in NUMBERS:
        named = {name: [value.format(f"{i}.{j}") for j in range(rows)] for name, value in columns.items()}
        pq.write_table(
            pa.table({"caption": ["a photo"] * rows, **named}), folder / "metadata" / f"metadata_{i:0{digits}}.parquet"
        )


def test_without_metadata_there_are_only_features(folder):
    features = read_features(folder)
    np.testing.assert_array_equal(features.X.toarray()[:, 0], np.repeat(NUMBERS, 2))
    assert (features.y, features.names) == (None, None)


@pytest.mark.parametrize(
    "columns",
    [
        {"image_path": "{}", "key": "-", "url": "-"},
        {"key": "{}", "url": "-"},
        {"url": "{}"},
    ],
    ids=lambda columns: next(iter(columns)),
)
@pytest.mark.parametrize("digits", [1, 4])
def test_names_come_from_the_metadata_of_the_same_number(folder, columns, digits):
    write_metadata(folder, digits, **columns)
    expected = [f"{i}.{j}" for i in NUMBERS for j in (0, 1)]
    assert list(read_features(folder).names) == expected


def test_a_caption_is_no_name_and_no_label(folder):
    write_metadata(folder)
    features = read_features(folder)
    assert (features.y, features.names) == (None, None)


def test_labels_come_from_the_metadata(folder):
    write_metadata(folder, label="class {}")
    assert read_features(folder).label_names()[-1] == "class 10.1"


def test_labels_beside_the_embeddings_go_first(folder):
    write_metadata(folder, label="class {}")
    np.save(folder / "labels.npy", np.arange(8))
    assert read_features(folder).y.tolist() == list(range(8))


WAY_OUT = r"; labels=False \(--labels none\) leaves labels out$"
LIKE = r"/metadata must have a file like metadata_0\.parquet for img_emb_2\.npy; got none with its number"


def test_an_empty_folder_of_metadata_says_nothing(folder):
    (folder / "metadata").mkdir()
    assert read_features(folder).names is None


def test_missing_metadata_is_named(folder):
    write_metadata(folder, key="{}")
    (folder / "metadata" / "metadata_2.parquet").unlink()
    with pytest.raises(ValueError, match=LIKE + WAY_OUT):
        read_features(folder)


def test_missing_metadata_can_be_done_without(folder):
    write_metadata(folder, key="{}")
    (folder / "metadata" / "metadata_2.parquet").unlink()
    with pytest.warns(UserWarning, match=LIKE + "; it is left out$"):
        features = read_features(folder, labels=False)
    assert (features.names, len(features.notices)) == (None, 1)


def test_metadata_of_another_length_are_named(folder):
    write_metadata(folder, rows=3, key="{}")
    with pytest.raises(
        ValueError, match=r"/metadata_0\.parquet must have 2 rows, as img_emb_0\.npy has; got 3" + WAY_OUT
    ):
        read_features(folder)


def test_labels_of_another_length_beside_the_embeddings_are_refused(folder):
    np.save(folder / "labels.npy", np.arange(7))
    with pytest.raises(ValueError, match=rf"^{folder}/labels\.npy must have one entry per row .*8\); got 7" + WAY_OUT):
        read_features(folder)
