"""compare_encoders: mean average precision of encoders, from Python."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.evaluation import Truth, mean_average_precision
from tests.cli.gallery_data import labeled, world, write_store


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "x.store").path


@pytest.fixture
def negatives(tmp_path):
    np.save(tmp_path / "world.npy", world())
    return tmp_path / "world.npy"


def test_the_measure_is_leave_one_out_mean_average_precision(store, negatives):
    record = mc.runs.compare_encoders(store, "lda,none", negatives=negatives)
    X, y = labeled()
    encoder = mc.ExemplarLDA(random_state=0).fit(world())
    Z = encoder.transform(X)
    truth = Truth.from_labels(y, y, list(range(len(y))))
    expected = mean_average_precision(encoder.similarity(Z, Z), truth, "holidays")
    assert record["methods"][0]["map"] == pytest.approx(expected)
    assert [one["name"] for one in record["methods"]] == ["lda", "none"]
    assert record["methods"][1]["against"]["method"] == "lda"


def test_negatives_of_the_data_do_not_judge(store):
    record = mc.runs.compare_encoders(store, ["none"])
    assert "48 queries against 48 images" in record["protocol"]
    assert [one["role"] for one in record["data"]] == ["gallery", "negatives"]


def test_classes_that_settings_are_chosen_by_do_not_judge_them(store, negatives):
    record = mc.runs.compare_encoders(store, "slem", negatives=negatives, tune=True)
    assert "48 queries against 48 images" in record["protocol"]
    assert record["methods"][0]["tried"]


def test_the_same_seed_gives_the_same_record(store, negatives):
    def compared():
        record = mc.runs.compare_encoders(store, "slem,none", negatives=negatives, sample=100, seed=4)
        return {**record, "methods": [{**one, "seconds": 0} for one in record["methods"]]}

    assert compared() == compared()


def test_data_without_labels_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", labeled()[0])
    with pytest.raises(ValueError, match="`evaluate` needs labels"):
        mc.runs.compare_encoders(tmp_path / "x.npy", "none")


def test_too_few_classes_to_choose_and_judge_by_are_refused(tmp_path, negatives):
    X, y = labeled()
    np.savez(tmp_path / "x.npz", X=X, y=y % 3)
    with pytest.raises(ValueError, match="`tune` with `evaluate` needs at least 4 classes of two images"):
        mc.runs.compare_encoders(tmp_path / "x.npz", "slem", negatives=negatives, tune=True)
