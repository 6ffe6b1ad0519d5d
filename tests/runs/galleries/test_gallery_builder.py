"""build_gallery, from Python: no command line, and nothing printed."""

import shutil
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.retrieval.storage.segments import read_gallery_manifest, write_gallery_manifest
from manyclass.retrieval.storage.verify_gallery import verify_gallery
from manyclass.runs.records import read_record
from manyclass.runs.sources import retrieval_file
from tests.cli.gallery_data import labeled, world, write_store


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "x.store").path


@pytest.fixture
def negatives(tmp_path):
    np.save(tmp_path / "world.npy", world())
    return tmp_path / "world.npy"


def test_the_gallery_is_what_the_encoder_makes_of_the_rows(store, negatives, tmp_path, capsys):
    result = mc.runs.build_gallery(
        str(store), str(tmp_path / "g"), negatives=str(negatives), settings={"regularization": 0.1}, seed=3
    )
    expected = mc.Gallery(mc.SquareLossExemplar(regularization=0.1, random_state=3).fit(world()))
    expected.add(labeled()[0])
    gallery = mc.Gallery.open(tmp_path / "g")
    assert_array_equal(gallery.codes(gallery.ids), expected.codes(expected.ids))
    assert (result["images"], result["method"], result["settings"]["regularization"]) == (96, "slem", 0.1)
    assert capsys.readouterr() == ("", "")


def test_what_is_being_done_is_told_in_sentences(store, negatives, tmp_path):
    said = []
    mc.runs.build_gallery(store, tmp_path / "g", negatives=negatives, method="lda", notify=said.append)
    assert said == [f"negatives: all 200 rows of {negatives}", "learning lda from 200 negatives of 12 numbers"]


def test_progress_counts_queries_of_every_method_and_then_images(store, negatives, tmp_path, watched):
    mc.runs.build_gallery(
        store, tmp_path / "g", negatives=negatives, method=["lda", "none"], evaluate=True, progress=watched
    )
    assert watched.seen == [
        ("evaluating lda", "queries", 96, 96), ("evaluating none", "queries", 96, 96), ("encoding", "images", 96, 96)
    ]  # fmt: skip


def test_the_record_of_a_comparison_is_kept_with_the_gallery(store, negatives, tmp_path):
    result = mc.runs.build_gallery(store, tmp_path / "g", negatives=negatives, method="lda,none", evaluate=True)
    record = read_record(result["record"], "retrieval")
    assert record["methods"] == result["evaluation"]["methods"]
    compared = mc.runs.compare_encoders(store, "lda,none", negatives=negatives)
    times = [one.pop("seconds") for found in (record, compared) for one in found["methods"]]
    assert all(time >= 0 for time in times)
    assert {key: record[key] for key in compared} == compared


def test_settings_that_no_method_has_are_refused_by_their_name_as_an_argument(store, tmp_path):
    with pytest.raises(SettingsError, match=r"^`rank` does not go with `method='lda'`$"):
        mc.runs.build_gallery(store, tmp_path / "g", method="lda", settings={"rank": 3})
    assert not (tmp_path / "g").exists()


def test_a_gallery_that_is_there_is_kept_unless_it_may_be_replaced(store, tmp_path):
    mc.runs.build_gallery(store, tmp_path / "g", method="lda")
    with pytest.raises(ValueError, match="pass `overwrite=True` to replace it, or use update_gallery"):
        mc.runs.build_gallery(store, tmp_path / "g", method="none")
    assert mc.runs.build_gallery(store, tmp_path / "g", method="none", overwrite=True)["method"] == "none"


def test_an_encoder_of_pictures_that_does_not_fit_is_refused(store, tmp_path):
    mc.ExemplarLDA().fit(world()).save(tmp_path / "lda")
    with pytest.raises(ValueError, match="must be an encoder of pictures that gives 12 numbers"):
        mc.runs.build_gallery(store, tmp_path / "g", encoder=tmp_path / "lda")


def test_several_methods_need_an_evaluation_to_choose_one(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32))
    with pytest.raises(ValueError, match=r"`method` must name one method; pass `evaluate=True`"):
        mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "g", method=["slem", "lda"])


@pytest.fixture
def labeled_rows(tmp_path):
    """Rows with labels; the second file has others."""
    for seed in (0, 1):
        X, y = labeled(seed=seed)
        np.savez(tmp_path / f"{seed}.npz", X=X, y=y)
    return [tmp_path / f"{seed}.npz" for seed in (0, 1)]


