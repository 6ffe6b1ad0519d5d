"""Galleries of parts become, byte for byte, the gallery of one run, and find the same."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.retrieval.storage.segments import read_gallery_manifest, write_gallery_manifest
from manyclass.retrieval.storage.verify_gallery import verify_gallery
from manyclass.runs.galleries import gallery_builder
from tests.cli.gallery_data import labeled, world, write_store
from tests.features.extraction.written import contents_of


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Blocks of few rows, so that small data has parts."""
    monkeypatch.setattr(gallery_builder, "ROWS_AT_ONCE", 16)


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "x.store", split=["train", "test"] * 48).path


@pytest.fixture
def negatives(tmp_path):
    np.save(tmp_path / "world.npy", world())
    return tmp_path / "world.npy"


def make_parts(folder, data, n, **given):
    paths = [folder / f"part{i}" for i in range(1, n + 1)]
    for i, path in enumerate(paths, 1):
        mc.runs.build_gallery(data, path, shard=f"{i}/{n}", **given)
    return paths


METHODS = {
    "slem": {"method": "slem", "tune": True},
    "slem of its own rows": {"negatives": None},
    "kernel-slem": {"method": "kernel-slem", "sample": 150, "labels": "none"},
    "lda": {"method": "lda", "false_match": 0.1, "labels": "none"},
    "whitening": {"method": "whitening", "seed": 3},
    "none": {"method": "none"},
}


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("given", METHODS.values(), ids=METHODS)
def test_parts_become_the_gallery_of_one_run(store, negatives, tmp_path, given, n):
    given, warned, joined = {"negatives": negatives, **given}, [], []
    mc.runs.build_gallery(store, tmp_path / "whole", **given, warn=warned.append)
    parts = make_parts(tmp_path, store, n, **given)
    result = mc.runs.join(tmp_path / "joined", parts[::-1], warn=joined.append)
    assert joined == warned
    assert contents_of(tmp_path / "joined") == contents_of(tmp_path / "whole")
    assert (result["kind"], result["parts"], result["images"], result["dimensions"]) == ("gallery", n, 96, 12)
    assert verify_gallery(tmp_path / "joined") == []


def test_segments_of_many_rows_are_those_of_one_run(store, negatives, tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass.retrieval.storage.save.SEGMENT_BYTES", 20 * 12 * 4)
    mc.runs.build_gallery(store, tmp_path / "whole", negatives=negatives)
    mc.runs.join(tmp_path / "joined", make_parts(tmp_path, store, 2, negatives=negatives))
    assert len(list((tmp_path / "joined").glob("X-*.npy"))) == 5
    assert contents_of(tmp_path / "joined") == contents_of(tmp_path / "whole")


def test_rows_that_are_known_by_numbers_keep_them(negatives, tmp_path):
    np.save(tmp_path / "x.npy", labeled()[0])
    mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "whole", negatives=negatives)
    parts = make_parts(tmp_path, tmp_path / "x.npy", 4, negatives=negatives)
    mc.runs.join(tmp_path / "joined", parts)
    assert contents_of(tmp_path / "joined") == contents_of(tmp_path / "whole")
    assert mc.Gallery.open(parts[3]).ids.tolist() == list(range(64, 96))


@pytest.mark.parametrize("method", ["slem", "kernel-slem"])
def test_every_search_finds_the_same_with_the_same_scores_and_p_values(negatives, tmp_path, method):
    X, _ = labeled()
    data = mc.write_store(tmp_path / "y.store", X, y=[f"thing {i % 32}" for i in range(96)]).path
    given = {"negatives": negatives, "method": method, "tune": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of methods that others would beat
        mc.runs.build_gallery(data, tmp_path / "whole", **given)
        mc.runs.join(tmp_path / "joined", make_parts(tmp_path, data, 3, **given))
    assert contents_of(tmp_path / "joined") == contents_of(tmp_path / "whole")
    assert (tmp_path / "joined" / "null-0.safetensors").exists()
    Q, _ = labeled(20, seed=5)
    whole, joined = (mc.Gallery.open(tmp_path / name).search(Q, 7) for name in ("whole", "joined"))
    for name in ("ids", "scores", "p_values", "expected_false_matches", "matched"):
        assert_array_equal(getattr(joined, name), getattr(whole, name))


def test_a_part_is_a_gallery_of_its_own(store, negatives, tmp_path):
    parts = make_parts(tmp_path, store, 2, negatives=negatives)
    gallery = mc.Gallery.open(parts[1])
    assert len(gallery) == 48
    assert gallery.search_ids(gallery.ids[:1], k=1).ids.shape == (1, 1)
    assert verify_gallery(parts[1]) == []
    about = gallery.provenance["shard"]
    assert [about[key] for key in ("number", "count", "first", "stop", "total")] == [2, 2, 48, 96, 96]


def test_what_is_there_is_replaced_only_if_one_says_so(store, negatives, tmp_path):
    parts = make_parts(tmp_path, store, 2, negatives=negatives)
    mc.runs.join(tmp_path / "joined", parts)
    with pytest.raises(ValueError, match="joined is there already; pass `overwrite=True`"):
        mc.runs.join(tmp_path / "joined", parts)
    mc.runs.join(tmp_path / "joined", parts, overwrite=True)
    assert len(mc.Gallery.open(tmp_path / "joined")) == 96


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": 1}, r"differ in seed \(0 and 1\)"),
        ({"labels": "none"}, "differ in labels"),
        ({"false_match": 0.2}, "differ in settings"),
        ({"method": "whitening"}, "differ in the model encoder that they learned"),
        ({"method": "none"}, "differ in the model encoder that they learned"),
        ({"settings": {"n_background": 3}}, "differ in the model encoder that they learned"),
    ],
)
def test_parts_of_other_settings_are_refused(store, negatives, tmp_path, given, said):
    (tmp_path / "other").mkdir()
    plain = {"negatives": negatives, "method": "lda"}
    parts = make_parts(tmp_path, store, 2, **plain)
    others = make_parts(tmp_path / "other", store, 2, **plain | given)
    with pytest.raises(mc.StorageError, match=f"are not parts of one whole: they {said}"):
        mc.runs.join(tmp_path / "joined", [parts[0], others[1]])
    assert not (tmp_path / "joined").exists()


