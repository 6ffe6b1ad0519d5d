"""What records say of data."""

import json

import pytest
from cli.runs import QUICK, store

from manyclass.runs.records import read_record
from manyclass.runs.sources import retrieval_file


@pytest.mark.parametrize("part", ["all", "train"])
def test_the_same_rows_are_on_record_alike_by_all_commands(run, tmp_path, part):
    data = store(tmp_path / "x.store")
    # Negatives of the data itself are of its train part; another data set gives all rows.
    world = () if part == "train" else ("--negatives", data)
    run("train", data, "-o", tmp_path / "run", "--part", part, *QUICK)
    judged = json.loads(run("evaluate", tmp_path / "run", data, "--part", part, "--json").out)["data"]
    run("encode", data, "-o", tmp_path / "g", *world, "--method", "none", "--evaluate")
    trained = read_record(tmp_path / "run" / "run.json", "run")["data"][0]
    negatives = read_record(retrieval_file(tmp_path / "g"), "retrieval")["data"][1]
    assert trained["rows"] == (180 if part == "all" else 120)
    assert trained | {"role": None} == judged | {"role": None} == negatives | {"role": None}
