"""What is served: ids, numbers, classes, rows, worlds."""

import shutil

import numpy as np
import pytest

import manyclass as mc
from manyclass.server.collection import Collection, open_collection, source_of
from tests.server.drawn_collection import make_collection, names


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    made = make_collection(tmp_path_factory.mktemp("collection"))
    yield made
    made.close()


def served(gallery, base, **more):
    return Collection(gallery, base / "any", base / "home", **more)


def test_ids_and_numbers_are_of_each_other(collection):
    assert collection.ids == names()
    assert [collection.number(one) for one in names()] == list(range(len(names())))
    assert "red/00.png" in collection
    assert "nobody" not in collection


@pytest.mark.parametrize("one", ["nobody", "", "red", "red/00.png\0", "1", "-1", "../red/00.png", "RED/00.png"])
def test_what_is_no_id_is_refused_in_a_sentence(collection, one):
    with pytest.raises(ValueError, match="ids must be those of pictures of pictures; got "):
        collection.number(one)


def test_ids_may_be_numbers_and_images_may_be_gone(tmp_path):
    gallery = mc.Gallery()
    gallery.add(np.eye(6), ids=[10, 11, 12, -3, 14, 15])
    gallery.remove([11])
    made = served(gallery, tmp_path)
    assert made.ids == ["10", "12", "-3", "14", "15"]
    assert [made.number(one) for one in made.ids] == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(made.embeddings([2]), np.eye(6)[[3]])
    np.testing.assert_array_equal(made.X.rows(slice(None)), np.eye(6)[[0, 2, 3, 4, 5]])
    for wrong in ("11", "010", "+10", "٣", "1_0", " 10", "9" * 40):
        assert wrong not in made
    made.close()


def test_an_empty_gallery_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must hold at least one picture; it is empty"):
        served(mc.Gallery(mc.ExemplarLDA(random_state=0).fit(np.eye(4))), tmp_path)


def test_pictures_tell_what_is_known_of_them(collection):
    number = collection.number("blue/deep/er/still.png")
    assert collection.picture(number) == {
        "id": "blue/deep/er/still.png",
        "number": number,
        "name": "still.png",
        "folder": "blue/deep/er",
        "class": "blue",
        "label": None,
        "set_aside": False,
        "url": f"/api/pictures/{number}/thumbnail?v={collection.key}",
    }


def test_worlds_are_of_unit_length_and_as_large_as_they_say(collection):
    assert list(collection.worlds)[:2] == ["negatives", "gallery"]
    assert collection.default_world == "negatives"
    for world in collection.worlds.values():
        rows = world.embeddings()
        assert rows.shape == (world.size, 48)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_rows_for_learning_are_the_features_that_the_gallery_was_made_of(tmp_path):
    X = np.random.default_rng(0).random((60, 5), np.float32)
    mc.write_store(tmp_path / "x.store", X, [str(i % 3) for i in range(60)], names=[f"n{i}" for i in range(60)])
    mc.runs.build_gallery(tmp_path / "x.store", tmp_path / "x.gallery", method="lda")
    made = open_collection(tmp_path / "x.gallery", tmp_path / "home")
    np.testing.assert_array_equal(made.X.rows(slice(None)), X)
    assert made.given[:4] == ["0", "1", "2", "0"]
    made.close()
    gallery = mc.Gallery.open(tmp_path / "x.gallery")
    gallery.remove(["n3", "n7"])
    gallery.add(X[3:4], ids=["n3"])
    moved = Collection(gallery, tmp_path / "x.gallery", tmp_path / "home", source_of(gallery, tmp_path / "x.gallery"))
    np.testing.assert_array_equal(moved.X.rows(slice(None)), X[[*range(3), 4, 5, 6, *range(8, 60), 3]])
    moved.close()
    shutil.rmtree(tmp_path / "x.store")
    alone = open_collection(tmp_path / "x.gallery", tmp_path / "home")
    assert alone.data is None
    np.testing.assert_array_equal(alone.X.rows(slice(None)), alone.embeddings(np.arange(60)))
    alone.close()


def test_a_gallery_that_changes_on_disk_is_served_as_it_was(tmp_path):
    X = np.random.default_rng(0).random((5000, 8), np.float32)
    gallery = mc.Gallery()
    gallery.add(X)
    gallery.save(tmp_path / "x.gallery")
    made = open_collection(tmp_path / "x.gallery", tmp_path / "home")
    before = made.gallery.search_ids([7], k=5)
    for file in (tmp_path / "x.gallery").iterdir():
        file.write_bytes(b"\xff" * (file.stat().st_size // 2))
    after = made.gallery.search_ids([7], k=5)
    np.testing.assert_array_equal(before.ids, after.ids)
    np.testing.assert_array_equal(before.scores, after.scores)
    made.close()


@pytest.mark.parametrize("method", ["kernel-slem", "reranked"])
def test_marks_have_a_linear_space_where_the_gallery_has_none(tmp_path, method):
    X = np.random.default_rng(0).random((40, 6), np.float32)
    encoder = mc.KernelSquareLossExemplar(random_state=0).fit(X)
    plain = mc.ExemplarLDA(random_state=0).fit(X)
    gallery = mc.Gallery(encoder) if method == "kernel-slem" else mc.Gallery(plain, reranker=encoder)
    gallery.add(X)
    made = served(gallery, tmp_path)
    assert not made.is_linear
    assert made.space.search_embeddings(made.embeddings([4]), k=1).ids.tolist() == [[4]]
    made.close()


def test_an_encoder_that_cannot_be_read_costs_search_by_pictures_alone(collection, monkeypatch):
    class Broken:
        @property
        def features(self):
            raise ValueError("network.onnx is not there")

    monkeypatch.setattr(collection, "gallery", Broken())
    monkeypatch.setattr(collection, "notes", ["1 file left out"])
    for _ in range(2):
        assert not collection.search_by_pictures
    words = "it cannot be searched by other pictures: network.onnx is not there"
    assert collection.notes == ["1 file left out", words]


def test_warming_up_is_a_search(collection):
    collection.notes = []
    collection.warm_up()
    assert collection.gallery.state().neighbors._null is not None
