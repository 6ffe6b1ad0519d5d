"""manyclass info, as a user meets it."""

import json

import numpy as np
import pytest
from cli.runs import QUICK, store

import manyclass as mc
from manyclass.runs.records import write_record
from tests.data.readers.unreadable import PUT
from tests.report.synthetic import probe_record

X = np.random.default_rng(0).standard_normal((60, 8), dtype=np.float32)
Y = np.arange(60) % 3


def _npy(path):
    np.save(path / "x.npy", X)
    return path / "x.npy", {"format": "npy", "labels": False, "classes": None}


def _npz(path):
    np.savez(path / "x.npz", features=X, labels=Y)
    return path / "x.npz", {"format": "npz", "labels": True, "classes": 3}


def _shards(path):
    for i in range(2):
        np.save(path / f"x_{i}.npy", X[30 * i : 30 * (i + 1)])
    return path, {"format": "npy_shards", "labels": False}


def _store(path):
    mc.write_store(path / "x.store", X, y=Y, classes=["a", "b", "c"], split=["train", "test"] * 30)
    return path / "x.store", {"format": "manyclass store", "labels": True, "classes": 3}


@pytest.mark.parametrize("make", [_npy, _npz, _shards, _store])
def test_json_says_what_is_there(run, tmp_path, make):
    path, expected = make(tmp_path)
    outcome = run("info", path, "--json")
    result = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert (result["rows"], result["columns"], result["path"]) == (60, 8, str(path))
    assert expected.items() <= result.items()


def test_the_table_of_a_store_shows_its_quantizer_and_where_it_came_from(run, features, tmp_path):
    run("compress", features, "-o", tmp_path / "x.store")
    out = run("info", tmp_path / "x.store").out
    for words in ("rows", "300", "kind product", "block 8", "made by manyclass compress"):
        assert words in out


def test_the_table_counts_the_parts_of_a_split(run, tmp_path):
    path, _ = _store(tmp_path)
    assert "test 30, train 30" in run("info", path).out


@pytest.mark.parametrize("name", ["missing", "empty_folder", "notes.txt"])
def test_what_holds_no_features_is_one_sentence_and_exit_one(run, tmp_path, name):
    (tmp_path / "empty_folder").mkdir()
    (tmp_path / "notes.txt").touch()
    outcome = run("info", tmp_path / name)
    assert outcome.code == 1
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1
    assert name in outcome.err


def test_an_unfinished_store_is_called_unfinished(run, tmp_path):
    with mc.data.store.StoreWriter(tmp_path / "x.store", 8, identity={"of": "a test"}) as writer:
        writer.append(X)
    outcome = run("info", tmp_path / "x.store")
    assert outcome.code == 1
    assert "is unfinished" in outcome.err


def test_a_damaged_store_is_one_sentence_and_exit_one(run, tmp_path):
    path, _ = _store(tmp_path)
    (path / "manifest.json").write_text((path / "manifest.json").read_text().replace("train", "trend"))
    outcome = run("info", path)
    assert outcome.code == 1
    assert "is damaged" in outcome.err


def test_the_manifest_of_another_store_is_one_sentence_and_exit_one(run, tmp_path):
    for seed in (0, 1):
        mc.write_store(tmp_path / f"{seed}.store", X + np.float32(seed), provenance={"seed": seed})
    (tmp_path / "0.store" / "manifest.json").write_bytes((tmp_path / "1.store" / "manifest.json").read_bytes())
    outcome = run("info", tmp_path / "0.store")
    assert (outcome.code, outcome.out) == (1, "")
    assert "X-0.npy block 0 (bytes" in outcome.err


