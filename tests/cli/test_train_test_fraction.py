"""--test-fraction, as a user meets it: rows are kept for testing where the data has no parts."""

import json

import numpy as np
import pytest
from cli.runs import QUICK, rows, store

import manyclass as mc


@pytest.fixture
def data(tmp_path):
    X, y = rows()
    np.savez(tmp_path / "x.npz", X=X, y=y)
    return tmp_path / "x.npz"


def test_evaluate_judges_the_rows_that_train_kept_back(run, data, tmp_path):
    assert run("train", data, "-o", tmp_path / "run", "--test-fraction", 0.3, "--seed", 3, *QUICK).code == 0
    outcome = run("evaluate", tmp_path / "run", data, "--json")
    record = json.loads(outcome.out)
    assert record["rows"] == 6 * 9
    assert record["data"]["part"] == "test"
    assert "says little" not in outcome.err
    trained = json.loads((tmp_path / "run" / "run.json").read_text())["data"][0]
    assert trained["rows"] == 6 * 21
    X, y = rows()
    test = mc.datasets.draw_splits(y, 0.3, 3) == "test"
    model = mc.load(tmp_path / "run")
    assert record["top_1"] == pytest.approx((model.predict(X[test]) == y[test]).mean())


def test_other_data_is_judged_whole(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", "--test-fraction", 0.3, *QUICK)
    X, y = rows(seed=5)
    np.savez(tmp_path / "z.npz", X=X, y=y)
    assert json.loads(run("evaluate", tmp_path / "run", tmp_path / "z.npz", "--json").out)["rows"] == 180


def test_a_compressed_store_has_the_parts(run, data, tmp_path):
    assert run("compress", data, "-o", tmp_path / "x.store", "--test-fraction", 0.1, "--block", 2).code == 0
    y, split = (np.asarray(column) for column in (rows()[1], mc.open_store(tmp_path / "x.store").split))
    assert [np.sum(split[y == label] == "test") for label in range(6)] == [3] * 6


def test_features_of_pictures_have_the_parts(run, tmp_path):
    from PIL import Image

    drawn = mc.datasets.glyphs(3, 6, size=48, cache=False)
    for i, (picture, label) in enumerate(zip(drawn.images, drawn.y, strict=True)):
        (tmp_path / "photos" / f"kind {label}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(tmp_path / "photos" / f"kind {label}" / f"{i}.png")
    small = ("--n-words", 2, "--descriptors", "sift", "--n-samples", 500, "--n-components", 4, "--scales", 1)
    outcome = run("features", tmp_path / "photos", "-o", tmp_path / "a.store", "--test-fraction", 0.34, *small)
    assert outcome.code == 0, outcome.err
    assert sorted(np.asarray(mc.open_store(tmp_path / "a.store").split).tolist()) == ["test"] * 6 + ["train"] * 12


@pytest.mark.parametrize("command", ["train", "compress"])
def test_data_with_parts_keeps_them(run, tmp_path, command):
    store(tmp_path / "x.store")
    outcome = run(command, tmp_path / "x.store", "-o", tmp_path / "out", "--test-fraction", 0.2)
    assert outcome.code == 1
    assert outcome.err.strip().splitlines()[-1] == (
        f"manyclass: --test-fraction is for data without parts; {tmp_path / 'x.store'} has a split already"
    )


def test_data_without_labels_has_no_classes_to_keep_some_of(run, tmp_path):
    np.save(tmp_path / "x.npy", rows()[0])
    outcome = run("compress", tmp_path / "x.npy", "-o", tmp_path / "out", "--test-fraction", 0.2)
    assert outcome.code == 1
    assert "needs labels" in outcome.err


def test_a_fraction_leaves_something_for_both(run, data, tmp_path):
    outcome = run("train", data, "-o", tmp_path / "run", "--test-fraction", 0)
    assert outcome.code == 1
    assert "--test-fraction must be between 0 and 1; got 0" in outcome.err
