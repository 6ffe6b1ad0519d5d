"""The folder of a run: free, unfinished or done, and what comes back after an error."""

import pytest

from manyclass.runs.folder import RunFolder, is_run, read_run

RECORD = {
    "command": "train",
    "arguments": [],
    "settings": {"beta": 3.0},
    "versions": {},
    "machine": {},
    "seed": 0,
    "data": [{"role": "train", "fingerprint": "a1"}],
    "started": "now",
}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def begun(path, record=RECORD, overwrite=False):
    folder = RunFolder(path)
    folder.begin(record, overwrite)
    return folder


def test_a_run_begins_and_ends(path):
    folder = begun(path)
    assert is_run(path)
    assert not RunFolder(path).is_done
    (folder.checkpoint / "fit").write_text("half")
    assert folder.finish(RECORD)["status"] == "done"
    assert RunFolder(path).is_done
    assert [file.name for file in path.iterdir()] == ["run.json"]


def test_a_run_goes_on_from_when_it_started(path):
    begun(path)
    assert RunFolder(path).begin({**RECORD, "started": "later"}, False)["started"] == "now"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"beta": 4.0}}, "which differ in beta;"),
        ({"seed": 1}, "which differ in seed;"),
        ({"data": [{"role": "train", "fingerprint": "b2"}]}, "which differ in the data;"),
    ],
)
def test_another_run_does_not_go_on(path, change, words):
    begun(path)
    with pytest.raises(ValueError, match=words):
        RunFolder(path).begin({**RECORD, **change}, False)


def test_a_new_run_that_fails_leaves_the_one_before(path):
    begun(path).finish(RECORD)
    (path / "model.safetensors").write_text("old")
    folder = begun(path, {**RECORD, "seed": 5}, overwrite=True)
    assert not (path / "model.safetensors").exists()
    folder.give_up()
    assert (path / "model.safetensors").read_text() == "old"
    assert (read_run(path)["status"], read_run(path)["seed"]) == ("done", 0)


def test_what_can_go_on_is_not_given_up(path):
    folder = begun(path)
    (folder.checkpoint / "fit").write_text("half")
    folder.give_up()
    assert (folder.checkpoint / "fit").exists()


@pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: (path / "mine").mkdir(parents=True)])
def test_a_place_with_other_things_is_refused(tmp_path, make):
    make(tmp_path / "other")
    with pytest.raises(ValueError, match="choose another name"):
        RunFolder(tmp_path / "other")


def test_a_folder_that_is_taken_says_how_to_go_on(path):
    begun(path)
    with pytest.raises(ValueError, match="pass `resume=True` to go on with it, or `overwrite=True` to begin again"):
        RunFolder(path).check(resume=False, overwrite=False)
    RunFolder(path).check(resume=True, overwrite=False)
    RunFolder(path).check(resume=False, overwrite=True)