def test_a_run_and_its_model_are_described(run, tmp_path):
    run("train", store(tmp_path / "x.store"), "-o", tmp_path / "run", *QUICK)
    told = json.loads(run("info", tmp_path / "run", "--json").out)
    assert (told["format"], told["status"], told["model"]["classes"], told["rows"]) == ("manyclass run", "done", 6, 120)
    table = run("info", tmp_path / "run").out
    assert all(words in table for words in ("StochasticClassifier ovr hinge, 6 classes of 8 columns", "seed", "done"))
    model = json.loads(run("info", tmp_path / "run" / "model-0.safetensors", "--json").out)
    assert (model["estimator"], model["classes"], model["columns"]) == ("StochasticClassifier", 6, 8)


def test_the_record_of_another_run_is_one_sentence_and_exit_one(run, tmp_path):
    data = store(tmp_path / "x.store")
    for seed in (0, 1):
        run("train", data, "-o", tmp_path / f"run{seed}", "--seed", seed, *QUICK)
    (tmp_path / "run0" / "run.json").write_bytes((tmp_path / "run1" / "run.json").read_bytes())
    outcome = run("info", tmp_path / "run0")
    assert (outcome.code, outcome.out) == (1, "")
    assert "model-0.safetensors does not match its checksum" in outcome.err


def test_an_unfinished_run_is_described_as_such(run, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(mc.StochasticClassifier, "fit", _interrupted)
        assert run("train", store(tmp_path / "x.store"), "-o", tmp_path / "run", *QUICK).code == 130
    assert "running" in run("info", tmp_path / "run").out


def _interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_encoder_is_described(run, tmp_path):
    mc.WhitenedPCA(2).fit(X).save(tmp_path / "encoder")
    assert json.loads(run("info", tmp_path / "encoder", "--json").out)["estimator"] == "WhitenedPCA"


def test_a_damaged_model_is_one_sentence_and_exit_one(run, tmp_path):
    mc.WhitenedPCA(2).fit(X).save(tmp_path / "encoder")
    (tmp_path / "encoder").write_bytes((tmp_path / "encoder").read_bytes()[:-1])
    outcome = run("info", tmp_path / "encoder")
    assert outcome.code == 1
    assert "is damaged" in outcome.err


def _gallery(path):
    np.save(path / "x.npy", X)
    mc.runs.build_gallery(path / "x.npy", path / "gallery", method="none")
    return path / "gallery", "manifest.json"


def _store_of_rows(path):
    mc.write_store(path / "x.store", X)
    return path / "x.store", "manifest.json"


def _run_with_rows(path):
    np.savez(path / "x.npz", X=X, y=Y)
    mc.runs.train(path / "x.npz", path / "run", step=0.05, beta=3.0, max_epochs=1)
    np.save(path / "run" / "x.npy", X)
    return path / "run", "run.json"


@pytest.mark.parametrize("make", [_gallery, _store_of_rows, _run_with_rows])
@pytest.mark.parametrize("put", PUT, ids=lambda put: put.__name__)
def test_what_has_no_readable_manifest_is_not_taken_for_a_folder_of_shards(run, tmp_path, make, put):
    path, manifest = make(tmp_path)
    (path / manifest).unlink()
    put(path / manifest)
    outcome = run("info", path, "--json")
    assert (outcome.code, outcome.out) == (1, "")
    assert manifest in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_probe_is_described_by_its_verdict(run, tmp_path):
    write_record(tmp_path / "probe.json", "probe", probe_record())
    found = json.loads(run("info", tmp_path / "probe.json", "--json").out)
    assert found["format"] == "manyclass probe"
    assert found["best_top_1"] == {"clip": 0.8, "dino": 0.8}
    assert found["verdict"] == "clip is better than dino by 10.0 points [4.0, 16.0]"
    assert "clip is better than dino" in run("info", tmp_path / "probe.json").out


def test_a_gallery_tells_how_many_numbers_a_code_has(run, tmp_path):
    path, _ = _gallery(tmp_path)
    assert f"numbers per code  {X.shape[1]}" in " ".join(run("info", path).out.split("\n")).replace("   ", "  ")
    assert json.loads(run("info", path, "--json").out)["numbers_per_code"] == [X.shape[1]]
