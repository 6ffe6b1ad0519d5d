import json

import numpy as np
import pytest
from data.archives.archive_makers import picture, write_tar

from manyclass.features.images.picture_source import PictureSource


def test_a_name_is_a_path_in_a_folder_or_a_file_there(tmp_path):
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "1.png").write_bytes(picture(1))
    (tmp_path / "2.png").write_bytes(picture(2))
    source = PictureSource({"folder": str(tmp_path)}, tmp_path)
    assert [file for _, file in source.files("cats/1.png")] == [tmp_path / "cats" / "1.png"]
    assert [file for _, file in source.files("elsewhere/2.png")] == [tmp_path / "2.png"]


def test_no_file_outside_of_the_folder_is_named(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "1.png").write_bytes(picture(1))
    (tmp_path / "inside" / "link.png").symlink_to(tmp_path / "1.png")
    source = PictureSource({"folder": "inside"}, tmp_path)
    assert list(source.files("../1.png")) == []
    assert list(source.files("link.png", links_out=False)) == []
    assert len(list(source.files("link.png"))) == 1


def test_pictures_may_be_in_an_array(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    (tmp_path / "names.json").write_text(json.dumps(["a", "b"]))
    source = PictureSource({"array": "x.npy", "names": "names.json"}, tmp_path)
    assert source.pixels("b")[0, 0] == 12
    assert source.pixels("c") is None


def test_a_list_of_other_names_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4), np.uint8))
    (tmp_path / "names.json").write_text(json.dumps(["a"]))
    with pytest.raises(ValueError, match="must list one name for each picture"):
        PictureSource({"array": "x.npy", "names": "names.json"}, tmp_path)


def test_pictures_may_be_in_a_tar_of_a_folder(tmp_path):
    write_tar(tmp_path / "0.tar", {"7.png": picture(7)})
    source = PictureSource({"folder": str(tmp_path)}, tmp_path)
    folder, found = source.packed("0.tar/7")
    assert (folder, found.read()) == (tmp_path, picture(7))
    assert source.packed("0.tar/8") is None


def test_folders_that_are_given_come_first(tmp_path):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.png").write_bytes(picture(1))
    source = PictureSource({"folder": "second"}, tmp_path, [tmp_path / "first"])
    assert [folder.name for folder, _ in source.files("1.png")] == ["first", "second"]


@pytest.mark.parametrize("name", ["../1.png", "a/../../1.png", "\0", ".", "", "a"])
def test_nothing_outside_is_found_and_no_folder(tmp_path, name):
    (tmp_path / "inside" / "a").mkdir(parents=True)
    (tmp_path / "1.png").write_bytes(picture(1))
    assert list(PictureSource({"folder": "inside"}, tmp_path).files(name)) == []
