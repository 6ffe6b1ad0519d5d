"""Runs of a part of the classes each become the run of all of them: the same model, byte for byte."""

import errno
import os
import shutil

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.runs.folder import UnfinishedRun
from manyclass.runs.joining import join_runs
from manyclass.runs.records import read_record

K, D = 300, 12
BEGUN_WITH = ("command", "arguments", "settings", "versions", "machine", "seed", "threads", "data", "started")
FIXED = {"step": 0.05, "beta": 4.0, "max_epochs": 3, "early_stopping": False, "test_fraction": 0.3}


def write_rows(file, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), np.arange(K), rng.integers(K, size=K)])
    X = rng.normal(size=(K, D))[y] + 0.5 * rng.normal(size=(len(y), D))
    np.savez(file, X=X.astype(np.float32), y=y)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    data = write_rows(folder / "x.npz")
    for i in (1, 2, 3):
        mc.runs.train(data, folder / f"part{i}", classes=f"{i}/3", **FIXED)
    mc.runs.train(data, folder / "whole", **FIXED)
    mc.runs.train(data, folder / "other", classes="2/3", seed=1, **FIXED)
    mc.runs.train(data, folder / "half", classes="1/2", **FIXED)
    return folder


def parts(folder, *names):
    return [folder / name for name in names]


def test_the_model_of_all_parts_is_that_of_one_run_byte_for_byte(folder, tmp_path):
    result = mc.runs.join(tmp_path / "run", parts(folder, "part3", "part1", "part2"))
    assert (result["kind"], result["parts"], result["classes"], result["dimensions"]) == ("run", 3, K, D)
    whole, joined = (read_record(run / "run.json", "run") for run in (folder / "whole", tmp_path / "run"))
    assert joined["files"] == whole["files"]
    for key in ("settings", "training", "embedding", "spectrum", "rank", "seed", "data", "model"):
        assert joined[key] == whole[key], key
    assert [epoch["loss"] for epoch in joined["history"]] == [epoch["loss"] for epoch in whole["history"]]
    assert mc.load(tmp_path / "run").classes_.tolist() == list(range(K))


def test_parts_of_several_labels_per_row_are_joined_too(tmp_path):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.stack([np.arange(K), np.arange(K)[::-1]], axis=1), rng.integers(K, size=(K, 2))])
    X = rng.normal(size=(K, D))[y].sum(axis=1).astype(np.float32)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([f"c{a};c{b}" for a, b in y]))
    given = {**FIXED, "test_fraction": None, "label_separator": ";"}
    for name, classes in (("part1", "1/2"), ("part2", "2/2"), ("whole", None)):
        mc.runs.train(tmp_path / "x.npz", tmp_path / name, classes=classes, **given)
    mc.runs.join(tmp_path / "run", parts(tmp_path, "part1", "part2"))
    whole, joined = (read_record(tmp_path / name / "run.json", "run") for name in ("whole", "run"))
    assert joined["files"] == whole["files"]
    assert mc.load(tmp_path / "run").predict(X) == mc.load(tmp_path / "whole").predict(X)


def test_a_joined_run_is_evaluated_as_any_other(folder, tmp_path):
    mc.runs.join(tmp_path / "run", parts(folder, "part1", "part2", "part3"))
    found = mc.runs.evaluate(tmp_path / "run", folder / "x.npz").record
    assert found["top_1"] == mc.runs.evaluate(folder / "whole", folder / "x.npz").record["top_1"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("part1", "part3"), "part 2/3 is missing"),
        (("part1", "part2", "other", "part3"), "they differ in data"),
        (("part1", "part2", "part3", "half"), "by the same n of `classes`"),
        (("whole",), "whole is no part: it was made without `classes`"),
    ],
)
def test_what_is_not_one_whole_is_refused(folder, tmp_path, names, words):
    with pytest.raises(StorageError, match=words):
        mc.runs.join(tmp_path / "run", parts(folder, *names))
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_there_is_replaced_only_if_that_is_wanted(folder, tmp_path):
    names = parts(folder, "part1", "part2", "part3")
    mc.runs.train(folder / "x.npz", tmp_path / "run", **FIXED | {"max_epochs": 1})
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(ValueError, match="holds a run already"):
        mc.runs.join(tmp_path / "run", names)
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    mc.runs.join(tmp_path / "run", names, overwrite=True)
    assert mc.load(tmp_path / "run").n_epochs_ == 3


def test_rows_that_are_gone_or_others_leave_their_accuracy_unknown(tmp_path):
    data = write_rows(tmp_path / "x.npz")
    names = [mc.runs.train(data, tmp_path / f"part{i}", classes=f"{i}/2", **FIXED).path for i in (1, 2)]
    write_rows(data, seed=1)
    with pytest.warns(UserWarning, match="are right is not known: they are others now"):
        mc.runs.join(tmp_path / "a", names)
    data.unlink()
    said = []
    mc.runs.join(tmp_path / "b", names, warn=said.append)
    assert len(said) == 1
    for name in ("a", "b"):
        assert read_record(tmp_path / name / "run.json", "run")["training"] is None


def test_a_damaged_part_is_refused(tmp_path):
    data = write_rows(tmp_path / "x.npz")
    names = [mc.runs.train(data, tmp_path / f"part{i}", classes=f"{i}/2", **FIXED).path for i in (1, 2)]
    model = tmp_path / "part2" / "model-0.safetensors"
    content = bytearray(model.read_bytes())
    content[-1] ^= 1
    model.write_bytes(content)
    with pytest.raises(StorageError, match="part2"):
        mc.runs.join(tmp_path / "run", names)
    assert not (tmp_path / "run").exists()


