"""Photographs out of a tiny archive, their stores, and the machines that are tried on them."""

import io
import tarfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import manyclass as mc
from experiments import photographs
from experiments.one_vs_rest import in_span, products, support_vectors
from experiments.photographs import Encoded


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An archive of 3 classes with 4 pictures each to train on and 2 to test on."""
    monkeypatch.setenv("MANYCLASS_CACHE", str(tmp_path / "cache"))
    photographs.room.cache_clear()
    photographs.photographs.cache_clear()
    names = [f"{kind}/{i}.png" for kind in "abc" for i in range(6)]
    with tarfile.open(tmp_path / "tiny.tar", "w") as tar:
        for i, name in enumerate(names):
            picture = np.random.default_rng(i).integers(0, 256, (40, 40, 3), np.uint8)
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, "PNG")
            add(tar, f"tiny/images/{name}", stream.getvalue())
        for part, few in (("train", range(4)), ("test", range(4, 6))):
            listed = "\n".join(name for name in names if int(name[2]) in few)
            add(tar, f"tiny/{part}.txt", listed.encode())
    yield tmp_path
    photographs.room.cache_clear()
    photographs.photographs.cache_clear()


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def test_those_to_train_on_come_first(folder):
    found = photographs.photographs(folder, "tiny*.tar")
    assert found.n_train == 12
    assert found.y.tolist() == [*np.repeat([0, 1, 2], 4), *np.repeat([0, 1, 2], 2)]
    assert all(path.endswith(("0.png", "1.png", "2.png", "3.png")) for path in found.to_train)


def test_a_store_is_written_once_and_is_what_the_encoder_gives(folder):
    found = photographs.photographs(folder, "tiny*.tar")
    encoder = mc.FisherVectors(2, ("sift",), 8, n_samples=200, random_state=0)
    data = photographs.encoded(found, encoder)
    assert_array_equal(data.X.toarray(), encoder.transform(found.paths))
    again = mc.FisherVectors(2, ("sift",), 8, n_samples=200, random_state=0)
    assert_array_equal(photographs.encoded(found, again).X.toarray(), data.X.toarray())
    assert not hasattr(again, "parts_")


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2, 0, 1, 2], [4, 4, 4, 2, 2, 2])
    X = rng.normal(size=(3, 50))[y] + 0.3 * rng.normal(size=(18, 50))
    return Encoded(mc.DenseMatrix(X.astype(np.float32)), y, 12)


def test_the_span_has_the_same_products_and_fewer_numbers():
    data = drawn()
    small = in_span(data)
    assert small.X.shape == (18, 12)
    for a, b in (("train", "train"), ("test", "train")):
        expected = products(getattr(data, a)[0], getattr(data, b)[0])
        assert_allclose(products(getattr(small, a)[0], getattr(small, b)[0]), expected, atol=1e-3)


def test_classes_that_lie_apart_are_told_apart():
    assert support_vectors(drawn()) == 1.0
    assert support_vectors(in_span(drawn())) == 1.0


def test_the_first_numbers_are_of_unit_length_again():
    first = drawn().first(20).X.toarray()
    assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-6)
    whole = drawn().X.toarray()[:, :20]
    assert_allclose(first, whole / np.linalg.norm(whole, axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(("changed", "is_made_again"), [("code_digest", False), ("store_digest", True)])
def test_a_store_is_of_the_code_that_makes_stores(folder, monkeypatch, changed, is_made_again):
    found = photographs.photographs(folder, "tiny*.tar")
    photographs.encoded(found, mc.FisherVectors(2, ("sift",), 8, n_samples=200, random_state=0))
    monkeypatch.setattr(photographs, changed, lambda: "other")
    again = mc.FisherVectors(2, ("sift",), 8, n_samples=200, random_state=0)
    photographs.encoded(found, again)
    assert hasattr(again, "parts_") == is_made_again


def test_what_was_found_is_kept_for_the_code_that_found_it_alone(folder, monkeypatch):
    found = iter(range(9))
    assert [photographs.kept("a", lambda: next(found)) for _ in range(2)] == [0, 0]
    monkeypatch.setattr(photographs, "code_digest", lambda: "other")
    assert [photographs.kept("a", lambda: next(found)) for _ in range(2)] == [1, 1]
