import json

import numpy as np
import pytest
from data.archives.archive_makers import picture, write_tar

from manyclass import read_image, write_features
from manyclass.datasets import read_images
from manyclass.datasets.webdataset import read_tars


class MeanColor:
    """An encoder of three numbers."""

    n_features_out_ = 3

    def encode(self, image):
        return image.mean(axis=(0, 1)).astype(np.float32)


def sample(number, label=None, **about):
    files = {f"{number:09}.jpg": picture(number), f"{number:09}.txt": b"a caption"}
    files |= {f"{number:09}.json": json.dumps(about).encode()} if about else {}
    return files | ({f"{number:09}.cls": str(label).encode()} if label is not None else {})


def write_tars(folder, tars):
    for name, samples in tars.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_tar(folder / name, {key: data for one in samples for key, data in one.items()})
    return folder


def test_a_folder_of_tars_has_pictures_labels_and_names(tmp_path):
    folder = write_tars(tmp_path, {"00000.tar": [sample(0, 7), sample(1, 8)], "00001.tar": [sample(2, 7)]})
    (folder / "00000_stats.json").write_text("{}")
    (folder / "00000.parquet").write_bytes(b"what img2dataset keeps of urls")
    images = read_images(folder)
    assert images.names == ["00000.tar/000000000", "00000.tar/000000001", "00001.tar/000000002"]
    assert images.y.tolist() == ["7", "8", "7"]
    assert [one.read() for one in images.paths] == [picture(0), picture(1), picture(2)]
    assert (images.split, images.notices) == (None, ())


def test_one_tar_is_enough(tmp_path):
    write_tars(tmp_path, {"00003.tar": [sample(0, 7), sample(1, 8)], "00004.tar": [sample(2, 1)]})
    assert read_images(tmp_path / "00003.tar").names == ["00003.tar/000000000", "00003.tar/000000001"]


def test_labels_may_be_in_the_json(tmp_path):
    images = read_images(
        write_tars(tmp_path, {"0.tar": [sample(0, url="u", label="cat"), sample(1, url="u", label=3)]})
    )
    assert images.y.tolist() == ["cat", "3"]


def test_captions_are_no_labels(tmp_path):
    images = read_images(write_tars(tmp_path, {"0.tar": [sample(0, caption="a cat", status="success")]}))
    assert images.y is None
    assert images.notices == ()


def test_labels_of_some_are_left_out_with_a_notice(tmp_path):
    images = read_images(write_tars(tmp_path, {"0.tar": [sample(0, 1), sample(1)]}))
    assert images.y is None
    assert images.notices == ("only some images have labels, and 0.tar/000000001 has none; labels are left out",)


@pytest.mark.parametrize("place", ["classnames.txt", "test/classes.txt"])
def test_a_list_of_classes_gives_numbers_names(tmp_path, place):
    folder = write_tars(tmp_path, {"test/0.tar": [sample(0, 1), sample(1, 0)]})
    (folder / place).write_text("cat\nhot dog\n")
    assert read_images(folder).y.tolist() == ["hot dog", "cat"]


def test_a_list_of_other_classes_is_left_out(tmp_path):
    folder = write_tars(tmp_path, {"0.tar": [sample(0, 5)]})
    (folder / "classes.txt").write_text("cat\n")
    assert read_images(folder).y.tolist() == ["5"]
    assert "classes.txt must name" in read_images(folder).notices[0]


@pytest.mark.parametrize("names", [("train/0.tar", "val/0.tar"), ("x-train-0000.tar", "x-val-0000.tar")])
def test_names_of_tars_tell_the_split(tmp_path, names):
    images = read_images(write_tars(tmp_path, {name: [sample(i, i)] for i, name in enumerate(names)}))
    assert images.split.tolist() == ["train", "val"]


def test_a_broken_tar_costs_itself(tmp_path):
    folder = write_tars(tmp_path, {"0.tar": [sample(0, 1)]})
    (folder / "1.tar").write_bytes(b"no tar" * 400)
    images = read_images(folder)
    assert images.names == ["0.tar/000000000"]
    assert "1.tar must be a whole tar" in images.notices[0]
    (folder / "0.tar").unlink()
    with pytest.raises(ValueError, match="at least one image in its tars"):
        read_tars(folder, ["1.tar"])


def test_tars_beside_pictures_are_files_like_others(tmp_path):
    write_tars(tmp_path, {"0.tar": [sample(0, 1)]})
    (tmp_path / "a.png").write_bytes(picture(3))
    assert read_images(tmp_path).names == ["0.tar", "a.png"]


def test_features_of_tars_are_those_of_the_files_and_bad_members_are_listed(tmp_path):
    broken = {"000000001.jpg": b"no picture", "000000001.cls": b"1"}
    images = read_images(write_tars(tmp_path / "tars", {"0.tar": [sample(0, 1), broken, sample(2, 1)]}))
    run = write_features(tmp_path / "a.store", images.paths, MeanColor(), y=images.y, names=images.names)
    (tmp_path / "x.jpg").write_bytes(picture(2))
    assert np.array_equal(run.store.X.rows(1), MeanColor().encode(read_image(tmp_path / "x.jpg")))
    assert [(one.name, one.reason[:15]) for one in run.skipped] == [("0.tar/000000001", "is not an image")]


def test_an_interrupted_run_over_tars_goes_on_to_the_same_bytes(tmp_path):
    samples = [sample(i, i % 2) for i in range(40)]
    images = read_images(write_tars(tmp_path / "t", {"0.tar": samples[:25], "1.tar": samples[25:]}))
    given = {"y": images.y, "names": images.names}

    def stop(done, total):
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_features(tmp_path / "a.store", images.paths, MeanColor(), **given, progress=stop)
    run = write_features(tmp_path / "a.store", images.paths, MeanColor(), **given)
    whole = write_features(tmp_path / "b.store", images.paths, MeanColor(), **given)
    assert run.resumed_after > 0
    assert np.array_equal(run.store.X.rows(slice(None)), whole.store.X.rows(slice(None)))
    assert list(run.store.names) == images.names