def test_a_join_that_was_killed_goes_on_with_the_same_command(folder, tmp_path, monkeypatch):
    names, out = parts(folder, "part1", "part2", "part3"), tmp_path / "run"

    def kill(*_):
        raise SystemExit  # after which nothing is tidied up

    with monkeypatch.context() as killed:
        killed.setattr("manyclass.runs.trained_run.keep_run", kill)
        with pytest.raises(SystemExit):
            mc.runs.join(out, names)
    assert (out / "unfinished-0").exists()
    mc.runs.join(out, names)
    assert sorted(file.name for file in out.iterdir()) == ["model-0.safetensors", "run.json"]


@pytest.fixture
def joined(folder, tmp_path):
    """The run of all parts, and what its record is."""
    mc.runs.join(tmp_path / "run", parts(folder, "part1", "part2", "part3"))
    return tmp_path / "run", (tmp_path / "run" / "run.json").read_bytes()


def test_a_join_that_is_done_is_found_done_and_what_a_killed_one_left_is_removed(folder, joined):
    out, record = joined
    (out / "lock").touch()
    begun = read_record(out / "run.json", "run")
    UnfinishedRun.begin(out, {key: begun[key] for key in BEGUN_WITH})
    said = []
    result = mc.runs.join(out, parts(folder, "part3", "part2", "part1"), notify=said.append)
    assert said == [f"{out} is done already"]
    assert (result["kind"], result["parts"], result["classes"], result["dimensions"]) == ("run", 3, K, D)
    assert result["bytes"] == (out / "model-0.safetensors").stat().st_size
    assert (out / "run.json").read_bytes() == record
    assert sorted(file.name for file in out.iterdir()) == ["model-0.safetensors", "run.json"]


def test_a_join_that_is_done_leaves_another_run_that_is_unfinished(folder, joined):
    out, record = joined
    begun = read_record(out / "run.json", "run")
    other = UnfinishedRun.begin(out, {**{key: begun[key] for key in BEGUN_WITH}, "seed": 7})
    (other.path / "fit").write_text("hours of work")
    mc.runs.join(out, parts(folder, "part1", "part2", "part3"))
    assert (other.path / "fit").read_text() == "hours of work"
    assert (out / "run.json").read_bytes() == record


def test_other_parts_are_not_taken_for_those_of_a_run_that_is_there(tmp_path, joined):
    out, record = joined
    data = write_rows(tmp_path / "y.npz", seed=1)
    names = [mc.runs.train(data, tmp_path / f"b{i}", classes=f"{i}/2", **FIXED).path for i in (1, 2)]
    with pytest.raises(ValueError, match="holds a run already; pass `overwrite=True`"):
        mc.runs.join(out, names)
    assert (out / "run.json").read_bytes() == record


def test_the_same_settings_with_another_model_are_another_run(folder, joined):
    out, _ = joined
    mc.runs.calibrate(out, folder / "x.npz")
    with pytest.raises(ValueError, match="holds a run already; pass `overwrite=True`"):
        mc.runs.join(out, parts(folder, "part1", "part2", "part3"))
    assert mc.load(out).temperature_ is not None


def test_a_join_that_is_done_is_refused_where_it_is_not_to_go_on(folder, joined):
    with pytest.raises(ValueError, match="holds a run already"):
        mc.runs.join(joined[0], parts(folder, "part1", "part2", "part3"), resume=False)


def test_a_joined_run_that_was_damaged_is_not_called_done(folder, joined):
    (joined[0] / "model-0.safetensors").unlink()
    with pytest.raises(StorageError, match=r"model-0\.safetensors is missing"):
        mc.runs.join(joined[0], parts(folder, "part1", "part2", "part3"))


def test_a_run_that_another_process_finished_meanwhile_is_not_replaced(folder, tmp_path, monkeypatch):
    names, out = parts(folder, "part1", "part2", "part3"), tmp_path / "run"
    other = mc.runs.train(folder / "x.npz", tmp_path / "other", **FIXED | {"max_epochs": 1}).path
    out.mkdir()
    UnfinishedRun.begin(out, {key: read_record(other / "run.json", "run")[key] for key in BEGUN_WITH})
    load = join_runs.load_run_file

    def load_slowly(*given):
        if other.exists():
            shutil.rmtree(out)
            other.rename(out)
        return load(*given)

    monkeypatch.setattr(join_runs, "load_run_file", load_slowly)
    with pytest.raises(ValueError, match="holds a run already"):
        mc.runs.join(out, names)
    assert mc.load(out).n_epochs_ == 1


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO])
def test_trouble_of_the_machine_with_the_rows_is_an_error(folder, tmp_path, monkeypatch, number, which):
    open_, seen = os.open, []

    def failing(path, *more, **named):
        if str(path).endswith("x.npz"):
            seen.append(path)
            if len(seen) == which + 1:
                raise OSError(number, os.strerror(number), str(path))
        return open_(path, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", failing)
        with pytest.raises(OSError, match=os.strerror(number)):
            mc.runs.join(tmp_path / "run", parts(folder, "part1", "part2", "part3"))
    assert not (tmp_path / "run").exists()
