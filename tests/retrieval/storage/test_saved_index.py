"""The index of a gallery is saved with it, checked, and follows its changes."""

import json

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StoreCorruptedError
from manyclass.retrieval.storage.verify_gallery import verify_gallery

pytest.importorskip("faiss")

V = np.random.default_rng(0).standard_normal((2000, 8)).astype(np.float32)


def files(folder):
    return {path.name for path in folder.glob("index*")}


@pytest.fixture
def saved(tmp_path):
    g = mc.Gallery(index="ivf")
    g.add(V[:1500])
    g.save(tmp_path / "g")
    return tmp_path / "g"


def test_an_index_is_saved_and_not_made_again(saved, monkeypatch):
    assert files(saved) == {"index-0.faiss", "indexed-0.safetensors"}
    g = mc.Gallery.open(saved)
    monkeypatch.setattr("manyclass.retrieval.faiss_index.make_index", None)
    assert g.index == "ivf"
    assert g.search(V[:5], k=1).ids.ravel().tolist() == [0, 1, 2, 3, 4]
    assert g.state().approximate.about["faiss"]


def test_a_small_change_keeps_the_file_and_is_found_all_the_same(saved):
    g = mc.Gallery.open(saved)
    g.add(V[1500:1600])
    g.remove([0])
    g.save()
    assert files(saved) == {"index-0.faiss", "indexed-0.safetensors"}
    again = mc.Gallery.open(saved)
    assert again.search(V[1590:1600], k=1).ids.ravel().tolist() == list(range(1590, 1600))
    assert 0 not in again.search(V[:1], k=5).ids


def test_a_large_change_writes_another_file_and_removes_the_old(saved):
    g = mc.Gallery.open(saved)
    g.remove(range(400))
    g.save()
    assert files(saved) == {"index-1.faiss", "indexed-1.safetensors"}


def test_a_gallery_without_an_index_has_no_file_of_one(saved):
    g = mc.Gallery.open(saved)
    g.set_index("exact")
    g.save()
    assert files(saved) == set()
    assert mc.Gallery.open(saved).index is None


def test_a_gallery_saved_elsewhere_has_its_index_there(saved, tmp_path):
    mc.Gallery.open(saved).save(tmp_path / "h")
    assert files(tmp_path / "h") == {"index-0.faiss", "indexed-0.safetensors"}


def test_a_damaged_index_is_refused_and_named(saved):
    data = bytearray((saved / "index-0.faiss").read_bytes())
    data[-1] ^= 1
    (saved / "index-0.faiss").write_bytes(data)
    with pytest.raises(StoreCorruptedError, match=r"index-0\.faiss.*checksum"):
        mc.Gallery.open(saved).search(V[:1])
    assert [damage.file for damage in verify_gallery(saved)] == ["index-0.faiss"]


def test_a_gallery_that_is_saved_anew_elsewhere_is_searched_as_it_was_opened(saved):
    before, other = mc.Gallery.open(saved), mc.Gallery.open(saved)
    other.remove(range(400))
    other.save()
    assert before.search(V[:5], k=1).ids.ravel().tolist() == [0, 1, 2, 3, 4]


def test_without_faiss_a_gallery_opens_and_is_searched_exactly(saved, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    g = mc.Gallery.open(saved)
    with pytest.raises(ImportError, match=r"manyclass\[faiss\]"):
        g.search(V[:1])
    g.set_index(None)
    assert g.search(V[:1], k=1).ids.tolist() == [[0]]


def test_galleries_from_before_the_setting_know_by_their_negatives_whether_they_are_their_own_background(tmp_path):
    from manyclass.retrieval.storage import segments

    for words, own in (("30 of the 60 rows of x.npy itself", True), ("all 9 rows of y.npy", False)):
        g = mc.Gallery(background=V[:60], provenance={"negatives": words})
        g.add(V[:60])
        g.save(tmp_path / str(own))
        content, _ = segments.read_gallery_manifest(tmp_path / str(own))
        content = json.loads(json.dumps(content))
        del content["settings"]["own_background"]
        segments.write_gallery_manifest(tmp_path / str(own), content)
        assert mc.Gallery.open(tmp_path / str(own)).own_background is own
