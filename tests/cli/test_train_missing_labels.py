"""Rows without a label, in commands that learn or judge."""

import json

import numpy as np
import pytest
from cli.runs import CLASSES, QUICK, bits, rows

import manyclass as mc

OUT = [3, 40, 77, 120]  # rows whose labels are taken away


def _empty_in_store(path, y):
    numbers = np.where(np.isin(np.arange(len(y)), OUT), 0, y + 1)
    names = [f"{CLASSES[label]}/{i}.jpg" for i, label in enumerate(y)]
    mc.write_store(path / "x.store", rows()[0], y=numbers, classes=["", *CLASSES], names=names)
    return path / "x.store"


def _empty_in_csv(path, y):
    words = np.where(np.isin(np.arange(len(y)), OUT), "", np.array(CLASSES)[y])
    (path / "x_labels.csv").write_text("".join(f"{i}.jpg,{word}\n" for i, word in enumerate(words)))
    np.save(path / "x.npy", rows()[0])
    return path / "x.npy"


def _minus_one(path, y):
    labels = np.where(np.isin(np.arange(len(y)), OUT), -1, y)
    np.savez(path / "x.npz", features=rows()[0], labels=labels)
    return path / "x.npz"


MAKERS = {"a store": (_empty_in_store, "empty"), "a CSV": (_empty_in_csv, "empty"), "numbers": (_minus_one, "-1")}


@pytest.mark.parametrize(("make", "word"), MAKERS.values(), ids=MAKERS)
def test_rows_without_a_label_are_left_out_and_counted_in_a_line(run, tmp_path, make, word):
    X, y = rows()
    data, kept = make(tmp_path, y), np.setdiff1d(np.arange(len(y)), OUT)
    outcome = run("train", data, "-o", tmp_path / "run", "--quiet", *QUICK)
    assert outcome.code == 0, outcome.err
    assert outcome.err == f"manyclass: 4 rows of {data} left out, as their label is {word}\n"
    labels = y[kept] if word == "-1" else np.array(CLASSES)[y[kept]]
    model = mc.StochasticClassifier(max_epochs=6, step=0.05, beta=3, random_state=0).fit(X[kept], labels)
    assert bits(tmp_path / "run") == model.coef_.tobytes() + model.intercept_.tobytes()
    judged = run("evaluate", tmp_path / "run", data, "--json")
    assert judged.code == 0, judged.err
    assert "4 rows of" in judged.err
    assert json.loads(judged.out)["rows"] == len(kept)
    assert json.loads(judged.out)["top_1"] == pytest.approx((model.predict(X[kept]) == labels).mean())


def test_names_stay_with_their_rows(run, tmp_path):
    y = rows()[1]
    run("train", _empty_in_store(tmp_path, y), "-o", tmp_path / "run", *QUICK)
    record = json.loads(run("evaluate", tmp_path / "run", tmp_path / "x.store", "--json").out)
    for one in record["examples"]:
        assert one["right"]
        assert all(name.startswith(one["class"] + "/") for name in one["right"])


@pytest.mark.parametrize("signs", [[-1, 1], [-2, -1, 3]], ids=str)
def test_a_negative_number_that_is_a_class_is_learned(run, tmp_path, signs):
    X, y = rows(k=len(signs))
    np.savez(tmp_path / "x.npz", features=X, labels=np.array(signs)[y])
    assert "left out" not in run("train", tmp_path / "x.npz", "-o", tmp_path / "run", *QUICK).err
    assert mc.load(tmp_path / "run").classes_.tolist() == signs


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_a_part_without_any_label_is_refused_in_one_sentence(run, tmp_path, command):
    X, y = rows()
    split = np.where(np.arange(len(y)) % 3 == 2, "test", "train")
    np.savez(tmp_path / "x.npz", features=X, labels=np.where(split == "test", -1, y), split=split)
    mc.StochasticClassifier(max_epochs=2, random_state=0).fit(X, y).save(tmp_path / "m")
    words = {"train": (tmp_path / "x.npz", "-o", tmp_path / "run"), "evaluate": (tmp_path / "m", tmp_path / "x.npz")}
    outcome = run(command, *words[command], "--part", "test")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert "must have labels; that of every row of the part test is -1" in outcome.err
    assert not (tmp_path / "run").exists()
