"""Runs on rows with several labels: trained, judged and predicted by the labels that a separator divides."""

import csv

import numpy as np
import pytest
from sklearn import metrics

import manyclass as mc
from manyclass._core.errors import SettingsError

WORDS = np.array(["ant", "bee", "cat", "dog", "eel"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """x.npy with x_labels.csv of any number of labels, some of none."""
    place, rng = tmp_path_factory.mktemp("several"), np.random.default_rng(0)
    Y = rng.random((300, 5)) < np.geomspace(0.5, 0.1, 5)
    np.save(place / "x.npy", (Y @ rng.normal(size=(5, 12)) + rng.normal(size=(300, 12))).astype(np.float32))
    with (place / "x_labels.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["name", "label"])
        lines.writerows([f"{i}.jpg", " ; ".join(WORDS[row])] for i, row in enumerate(Y))
    return place


@pytest.fixture(scope="module")
def run(folder):
    return mc.runs.train(
        folder / "x.npy", folder / "run", "square", label_separator=";", test_fraction=0.3, arguments=["train"]
    )


def test_a_run_learns_labels_apart_and_says_so(run):
    assert run.model.classes_.tolist() == WORDS.tolist()
    assert run.record["settings"]["label_separator"] == ";"
    assert run.record["data"][0]["classes"] == 5
    assert {one["class"] for one in run.record["training"]["per_class"]} == set(WORDS)
    assert run.record["training"]["right"] > 0.5 * run.record["training"]["rows"]


def test_an_evaluation_has_the_numbers_of_scikit_learn(run, folder):
    found = mc.runs.evaluate(run.path, folder / "x.npy").record
    data = mc.datasets.read_features(folder / "x.npy")
    lists = [{word.strip() for word in labels.split(";")} - {""} for labels in data.label_names()]
    kept = {row["class"]: row["rows"] for row in run.record["training"]["per_class"]}
    assert found["rows"] + run.record["data"][0]["rows"] == 300
    assert sum(len(labels) for labels in lists) == sum(kept.values()) + sum(one["rows"] for one in found["per_class"])
    # The rows of the test are those that a split of the same seed draws.
    from dataclasses import replace

    from manyclass.runs.sources import draw_test_subset

    test = draw_test_subset(replace(data, separator=";"), 0.3, 0).subset("test")
    Y = np.array([[word in labels for word in WORDS] for labels in test.label_lists()])
    S = run.model.decision_function(test.X)
    P = run.model.thresholds_ < S
    several = found["multilabel"]
    for average in ("micro", "macro", "samples"):
        assert several[f"{average}_f1"] == pytest.approx(metrics.f1_score(Y, P, average=average, zero_division=0))
    expected = np.mean([metrics.average_precision_score(Y[:, c], S[:, c]) for c in range(5)])
    assert several["mean_average_precision"] == pytest.approx(expected)
    assert several["all_right"] == pytest.approx((Y == P).all(axis=1).mean())
    assert [one["k"] for one in several["precision_at"]] == [1, 3, 5]
    assert several["precision_at"][2]["precision"] == pytest.approx(Y.sum(axis=1).mean() / 5)
    assert 0 < several["propensity_scored"][0]["precision"] <= 1
    for one, c in zip(found["per_class"], range(5), strict=True):
        assert (one["rows"], one["right"]) == (Y[:, c].sum(), (Y[:, c] & P[:, c]).sum())


def test_a_separator_that_is_not_there_or_of_no_use_is_told(run, folder):
    run.model.save(folder / "model.safetensors")
    with pytest.raises(SettingsError, match="must say what stands between labels"):
        mc.runs.evaluate(folder / "model.safetensors", folder / "x.npy")
    given = mc.runs.evaluate(folder / "model.safetensors", folder / "x.npy", label_separator=";")
    assert given.record["multilabel"]["micro_f1"] > 0.5
    single = mc.SquareLossClassifier().fit(np.load(folder / "x.npy"), np.arange(300) % 2)
    single.save(folder / "single.safetensors")
    with pytest.raises(SettingsError, match="is for classifiers of several labels"):
        mc.runs.evaluate(folder / "single.safetensors", folder / "x.npy", label_separator=";")


@pytest.mark.parametrize(("settings", "words"), [
    ({"objective": "softmax"}, "does not go with `objective='softmax'`"),
    ({"objective": "ovr", "tune": ("step",)}, "`tune` does not go with `label_separator`"),
    ({"label_separator": " "}, "text that is not blank"),
])  # fmt: skip
def test_what_does_not_go_with_a_separator_is_refused_before_data_is_read(tmp_path, settings, words):
    with pytest.raises(SettingsError, match=words):
        mc.runs.train(tmp_path / "none.npy", tmp_path / "run", **{"label_separator": ";", **settings})
