"""Pictures by number: found by ids below their folders, and nowhere else."""

import os

import numpy as np
import pytest

from manyclass.features.images.picture_source import PictureSource
from manyclass.features.images.pixels import ImageError
from manyclass.server.picture_files import ByteCache, PictureFiles, PictureStat, placeholder
from manyclass.server.picture_workers import PictureWorkers
from tests.server.drawn_collection import as_file, drawn
from tests.server.traversal import STRINGS


@pytest.fixture(scope="module")
def workers():
    workers = PictureWorkers(1)
    yield workers
    workers.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pictures" / "sub").mkdir(parents=True)
    (tmp_path / "pictures" / "sub" / "a.png").write_bytes(as_file(drawn("red", 0)))
    (tmp_path / "secret.png").write_bytes(as_file(drawn("blue", 0)))
    return tmp_path / "pictures"


def files(names, folder, workers, most=10_000_000):
    return PictureFiles(names, PictureSource(None, folder, [folder]), workers, most)


def test_a_picture_is_found_by_its_id(folder, workers):
    found = files(["sub/a.png"], folder, workers)
    assert found.path(0) == folder / "sub" / "a.png"
    stat = found.stat(0)
    assert (stat.width, stat.height, stat.bytes) == (64, 64, (folder / "sub" / "a.png").stat().st_size)
    assert stat.modified.endswith("+00:00")
    assert found.pixels(0, 100).shape == (10, 10, 3)


@pytest.mark.parametrize("link", ["file", "folder", "relative"])
def test_links_that_lead_out_are_not_followed(folder, workers, link):
    if link == "folder":
        (folder / "out").symlink_to(folder.parent)
    else:
        target = folder.parent / "secret.png"
        (folder / "out.png").symlink_to(target if link == "file" else os.path.relpath(target, folder))
    found = files(["out/secret.png" if link == "folder" else "out.png"], folder, workers)
    assert found.path(0) is None
    assert found.thumbnail(0, 100) == (placeholder(), None)
    assert found.stat(0) == PictureStat()
    with pytest.raises(ImageError, match="is not where it was"):
        found.pixels(0)


def test_links_within_the_folder_are(folder, workers):
    (folder / "again.png").symlink_to("sub/a.png")
    assert files(["again.png"], folder, workers).path(0) == folder / "again.png"


def test_ids_that_are_paths_to_elsewhere_find_nothing(folder, workers):
    names = [*STRINGS, str(folder.parent / "secret.png"), "../secret.png", "sub/../../secret.png"]
    found = files(names, folder, workers)
    assert [found.path(number) for number in range(len(names))] == [None] * len(names)


def test_a_thumbnail_is_made_once_until_the_file_changes(folder, workers, monkeypatch):
    found, made = files(["sub/a.png"], folder, workers), []
    plain = workers.thumbnail
    monkeypatch.setattr(workers, "thumbnail", lambda *given: made.append(given) or plain(*given))
    first = found.thumbnail(0, 100)
    assert found.thumbnail(0, 100) == first
    assert len(made) == 1
    (folder / "sub" / "a.png").write_bytes(as_file(drawn("blue", 5)))
    assert found.thumbnail(0, 100) != first
    assert len(made) == 2


def test_pictures_may_be_an_array_with_names(tmp_path, workers):
    np.save(tmp_path / "pictures.npy", np.stack([drawn("red", 0), drawn("blue", 1)]))
    (tmp_path / "names.json").write_text('["a", "b"]')
    source = PictureSource({"array": "pictures.npy", "names": "names.json"}, tmp_path)
    found = PictureFiles(["b", "c"], source, workers, 10**6)
    assert found.thumbnail(0, 64)[1] == "array"
    np.testing.assert_array_equal(found.pixels(0), drawn("blue", 1))
    assert (found.stat(0).width, found.path(0)) == (64, None)
    assert found.thumbnail(1, 64) == (placeholder(), None)


def test_a_cache_holds_no_more_than_it_may():
    cache = ByteCache(100, most_entries=3)
    for key in range(10):
        cache.put(key, str(key), 40)
    assert (cache.bytes, len(cache), cache.get(9), cache.get(0)) == (80, 2, "9", None)
    cache.put("large", "x", 1000)
    assert (cache.bytes, len(cache)) == (0, 0)
    for key in range(10):
        cache.put(key, str(key), 1)
    assert len(cache) == 3
    assert cache.drop(9)
    assert not cache.drop(9)
    cache.put(8, "again", 5)
    assert (cache.get(8), cache.bytes) == ("again", 6)


def test_pictures_may_lie_in_a_tar(tmp_path, workers):
    from tests.data.archives.archive_makers import picture, write_tar

    write_tar(tmp_path / "0.tar", {"7.png": picture(7)})
    found = files(["0.tar/7", "0.tar/8"], tmp_path, workers)
    shown, version = found.thumbnail(0, 64)
    assert shown.media_type == "image/png"
    assert found.stat(0).width == workers.size(picture(7))[0]
    assert found.thumbnail(1, 64) == (placeholder(), None)
    write_tar(tmp_path / "0.tar", {"7.png": picture(8), "8.png": picture(8)})
    again, changed = found.thumbnail(0, 64)
    assert changed != version
    assert again.content != shown.content