def test_parts_of_other_rows_are_refused(store, negatives, tmp_path):
    (tmp_path / "other").mkdir()
    other = write_store(tmp_path / "y.store", seed=1, split=["train", "test"] * 48).path
    first, _ = make_parts(tmp_path, store, 2, negatives=negatives)
    _, second = make_parts(tmp_path / "other", other, 2, negatives=negatives)
    with pytest.raises(mc.StorageError, match="are not parts of one whole: they differ in rows"):
        mc.runs.join(tmp_path / "joined", [first, second])


@pytest.mark.parametrize("change", ["add", "remove", "update"])
def test_a_part_that_was_changed_is_refused(store, negatives, tmp_path, change):
    parts = make_parts(tmp_path, store, 2, negatives=negatives)
    gallery = mc.Gallery.open(parts[0])
    row, key = labeled(1)[0], gallery.ids[:1]
    {"add": lambda: gallery.add(row, ids=["new"]), "remove": lambda: gallery.remove(key),
     "update": lambda: gallery.update(key, row)}[change]()  # fmt: skip
    gallery.save()
    with pytest.raises(mc.StorageError, match="part1 was changed since it was made"):
        mc.runs.join(tmp_path / "joined", parts)


def test_damage_in_any_file_that_is_read_is_noticed(store, negatives, tmp_path):
    parts = make_parts(tmp_path, store, 2, negatives=negatives, labels="none")
    # All parts have the same encoder, and the first one's is read; neighbors are worked out anew.
    names = {parts[0]: ("encoder-0.safetensors", "X-0.npy", "labels-0.safetensors", "manifest.json")}
    names[parts[1]] = names[parts[0]][1:]
    for file in (part / name for part, found in names.items() for name in found):
        data = file.read_bytes()
        at = len(data) * 3 // 4
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(mc.StorageError):
            mc.runs.join(tmp_path / "joined", parts)
        assert not (tmp_path / "joined").exists()
        file.write_bytes(data)


@pytest.mark.parametrize(
    "changed", [{"segments": [{}]}, {"segments": None}, {"null": None}, {"models": []}, {"gone": 3}, {"images": "x"}]
)
def test_a_manifest_that_no_gallery_of_ours_has_is_refused(store, negatives, tmp_path, changed):
    parts = make_parts(tmp_path, store, 2, negatives=negatives)
    write_gallery_manifest(parts[1], read_gallery_manifest(parts[1])[0] | changed)
    with pytest.raises(mc.StorageError):
        mc.runs.join(tmp_path / "joined", parts)
    assert not (tmp_path / "joined").exists()


def test_a_comparison_is_not_for_a_part(store, negatives, tmp_path):
    with pytest.raises(SettingsError, match="`evaluate` does not go with `shard`"):
        mc.runs.build_gallery(store, tmp_path / "g", negatives=negatives, evaluate=True, shard="1/2")


def test_a_part_that_cannot_be_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(SettingsError, match="`shard` must be i/n"):
        mc.runs.build_gallery(tmp_path / "nothing", tmp_path / "g", shard="3/2")


def test_progress_counts_rows(store, negatives, tmp_path, watched):
    parts = make_parts(tmp_path, store, 2, negatives=negatives)
    mc.runs.join(tmp_path / "joined", parts, progress=watched)
    assert watched.seen == [("joining", "rows", 96, 96)]
