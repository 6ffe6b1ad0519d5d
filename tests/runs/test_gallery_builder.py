"""build_gallery, from Python: no command line, and nothing printed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.runs.records import read_record
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