def judged(gallery):
    """The rows of which a gallery was made, and those on which its record was measured."""
    file = retrieval_file(gallery)
    source = mc.Gallery.open(gallery).provenance["source"]
    return source, None if file is None else read_record(file, "retrieval")["data"][0]["path"]


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open"])
def test_whichever_call_fails_a_gallery_has_the_record_that_was_measured_on_it(
    tmp_path, labeled_rows, failing_call, call
):
    old, new = map(str, labeled_rows)
    mc.runs.build_gallery(old, tmp_path / "old", method="none", evaluate=True)
    hit, when = True, 0
    while hit:
        when += 1
        path = tmp_path / f"{when}"
        shutil.copytree(tmp_path / "old", path)
        with failing_call(call, when) as hit, warnings.catch_warnings(action="ignore"):
            try:
                mc.runs.build_gallery(new, path, method="none", evaluate=True, overwrite=True)
                expected = new
            except (mc.StorageError, OSError):
                expected = old
        assert judged(path) == (expected, expected)
    assert when > 3
    assert judged(tmp_path / "old") == (old, old)
    mc.runs.build_gallery(new, tmp_path / "old", method="none", overwrite=True)
    assert judged(tmp_path / "old") == (new, None)


def test_a_gallery_that_is_added_to_keeps_its_record_and_verifies(tmp_path, labeled_rows):
    mc.runs.build_gallery(labeled_rows[0], tmp_path / "g", method="none", evaluate=True)
    mc.runs.update_gallery(tmp_path / "g", labeled_rows[1])
    assert judged(tmp_path / "g")[1] == str(labeled_rows[0])
    file = retrieval_file(tmp_path / "g")
    file.write_bytes(file.read_bytes().replace(b"retrieval", b"Retrieval", 1))
    assert [damage.file for damage in verify_gallery(tmp_path / "g")] == [file.name]
    with pytest.raises(mc.StoreCorruptedError, match=file.name):
        retrieval_file(tmp_path / "g")


def test_the_record_beside_a_gallery_that_names_none_is_still_found(tmp_path, labeled_rows):
    mc.runs.build_gallery(labeled_rows[0], tmp_path / "g", method="none")
    (tmp_path / "g" / "retrieval.json").write_text("{}")
    assert retrieval_file(tmp_path / "g") is None
    content, _ = read_gallery_manifest(tmp_path / "g")
    del content["retrieval"]
    write_gallery_manifest(tmp_path / "g", content)
    assert retrieval_file(tmp_path / "g") == tmp_path / "g" / "retrieval.json"
    mc.runs.build_gallery(labeled_rows[0], tmp_path / "g", method="none", overwrite=True)
    assert not (tmp_path / "g" / "retrieval.json").exists()


def test_labels_choose_the_settings_unasked(labeled_rows, negatives, tmp_path):
    result = mc.runs.build_gallery(labeled_rows[0], tmp_path / "g", negatives=negatives)
    assert len(result["tuned"]) == 16 or result["method"] == "none"
    named = mc.runs.build_gallery(labeled_rows[0], tmp_path / "h", negatives=negatives, method="slem")
    assert len(named["tuned"]) == 16
    still = mc.runs.build_gallery(labeled_rows[0], tmp_path / "i", negatives=negatives, method="slem", tune=False)
    assert (still["tuned"], still["settings"]["regularization"]) == ([], "auto")


def test_few_rows_without_labels_are_compared_as_they_are_and_this_is_said(tmp_path):
    X, said = np.random.default_rng(0).standard_normal((150, 6), dtype=np.float32), []
    np.save(tmp_path / "x.npy", X)
    result = mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "g", notify=said.append)
    assert result["method"] == "none"
    assert "rows as they are make the gallery, not slem: 75 negatives are too few without labels" in said[-1]
    with pytest.warns(UserWarning, match=r"would be better than slem: 75 negatives .*; pass `method='none'`"):
        named = mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "h", method="slem")
    assert named["method"] == "slem"


def noise_that_matters(tmp_path):
    """Things are told by where negatives vary most: machines lose to rows as they are."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(20), 4)
    X = rng.normal(size=(20, 6))[y] * [9, 9, 9, 0, 0, 0] + rng.normal(size=(80, 6)) * [0.1, 0.1, 0.1, 3, 3, 3]
    np.savez(tmp_path / "x.npz", X=X.astype(np.float32), y=y)
    np.save(tmp_path / "w.npy", (rng.normal(size=(400, 6)) * [90, 90, 90, 1, 1, 1]).astype(np.float32))
    return tmp_path / "x.npz", tmp_path / "w.npy"


def test_the_best_of_what_was_evaluated_is_kept(tmp_path):
    data, world = noise_that_matters(tmp_path)
    result = mc.runs.build_gallery(data, tmp_path / "g", negatives=world, method="lda,none", evaluate=True)
    assert result["method"] == "none"
    assert [one["name"] for one in result["evaluation"]["methods"]] == ["none", "lda"]


def test_a_method_that_was_asked_for_is_kept_and_the_better_one_named_loudly(tmp_path):
    data, world = noise_that_matters(tmp_path)
    said = []
    options = {"negatives": world, "method": "lda", "evaluate": True}
    result = mc.runs.build_gallery(data, tmp_path / "g", **options, warn=said.append)
    assert said[0] == "rows as they are would be better than lda: by the comparison; pass `method='none'`"
    assert result["method"] == "lda"
    assert [one["name"] for one in result["evaluation"]["methods"]] == ["none", "lda"]
