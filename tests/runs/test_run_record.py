"""What is on record of a run and its data."""

import numpy as np
import pytest
from cli.runs import CLASSES, rows

import manyclass as mc
from manyclass.datasets import Dataset
from manyclass.runs.run_record import describe_data, replace_nonfinite, run_rows, run_summary


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
