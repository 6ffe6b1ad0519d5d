"""A store that is overwritten, and a disk that fails at any call: the rows always have the encoder that made them."""

import os
import shutil
import warnings
from contextlib import suppress

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.store.manifest import read_manifest
from manyclass.features.extraction.skip_log import read_skipped
from manyclass.runs.provenance import about_encoder, choose_kind, encoder_file, keep_encoder, kept_encoder
from tests.features.hostile import picture

IMAGES = [picture(40, 50, seed=i) for i in range(4)]
NAMES = ["a", "b", "c", "bad"]


@pytest.fixture(scope="module")
def encoders():
    """An old encoder and a new one, as wide and otherwise not alike."""
    settings = {"n_words": 3, "descriptors": ("sift",), "n_components": 4, "n_samples": 200, "scales": 1}
    return [mc.BagOfWords(**settings, random_state=seed).fit(IMAGES) for seed in (0, 1)]


def write(path, encoder, seed, **options):
    """What `manyclass features --overwrite` does; every fourth picture is none."""
    about = about_encoder(choose_kind("bow", seed, {}), [])
    if kept_encoder(path, about, True, True) is None:
        keep_encoder(path, about, encoder, True, True)
    images = [*IMAGES[:3], np.zeros(3)]
    with np.errstate(all="ignore"):
        return mc.write_features(path, images, encoder, names=NAMES, seed=seed, overwrite=True, **options)


def encoder_of(path, encoders):
    """Which encoder a store has; every picture finds itself by it, and the list of what was skipped is its own."""
    found = mc.load(encoder_file(path))
    rows = mc.open_store(path).X.toarray()
    np.testing.assert_array_equal(rows, [found.encode(image) for image in IMAGES[:3]])
    assert mc.verify_store(path) == []
    assert [entry.name for entry in read_skipped(path)] == ["bad"]
    (seed,) = [i for i, encoder in enumerate(encoders) if (encoder.encode(IMAGES[0]) == rows[0]).all()]
    return seed


def test_the_two_encoders_differ(encoders):
    assert (encoders[0].encode(IMAGES[0]) != encoders[1].encode(IMAGES[0])).any()


@pytest.fixture(scope="module")
def old(tmp_path_factory, encoders):
    write(path := tmp_path_factory.mktemp("old") / "a.store", encoders[0], 0)
    return path


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open", "pwrite"])
def test_whichever_call_fails_old_rows_have_the_old_encoder_and_new_ones_the_new(
    tmp_path, encoders, old, failing_call, call
):
    hit, when, told = True, 0, set()
    while hit:
        when += 1
        path = tmp_path / f"{when}.store"
        shutil.copytree(old, path)
        with failing_call(call, when) as hit, warnings.catch_warnings(record=True, action="always") as caught:
            try:
                write(path, encoders[1], 1)
                new = 1
            except mc.StorageError as error:
                told.add(str(error))
                new = 0
        assert encoder_of(path, encoders) == new
        assert new or not caught  # only what comes after the commit is a warning
        if not new:
            write(path, encoders[1], 1)
            assert encoder_of(path, encoders) == 1
            assert sorted(os.listdir(path)) == sorted(["manifest.json", *read_manifest(path).sizes()])
    assert when > 8
    assert all("store" in words and "\n" not in words for words in told)
    assert len(os.listdir(tmp_path)) == when  # nothing beside the stores


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open"])
def test_an_encoder_that_is_kept_survives_whichever_call_fails_when_the_write_begins(
    tmp_path, encoders, old, failing_call, call
):
    about = about_encoder(choose_kind("bow", 1, {}), [])
    for when in range(1, 9):
        path = tmp_path / f"{when}.store"
        shutil.copytree(old, path)
        keep_encoder(path, about, encoders[1], True, True)
        with failing_call(call, when), warnings.catch_warnings(action="ignore"), suppress(mc.StorageError):
            write(path, encoders[1], 1)
        assert encoder_of(path, encoders) == 1 or kept_encoder(path, about, True, True) is not None


def test_python_keeps_the_encoder_too_where_it_can_be_saved(tmp_path, encoders):
    store = mc.write_features(tmp_path / "a.store", IMAGES, encoders[0]).store
    assert mc.load(encoder_file(store.path)).encode(IMAGES[0]).tolist() == encoders[0].encode(IMAGES[0]).tolist()
