import json

import pytest

from manyclass.datasets import read_images
from manyclass.datasets.metadata_tables import read_metadata


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def objects(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


CSV = "file_name,caption,label\n1.jpg,a cat,cat\n2.jpg,a dog,dog\n"
LINES = objects({"file_name": "1.jpg", "label": "cat"}, {"file_name": "2.jpg", "text": "a dog", "label": "dog"})


@pytest.mark.parametrize(("name", "text"), [("metadata.csv", CSV), ("metadata.jsonl", LINES)])
def test_labels_are_those_of_the_table_beside(tmp_path, name, text):
    images = read_images(write(tmp_path, {"2.jpg": "", "1.jpg": "", name: text}))
    assert images.names == ["1.jpg", "2.jpg"]
    assert images.y.tolist() == ["cat", "dog"]
    assert images.notices == ()


def test_every_part_may_have_a_table_of_its_own(tmp_path):
    files = {f"{part}/images/1.jpg": "" for part in ("train", "test")}
    files |= {f"{part}/metadata.csv": f"file_name,label\nimages/1.jpg,{part}s\n" for part in ("train", "test")}
    images = read_images(write(tmp_path, files))
    assert images.y.tolist() == ["tests", "trains"]
    assert images.split.tolist() == ["test", "train"]


def test_numbers_are_labels_and_a_column_may_tell_the_split(tmp_path):
    lines = objects(
        {"file_name": "1.jpg", "label": 3, "split": "train"}, {"file_name": "2.jpg", "label": 4, "split": "test"}
    )
    images = read_images(write(tmp_path, {"1.jpg": "", "2.jpg": "", "metadata.jsonl": lines}))
    assert (images.y.tolist(), images.split.tolist()) == (["3", "4"], ["train", "test"])


def test_a_picture_without_a_row_has_no_label(tmp_path):
    images = read_images(write(tmp_path, {"1.jpg": "", "2.jpg": "", "3.jpg": "", "metadata.csv": CSV}))
    assert images.y.tolist() == ["cat", "dog", ""]
    assert images.notices == ("1 of the images have no row in metadata.csv, and no label, such as 3.jpg",)


def test_captions_alone_leave_the_labels_of_folders(tmp_path):
    files = {"cats/1.jpg": "", "dogs/2.jpg": "", "metadata.csv": "file_name,text\ncats/1.jpg,a\ndogs/2.jpg,b\n"}
    images = read_images(write(tmp_path, files))
    assert images.y.tolist() == ["cats", "dogs"]
    assert "metadata.csv must have a column called labels" in images.notices[0]


@pytest.mark.parametrize("text", ["[1]\n", '{"file_name": "1.jpg", "label": [1]}\n', "{", '{"label": 1}\n'])
def test_a_broken_table_is_left_out_with_a_notice(tmp_path, text):
    images = read_images(write(tmp_path, {"1.jpg": "", "metadata.jsonl": text}))
    assert images.y is None
    assert images.notices[0].endswith("it is left out")


def test_names_that_climb_name_no_picture(tmp_path):
    write(tmp_path, {"a/metadata.csv": "file_name,label\n../1.jpg,x\n/etc/passwd,y\n", "a/1.jpg": "", "1.jpg": ""})
    found = read_metadata(tmp_path, ["1.jpg", "a/1.jpg", "a/metadata.csv"])
    assert found.label("a/1.jpg") == ""
    assert read_images(tmp_path / "a").y.tolist() == [""]


def test_tables_alone_are_no_pictures(tmp_path):
    with pytest.raises(ValueError, match="tables alone"):
        read_images(write(tmp_path, {"metadata.csv": CSV}))
