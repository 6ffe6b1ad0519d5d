"""Runs that are looked over, and runs that are opened: every file is what its record says, or refused."""

import json
import shutil

import pytest
from cli.runs import begin_run, store

import manyclass as mc

QUICK = {"max_epochs": 2, "step": 0.05, "beta": 3}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two runs, of which the first was evaluated."""
    folder = tmp_path_factory.mktemp("runs")
    data = store(folder / "x.store")
    runs = [mc.runs.train(data, folder / str(seed), seed=seed, **QUICK) for seed in (0, 1)]
    mc.runs.evaluate(runs[0].path, data)
    return runs


@pytest.fixture
def path(trained, tmp_path):
    """A copy of the first."""
    shutil.copytree(trained[0].path, tmp_path / "run")
    return tmp_path / "run"


def damage_of(path):
    from manyclass.cli.verify import check

    return [(one["file"], one["reason"]) for one in check(path)["damage"]]


def test_a_good_run_has_no_damage_and_a_size(path):
    from manyclass.cli.verify import check

    size = sum((path / name).stat().st_size for name in ("run.json", "model-0.safetensors"))
    assert check(path) == {"path": str(path), "bytes": size, "good": True, "damage": []}


@pytest.mark.parametrize("name", ["run.json", "model-0.safetensors", "evaluations/x-test.json"])
def test_a_flipped_bit_in_any_file_is_found(path, name):
    good = (path / name).read_bytes()
    for place in range(0, len(good), len(good) // 40):
        (path / name).write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
        assert [file for file, _ in damage_of(path)] == [name]


def test_a_missing_and_a_shorter_model_are_found_and_not_opened(path):
    file = path / "model-0.safetensors"
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:-1])
    assert damage_of(path) == [(file.name, f"has {size - 1} bytes instead of {size}")]
    file.unlink()
    assert damage_of(path) == [(file.name, "is missing")]
    with pytest.raises(mc.StoreCorruptedError, match=r"run is damaged: model-0\.safetensors is missing; restore that"):
        mc.load(path)


def test_the_model_of_another_run_is_refused(path, trained):
    shutil.copy(trained[1].path / "model-0.safetensors", path)
    with pytest.raises(
        mc.StoreCorruptedError, match=r"model-0\.safetensors (does not match its checksum|has \d+ bytes)"
    ):
        mc.load(path)


def test_an_unfinished_run_is_neither_opened_nor_looked_over(tmp_path):
    begin_run(tmp_path / "run")
    for look in (mc.load, damage_of):
        with pytest.raises(ValueError, match="run holds a run that is unfinished; go on with it by manyclass train"):
            look(tmp_path / "run")


def test_an_evaluation_tells_which_model_it_judged(path):
    evaluation = json.loads((path / "evaluations" / "x-test.json").read_text())
    assert evaluation["model"] == json.loads((path / "run.json").read_text())["files"]["model"]["sha256"]
