"""Where features came from, and encoders that are kept beside their stores."""

from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.runs.provenance import (
    about_encoder,
    choose_kind,
    encoder_file,
    encoder_path,
    keep_encoder,
    kept_encoder,
    picture_folder,
    pictures_of,
)

X = np.zeros((4, 3), np.float32)


@pytest.fixture
def store(tmp_path):
    """A store that says that it was made of the pictures of a folder."""
    (tmp_path / "photos").mkdir()
    provenance = {"made by": "manyclass features", "source": str(tmp_path / "photos"), "kind": "fisher"}
    return mc.write_store(tmp_path / "x.store", X, provenance=provenance).path


@pytest.fixture
def compressed(store, tmp_path):
    mc.runs.compress(store, tmp_path / "small.store", kind="scalar")
    return tmp_path / "small.store"


def test_pictures_are_found_by_way_of_a_compressed_store(store, compressed):
    folder = store.parent / "photos"
    assert picture_folder(compressed) == picture_folder(store) == folder.resolve()
    assert pictures_of(compressed) == {"folder": str(folder.resolve())}


def test_the_encoder_beside_a_store_is_that_of_its_compressed_copy_too(store, compressed):
    assert encoder_file(compressed) is None
    encoder_path(store).write_bytes(b"encoder")
    assert encoder_file(compressed) == encoder_path(store)


def test_what_is_no_store_came_from_nowhere(tmp_path):
    np.save(tmp_path / "x.npy", X)
    assert picture_folder(tmp_path / "x.npy") is None
    assert pictures_of(tmp_path / "x.npy") is None


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("sift", {}, "`kind` must be one of fisher, bow, vlad, an .onnx file, or a saved encoder; got sift"),
        ("vlad", {"layer": "x"}, "`layer` does not go with `kind='vlad'`"),
        ("m.onnx", {"n_words": 4}, "`n_words` does not go with `kind='m.onnx'`"),
    ],
)
def test_a_kind_that_cannot_be_is_an_error_of_settings(name, options, words):
    with pytest.raises(SettingsError) as error:
        choose_kind(name, 0, options)
    assert str(error.value) == words


def test_words_of_fisher_vectors_are_gaussians():
    kind = choose_kind("fisher", 0, {"n_words": 4, "descriptors": "sift,color", "step": None})
    assert kind.settings == {"n_gaussians": 4, "descriptors": ("sift", "color")}


def test_an_encoder_is_kept_for_the_same_settings_and_images_alone(tmp_path):
    out = tmp_path / "x.store"
    kind, other = (choose_kind("vlad", seed, {}) for seed in (0, 1))
    about, different = about_encoder(kind, []), about_encoder(other, [])
    assert kept_encoder(out, about, restart=False) is None
    keep_encoder(out, about, mc.WhitenedPCA().fit(np.random.default_rng(0).normal(size=(9, 3))))
    assert isinstance(kept_encoder(out, about, restart=False), mc.WhitenedPCA)
    assert kept_encoder(out, different, restart=True) is None
    with pytest.raises(ValueError, match="made otherwise; name it with `kind` to use it, or pass resume=False"):
        kept_encoder(out, different, restart=False)
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["x.store.encoder", "x.store.encoder.json"]
