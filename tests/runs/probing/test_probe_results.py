"""Accuracies and verdicts of a probe, against counts by hand."""

import numpy as np
import pytest

from manyclass.evaluation import accuracy
from manyclass.evaluation.proportions import paired_difference, wilson_interval
from manyclass.runs.probing.probe_methods import METHODS, Answer
from manyclass.runs.probing.probe_results import (
    JudgedMethod,
    add_differences,
    compare_files,
    judge_answer,
    mean_per_class,
    say_best,
    say_difference,
)


def judged(name, share, n=400, seed=0):
    right = np.random.default_rng(seed).random(n) < share
    top = {"value": float(right.mean()), "low": 0.0, "high": 1.0}
    return JudgedMethod({"name": name, "title": name, "top_1": top}, right)


def test_accuracies_are_those_of_a_count():
    y = np.array([0, 0, 1, 1, 2])
    top = np.array([[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [1, 0, 2, 3, 4], [4, 3, 1, 0, -1], [0, 1, 3, 4, -1]])
    entry, right = judge_answer(METHODS[0], Answer(top, {"metric": "cosine"}, 8, 1.0, 2.0), y)
    assert right.tolist() == [True, False, True, False, False]
    assert entry["top_1"]["value"] == pytest.approx(2 / 5)
    assert (entry["top_1"]["low"], entry["top_1"]["high"]) == wilson_interval(2, 5)
    assert entry["top_5"]["value"] == pytest.approx(4 / 5)
    assert entry["mean_per_class"]["value"] == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_the_mean_over_classes_is_that_of_the_evaluation():
    rng = np.random.default_rng(0)
    y, guess = rng.integers(0, 7, 90) * 2, rng.integers(0, 7, 90) * 2
    found = mean_per_class(y == guess, y)
    assert found["value"] == pytest.approx(accuracy(y, guess))
    assert found["low"] < found["value"] < found["high"]


def test_every_method_but_the_best_is_held_against_it_on_the_same_rows():
    methods = [judged("a", 0.7, seed=1), judged("b", 0.9, seed=2), judged("c", 0.7, seed=3)]
    entries = add_differences(methods)
    assert entries[1]["against"] is None
    a, b = methods[0].right, methods[1].right
    expected = paired_difference(int(np.sum(a & ~b)), int(np.sum(b & ~a)), 400)
    assert entries[0]["against"] == {"name": "b", **expected._asdict()}
    assert entries[0]["against"]["high"] < 0


def test_the_best_file_is_told_from_others_by_what_is_best_for_each():
    files = [
        [judged("m", 0.6, seed=1), judged("n", 0.7, seed=2)],
        [judged("m", 0.9, seed=3), judged("n", 0.5, seed=4)],
    ]
    compared = compare_files(["one", "two"], files)
    assert [one["method"] for one in compared] == ["best of each", "m", "n"]
    assert {(one["first"], one["second"]) for one in compared} == {("two", "one")}
    assert compared[0]["difference"] == pytest.approx(files[1][0].right.mean() - files[0][1].right.mean())
    assert compared[0]["verdict"].startswith("two is better than one by ")
    assert compared[2]["verdict"].startswith("one is better than two by ")
    assert compare_files(["one"], files[:1]) == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((0.02, 0.01, 0.03), "A is better than B by 2.0 points [1.0, 3.0]"),
        ((-0.02, -0.03, -0.01), "B is better than A by 2.0 points [1.0, 3.0]"),
        ((0.0, -0.01, 0.01), "A and B cannot be told apart: the difference is +0.0 points [-1.0, +1.0]"),
    ],
)
def test_a_verdict_is_what_the_interval_says(found, said):
    assert say_difference("A", "B", dict(zip(("difference", "low", "high"), found, strict=True))) == said


def test_methods_that_cannot_be_told_from_the_best_are_named():
    share = {"value": 0.9, "low": 0.85, "high": 0.95}
    behind, level = ({"low": -0.1, "high": high} for high in (-0.01, 0.01))
    methods = [
        {"title": "x", "top_1": share, "against": behind},
        {"title": "y", "top_1": share, "against": None},
        {"title": "z", "top_1": share, "against": level},
    ]
    assert say_best(methods) == "y: 90.0 % [85.0, 95.0]; z cannot be told from it"
