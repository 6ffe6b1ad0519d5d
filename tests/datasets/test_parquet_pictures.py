import numpy as np
import pytest
from data.archives.archive_makers import picture, write_hub_parquet

from manyclass import write_features
from manyclass.datasets import read_images
from manyclass.datasets.parquet_pictures import read_picture_tables

pytest.importorskip("pyarrow")


class MeanColor:
    """An encoder of three numbers, which may be copied to other processes."""

    n_features_out_ = 3
    forks = True

    def encode(self, image):
        return image.mean(axis=(0, 1)).astype(np.float32)


def test_pictures_classes_and_split_of_the_hub(tmp_path):
    names = ["cat", "dog"]
    write_hub_parquet(tmp_path / "train-00000-of-00001.parquet", [picture(0), picture(1)], [1, 0], names)
    write_hub_parquet(tmp_path / "test-00000-of-00001.parquet", [picture(2)], [1], names)
    images = read_images(tmp_path)
    assert images.names[:2] == ["test-00000-of-00001.parquet/0", "train-00000-of-00001.parquet/0"]
    assert images.y.tolist() == ["dog", "dog", "cat"]
    assert images.split.tolist() == ["test", "train", "train"]
    assert [one.read() for one in images.paths] == [picture(2), picture(0), picture(1)]


def test_one_file_is_enough(tmp_path):
    images = read_images(write_hub_parquet(tmp_path / "a.parquet", [picture(0)]))
    assert (images.names, images.y, images.split) == (["a.parquet/0"], None, None)


def test_minus_one_is_no_label(tmp_path):
    path = write_hub_parquet(tmp_path / "a.parquet", [picture(0), picture(1)], [-1, 0], ["cat"])
    assert read_images(path).y.tolist() == ["", "cat"]


def test_labels_beyond_the_names_are_refused(tmp_path):
    path = write_hub_parquet(tmp_path / "a.parquet", [picture(0), picture(1)], [0, 7], ["cat"])
    with pytest.raises(ValueError, match=r"labels in \[0, 1\), as its schema names classes; got 7 in row 1"):
        read_images(path)


def test_other_tables_beside_are_left_out_with_a_notice(tmp_path):
    write_hub_parquet(tmp_path / "a.parquet", [picture(0)])
    (tmp_path / "b.parquet").write_bytes(b"no table")
    images = read_picture_tables(tmp_path, ["a.parquet", "b.parquet"])
    assert images.names == ["a.parquet/0"]
    assert "b.parquet must be a complete parquet file" in images.notices[0]


def test_features_are_the_same_by_processes_and_alone(tmp_path):
    import manyclass as mc

    pictures = [picture(i) for i in range(60)]
    pictures[7] = b"no picture"
    images = read_images(write_hub_parquet(tmp_path / "a.parquet", pictures, row_group_size=25))
    stores = []
    for threads in (1, 3):
        with mc.threads(threads):
            stores.append(write_features(tmp_path / f"{threads}.store", images.paths, MeanColor(), names=images.names))
    rows = [run.store.X.rows(slice(None)) for run in stores]
    assert np.array_equal(*rows)
    assert [[one.name for one in run.skipped] for run in stores] == [["a.parquet/7"]] * 2
