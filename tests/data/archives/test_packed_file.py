import pickle

import pytest
from data.archives.archive_makers import picture, write_hub_parquet, write_tar

from manyclass import limits
from manyclass._core.errors import FileRefusedError
from manyclass.data.archives.packed_file import check_packed, find_packed


def test_a_picture_is_found_by_the_tar_and_its_key(tmp_path):
    (tmp_path / "train").mkdir()
    write_tar(tmp_path / "train" / "00000.tar", {"0001.jpg": picture(1), "a/0002.png": picture(2)})
    assert find_packed(tmp_path, "train/00000.tar/0001").read() == picture(1)
    assert find_packed(tmp_path, "train/00000.tar/a/0002").read() == picture(2)
    assert find_packed(tmp_path, "train/00000.tar/0003") is None


def test_a_picture_is_found_by_the_table_and_its_row(tmp_path):
    write_hub_parquet(tmp_path / "train.parquet", [picture(i) for i in range(5)])
    assert find_packed(tmp_path, "train.parquet/4").read() == picture(4)
    assert find_packed(tmp_path, "train.parquet/5") is None


def test_a_tar_that_was_replaced_is_looked_at_again(tmp_path):
    write_tar(tmp_path / "a.tar", {"1.png": picture(1)})
    assert find_packed(tmp_path, "a.tar/1").read() == picture(1)
    write_tar(tmp_path / "a.tar", {"0.png": picture(0), "2.jpg": b"x", "1.png": picture(7)})
    assert find_packed(tmp_path, "a.tar/1").read() == picture(7)


@pytest.mark.parametrize("name", ["../a.tar/1", "b/../../a.tar/1", "a.tar", "no.tar/1", "a.tar\0/1", "link.tar/1"])
def test_no_archive_outside_of_the_folder_is_opened(tmp_path, name):
    inside = tmp_path / "inside"
    (inside / "b").mkdir(parents=True)
    write_tar(tmp_path / "a.tar", {"1.png": picture(1)})
    (inside / "link.tar").symlink_to(tmp_path / "a.tar")
    assert find_packed(inside, name) is None


def test_what_is_no_archive_has_no_pictures(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"no tar" * 500)
    (tmp_path / "a.parquet").write_bytes(b"no table" * 500)
    assert find_packed(tmp_path, "a.tar/1") is None
    assert find_packed(tmp_path, "a.parquet/1") is None


def test_a_file_in_an_archive_may_have_as_many_bytes_as_any_file():
    with limits(image=100):
        check_packed(100, "a.tar/1")
        with pytest.raises(FileRefusedError, match="has 101 bytes, over the limit of 100 bytes"):
            check_packed(101, "a.tar/1")


def test_a_packed_file_goes_to_other_processes_and_places(tmp_path):
    write_tar(tmp_path / "a.tar", {"1.png": picture(1)})
    one = pickle.loads(pickle.dumps(find_packed(tmp_path, "a.tar/1")))
    (tmp_path / "a.tar").rename(tmp_path / "b.tar")
    assert one.moved(str(tmp_path / "b.tar")).read() == picture(1)
