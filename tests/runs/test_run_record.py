"""What is on record of a run and its data."""

import numpy as np
import pytest
from cli.runs import CLASSES, rows

import manyclass as mc
from manyclass.datasets import Dataset
from manyclass.runs.run_record import (
    describe_data,
    describe_fit,
    replace_nonfinite,
    run_rows,
    run_summary,
    training_record,
)


def test_rows_are_described_with_their_role_subset_and_classes(tmp_path):
    X, y = rows()
    split = np.where(np.arange(len(y)) % 3 == 2, "test", "train")
    whole = Dataset(mc.DenseMatrix(X), y, classes=CLASSES, split=split, path=tmp_path / "x.npz")
    about = describe_data("train", whole.subset("train"))
    known = {"role": "train", "path": str(tmp_path / "x.npz"), "part": "train", "rows": 120, "columns": 8, "classes": 6}
    assert known.items() <= about.items()
    kept = split == "train"
    assert about["fingerprint"] == Dataset(mc.DenseMatrix(X[kept]), np.array(CLASSES)[y[kept]]).fingerprint()


def test_rows_without_labels_have_no_classes():
    assert describe_data("gallery", Dataset(mc.DenseMatrix(rows()[0])))["classes"] is None


class Guess:
    """Says the first class for all rows, and counts them."""

    def __init__(self):
        self.asked = []

    def predict(self, X):
        self.asked.append(X.shape[0])
        return np.array(["a"] * X.shape[0])


@pytest.mark.parametrize(("n", "d", "blocks"), [(9, 3, [9]), (6000, 2, [5000]), (5, 1 << 21, [2, 2, 1])])
def test_rows_that_made_a_model_are_predicted_a_few_at_a_time_and_at_most_5000(n, d, blocks):
    X = np.broadcast_to(np.float32(1), (n, d))
    y, guess = np.where(np.arange(n) % 3 == 0, "a", "b"), Guess()
    found = training_record(guess, Dataset(mc.DenseMatrix(X), y))
    assert guess.asked == blocks
    assert found["rows"] == min(n, 5000)
    assert found["right"] / found["rows"] == pytest.approx(1 / 3, abs=0.1)
    assert found["per_class"] == [{"class": "a", "rows": -(-n // 3)}, {"class": "b", "rows": n - -(-n // 3)}]


def test_scores_that_overflow_do_not_cost_a_run():
    class Overflowing(Guess):
        def predict(self, X):
            raise ValueError("scores of X must be finite")

    found = training_record(Overflowing(), Dataset(mc.DenseMatrix(np.ones((4, 2))), np.array(list("abab"))))
    assert (found["rows"], found["right"]) == (0, 0)


def test_a_run_knows_its_accuracy_on_the_rows_that_made_it(tmp_path):
    X, y = rows()
    np.savez(tmp_path / "x.npz", X=X, y=np.array(CLASSES)[y])
    run = mc.runs.train(tmp_path / "x.npz", tmp_path / "run", max_epochs=4, step=0.05)
    kept = run.record["training"]
    assert (kept["rows"], kept["right"]) == (len(y), np.count_nonzero(run.model.predict(X) == np.array(CLASSES)[y]))
    assert {one["class"]: one["rows"] for one in kept["per_class"]} == {
        name: np.count_nonzero(y == i) for i, name in enumerate(CLASSES)
    }


@pytest.mark.parametrize("value", [np.inf, np.nan, np.float32("-inf")])
def test_what_is_not_finite_is_not_known(value):
    assert replace_nonfinite({"gap": value, "all": (1, [value, np.int64(2)])}) == {"gap": None, "all": [1, [None, 2]]}


def test_a_run_that_has_not_ended_has_a_few_lines_too():
    data = [{"path": "x.npz", "part": "all", "rows": 10}]
    nothing = dict.fromkeys(("model", "history", "grid", "tuning", "seconds", "peak_bytes"))
    summary = run_summary({"status": "running", "data": data, "seed": 0, **nothing})
    assert run_rows(summary) == [("status", "running"), ("data", "10 rows of x.npz, part all"), ("seed", "0")]


def test_a_run_of_which_little_is_known_has_a_few_lines_too():
    summary = run_summary({"status": "done", "data": [], "seed": None, "grid": [{"rank": 2}]})
    assert run_rows(summary) == [("status", "done"), ("tried", "1 pairs of trace and ridge"), ("seed", "None")]


def test_a_model_is_described_by_the_objective_and_the_loss_that_were_chosen():
    y, noise = np.arange(600) % 6, np.random.default_rng(0).normal(size=(600, 2))
    line = np.column_stack([y + 0.15 * noise[:, 0], noise[:, 1]]).astype(np.float32)
    found = describe_fit(mc.StochasticClassifier(random_state=0).fit(line, y))
    assert (found["objective"], found["loss"]) == ("softmax", None)
    plain = describe_fit(mc.StochasticClassifier("ovr", "logistic", random_state=0).fit(line, y))
    assert (plain["objective"], plain["loss"]) == ("ovr", "logistic")
