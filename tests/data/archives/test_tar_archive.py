import contextlib
import tarfile

import pytest
from data.archives.archive_makers import picture, write_tar
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass import limits
from manyclass._core.errors import FileRefusedError
from manyclass.data.archives.tar_archive import TarError, pictures_in_tar, tar_members

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
LONG = "folder" * 12 + "/" + "n" * 90 + ".png"


@pytest.mark.parametrize("kind", FORMATS)
def test_members_have_the_bytes_that_were_put_in(tmp_path, kind):
    files = {"1.png": picture(1), "empty.txt": b"", LONG: picture(2), "3.json": b"{}" * 400}
    path = write_tar(tmp_path / "a.tar", files, format=FORMATS[kind])
    assert {member.name: member.read() for member in tar_members(path)} == files


@pytest.mark.parametrize("kind", ["gnu", "pax"])
def test_names_may_be_longer_than_a_header_and_of_any_letters(tmp_path, kind):
    files = {"x" * 300 + ".png": picture(1), "Übung/é.png": picture(2)}
    path = write_tar(tmp_path / "a.tar", files, format=FORMATS[kind])
    assert {member.name: member.read() for member in tar_members(path)} == files


def test_pictures_are_told_by_their_keys_and_the_rest_stands_beside(tmp_path):
    path = write_tar(
        tmp_path / "a.tar",
        {"7.jpg": picture(1), "7.json": b"{}", "7.cls": b"3", "8.left.png": picture(2), "8.right.png": picture(3)},
    )
    found = pictures_in_tar(path)
    assert list(found.pictures) == ["7", "8", "8.right.png"]
    assert {key: sorted(beside) for key, beside in found.beside.items()} == {"7": ["cls", "json"]}


def test_hidden_members_and_folders_are_left_out(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"a": {"type": tarfile.DIRTYPE}, "a/._1.png": b"x", "a/1.png": picture(1)})
    assert list(pictures_in_tar(path).pictures) == ["a/1"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_bad_pictures_and_lead_nowhere(tmp_path, kind):
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture(9))
    path = write_tar(tmp_path / "a.tar", {"1.png": {"type": kind, "linkname": str(secret)}, "2.png": picture(2)})
    found = pictures_in_tar(path).pictures
    assert found["2"].read() == picture(2)
    with pytest.raises(FileRefusedError, match="in a tar, which is not followed"):
        found["1"].read()


def test_absolute_and_climbing_names_are_names_alone(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"/etc/passwd.png": picture(1), "../../up.png": picture(2)})
    assert [member.read() for member in pictures_in_tar(path).pictures.values()] == [picture(1), picture(2)]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.tar"]


def test_a_picture_that_is_cut_off_is_bad_and_those_before_are_good(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"1.png": picture(1), "2.png": picture(2)})
    data = path.read_bytes()
    path.write_bytes(data[: data.index(picture(2)) + 100])
    found = pictures_in_tar(path).pictures
    assert found["1"].read() == picture(1)
    with pytest.raises(FileRefusedError, match="is cut off"):
        found["2"].read()


def test_a_tar_that_ends_in_a_header_gives_what_comes_before(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"1.png": picture(1), "2.png": picture(2)})
    data = path.read_bytes()
    path.write_bytes(data[: data.index(picture(2)) - 200])
    found = pictures_in_tar(path)
    assert list(found.pictures) == ["1"]
    assert found.notices[0].endswith("what comes before is used")


def test_what_is_no_tar_is_refused(tmp_path):
    for name, content in (
        ("text.tar", b"hello " * 300),
        ("packed.tar", b"\x1f\x8b" + bytes(2000)),
        ("short.tar", b"a"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TarError, match="must be a whole tar, not compressed"):
            pictures_in_tar(tmp_path / name)


def test_a_member_that_says_it_is_huge_takes_no_memory(tmp_path):
    info = tarfile.TarInfo("1.png")
    info.size = 1 << 50
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 1000)
    with pytest.raises(FileRefusedError, match="is cut off"):
        pictures_in_tar(path).pictures["1"].read()


def test_a_member_beyond_the_limit_is_refused_before_it_is_read(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"1.png": picture(1)})
    with limits(image=10), pytest.raises(FileRefusedError, match="over the limit of 10 bytes"):
        pictures_in_tar(path).pictures["1"].read()


@pytest.mark.parametrize("kind", [b"L", b"x"])
def test_a_name_of_a_gigabyte_is_refused(tmp_path, kind):
    info = tarfile.TarInfo("1.png")
    info.size, info.type = 1 << 30, kind
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 2000)
    with pytest.raises(TarError, match="in few bytes"):
        pictures_in_tar(path)


@pytest.mark.parametrize("size", [b"\xff" * 12, b"00000000089\0", b"++000000001\0", b"-0000000001\0", b"1+00000000 \0"])
def test_a_size_that_is_none_is_refused(tmp_path, size):
    info = tarfile.TarInfo("1.png")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = size
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 256 + sum(header[156:]))
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(1024))
    with pytest.raises(TarError, match="of some size"):
        pictures_in_tar(tmp_path / "a.tar")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_in_a_tar_it_is_read_or_refused(tmp_path_factory, data):
    path = write_tar(tmp_path_factory.mktemp("t") / "a.tar", {LONG: picture(1), "2.png": picture(2), "2.cls": b"1"})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, 4000))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        found = pictures_in_tar(path).pictures
    except TarError:
        return
    for member in found.values():
        with contextlib.suppress(FileRefusedError):
            member.read()
