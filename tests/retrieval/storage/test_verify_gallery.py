"""Everything wrong with a saved gallery, and not only the first thing."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.retrieval.storage.verify_gallery import gallery_bytes, verify_gallery

X = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    g = mc.Gallery(mc.SquareLossExemplar(random_state=0).fit(X))
    g.add(X[:40])
    g.save(tmp_path / "g")
    g.remove([3, 4])
    g.add(X[40:])
    g.save()
    return tmp_path / "g"


def flip(path, where):
    content = bytearray(path.read_bytes())
    content[where] ^= 1
    path.write_bytes(content)


def test_a_good_gallery_has_no_damage_and_its_files_are_counted(folder):
    seen = []
    assert verify_gallery(folder, lambda done, total: seen.append((done, total))) == []
    assert seen[-1][0] == seen[-1][1]
    assert gallery_bytes(folder) == sum(file.stat().st_size for file in folder.iterdir() if file.name != "lock")


@pytest.mark.parametrize("prefix", ["X", "labels", "encoder", "gone", "manifest"])
def test_a_flipped_bit_in_any_file_is_found(folder, prefix):
    (path,) = sorted(folder.glob(f"{prefix}*"))[:1]
    flip(path, path.stat().st_size // 2)
    assert [damage.file for damage in verify_gallery(folder)] == [path.name]


def test_all_that_is_wrong_is_listed(folder):
    names = sorted(path.name for path in folder.glob("X-*.npy"))
    assert len(names) == 2
    for name in names:
        flip(folder / name, -1)
    next(folder.glob("encoder-*")).unlink()
    found = {damage.file: damage.reason for damage in verify_gallery(folder)}
    assert sorted(found)[:2] == names
    assert found[next(name for name in found if name.startswith("encoder"))] == "is missing"
    assert gallery_bytes(folder) > 0


def test_what_is_no_gallery_is_one_sentence(tmp_path):
    with pytest.raises(StorageError, match="is not a gallery"):
        verify_gallery(tmp_path)
