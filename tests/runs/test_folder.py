"""The folder of a run: free, unfinished or done, and what stays after an error."""

import json

import pytest
from cli.runs import BEGUN, begin_run

from manyclass._core.errors import StoreCorruptedError
from manyclass.runs import folder as folder_module
from manyclass.runs.folder import RunFolder, is_run, last_unfinished, read_run, read_whole_run, tidy
from manyclass.runs.records import write_record


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run"


def finished(path, content="old", record=BEGUN, **flags):
    """A run that is done."""
    folder, run = begin_run(path, record, **flags)
    run.model.write_text(content)
    return folder.finish(record, [run.model])


def names(path):
    return sorted(file.name for file in path.iterdir())


def test_a_run_begins_and_ends(path):
    folder, run = begin_run(path)
    assert is_run(path)
    assert RunFolder(path).done is None
    (run.path / "fit").write_text("half")
    run.model.write_text("whole")
    record = folder.finish(BEGUN, [run.model])
    assert (record["status"], record["files"]["model"]["name"]) == ("done", "model-0.safetensors")
    assert RunFolder(path).done == read_run(path) == record
    assert names(path) == ["model-0.safetensors", "run.json"]


def test_a_run_goes_on_from_when_it_started(path):
    begin_run(path)
    _, again = begin_run(path, {**BEGUN, "started": "later"}, resume=True)
    assert (again.path.name, again.record["started"]) == ("unfinished-0", "now")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"beta": 4.0}}, "which differ in beta;"),
        ({"seed": 1}, "which differ in seed;"),
        ({"data": [{"role": "train", "fingerprint": "b2"}]}, "which differ in the data;"),
    ],
)
def test_another_run_does_not_go_on_unless_it_may_replace_the_first(path, change, words):
    begin_run(path)
    with pytest.raises(ValueError, match=words):
        begin_run(path, {**BEGUN, **change}, resume=True)
    assert begin_run(path, {**BEGUN, **change}, resume=True, overwrite=True)[1].model.name == "model-1.safetensors"


def test_a_new_run_is_made_beside_the_one_before(path):
    finished(path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    folder, run = begin_run(path, {**BEGUN, "seed": 5}, overwrite=True)
    run.model.write_text("new")
    assert {name: (path / name).read_bytes() for name in before} == before
    assert read_run(path)["seed"] == 0
    folder.finish({**BEGUN, "seed": 5}, [run.model])
    assert read_run(path)["seed"] == 5
    assert names(path) == ["model-1.safetensors", "run.json"]


def test_a_new_run_that_fails_leaves_the_one_before(path):
    finished(path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    for _ in range(3):
        _, run = begin_run(path, {**BEGUN, "seed": 5}, overwrite=True)
        run.model.write_text("new")
        run.give_up()
        assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_new_run_that_fails_leaves_the_unfinished_one_before(path):
    _, first = begin_run(path)
    (first.path / "fit").write_text("half")
    _, second = begin_run(path, {**BEGUN, "seed": 5}, overwrite=True)
    second.give_up()
    found = last_unfinished(path)
    assert (found.record["seed"], (found.path / "fit").read_text()) == (0, "half")


def test_runs_that_are_begun_again_and_again_do_not_pile_up(path):
    finished(path)
    for seed in range(5):
        folder = RunFolder(path)
        with folder.locked(resume=False, overwrite=True):
            run = folder.begin({**BEGUN, "seed": seed}, resume=False, overwrite=True)
        (run.path / "fit").write_text("half")
    assert sum(name.startswith("unfinished") for name in names(path)) == 2
    assert last_unfinished(path).record["seed"] == 4


def test_what_can_go_on_is_not_given_up(path):
    _, run = begin_run(path)
    (run.path / "fit").write_text("half")
    run.give_up()
    assert (run.path / "fit").exists()
    assert is_run(path)


def test_giving_up_a_run_that_took_its_place_removes_nothing_of_it(path):
    folder, run = begin_run(path)
    run.model.write_text("whole")
    folder.finish(BEGUN, [run.model])
    run.give_up()
    assert names(path) == ["model-0.safetensors", "run.json"]


def test_leftovers_are_removed_and_what_is_not_ours_stays(path):
    record = finished(path)
    for name in ("model-7.safetensors", "model-8.safetensors.tmp", "notes.txt", "model.safetensors"):
        (path / name).touch()
    (path / "unfinished-9").mkdir()
    (path / "evaluations").mkdir()
    evaluation = {"model": record["files"]["model"]["sha256"], "data": {}, "rows": 0, "top_1": 0.5, "per_class": []}
    write_record(path / "evaluations" / "now.json", "evaluation", evaluation)
    write_record(path / "evaluations" / "former.json", "evaluation", evaluation | {"model": "0" * 64})
    (path / "evaluations" / "mine.json").write_text("{}")
    (path / "evaluations" / "old.json").write_text(json.dumps({"format": "manyclass evaluation", "version": 1}))
    tidy(path, record)
    assert names(path) == ["evaluations", "model-0.safetensors", "model.safetensors", "notes.txt", "run.json"]
    assert names(path / "evaluations") == ["mine.json", "now.json"]


def test_nothing_is_removed_or_gone_on_with_through_a_link(path, tmp_path):
    record, outside = finished(path), tmp_path / "outside"
    outside.mkdir()
    evaluation = {"model": "0" * 64, "data": {}, "rows": 0, "top_1": 0.5, "per_class": []}
    write_record(outside / "former.json", "evaluation", evaluation)
    (path / "evaluations").symlink_to(outside)
    tidy(path, record)
    assert names(outside) == ["former.json"]
    begin_run(tmp_path / "other")
    (path / "unfinished-7").symlink_to(tmp_path / "other" / "unfinished-0")
    assert last_unfinished(path) is None
    tidy(path, record)
    assert names(path) == ["evaluations", "model-0.safetensors", "run.json"]
    assert names(tmp_path / "other" / "unfinished-0") == ["begun.json"]


def test_nothing_is_removed_while_nobody_knows_what_the_run_has(path):
    finished(path)
    (path / "run.json").write_bytes((path / "run.json").read_bytes().replace(b"now", b"New"))
    folder = RunFolder(path)
    with folder.locked(resume=False, overwrite=True):
        run = folder.begin(BEGUN, resume=False, overwrite=True)
        run.give_up()
    assert names(path) == ["model-0.safetensors", "run.json"]
    assert (path / "model-0.safetensors").read_text() == "old"


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("x"),
        lambda path: (path / "mine").mkdir(parents=True),
        lambda path: path.mkdir() or (path / "run.json").write_text('{"runs": 3}'),
    ],
)
def test_a_place_with_other_things_is_refused(tmp_path, make):
    make(tmp_path / "other")
    with pytest.raises(ValueError, match="choose another name"):
        RunFolder(tmp_path / "other")


def test_a_folder_that_is_taken_says_how_to_go_on(path):
    begin_run(path)
    with pytest.raises(ValueError, match="pass `resume=True` to go on with it, or `overwrite=True` to begin again"):
        RunFolder(path).check(resume=False, overwrite=False)
    RunFolder(path).check(resume=True, overwrite=False)
    RunFolder(path).check(resume=False, overwrite=True)


@pytest.mark.parametrize("damage", ["run.json", "unfinished-1/begun.json"])
def test_a_damaged_record_may_only_be_replaced(path, damage):
    finished(path)
    begin_run(path, {**BEGUN, "seed": 5}, overwrite=True)
    (path / damage).write_bytes((path / damage).read_bytes()[:-9])
    for resume in (False, True):
        with pytest.raises(ValueError, match=f"{damage} is damaged: .*; (train|begin) it again with `overwrite=True`"):
            RunFolder(path).check(resume, overwrite=False)
    assert finished(path, "new", {**BEGUN, "seed": 6}, overwrite=True)["seed"] == 6
    assert len(names(path)) == 2


def test_a_run_of_an_earlier_version_may_only_be_replaced(path):
    (path / "checkpoint").mkdir(parents=True)
    for name in ("model.safetensors", "encoder", "notes.txt"):
        (path / name).touch()
    (path / "run.json").write_text(json.dumps({"format": "manyclass run", "version": 1, "status": "done"}))
    with pytest.raises(ValueError, match="is of an earlier version, which had no checksum; train it again with `overw"):
        RunFolder(path).check(resume=True, overwrite=False)
    finished(path, overwrite=True)
    assert names(path) == ["model-0.safetensors", "notes.txt", "run.json"]


def test_a_run_that_is_replaced_while_its_files_are_looked_at_is_the_new_one(path, monkeypatch):
    finished(path)
    look = folder_module.file_damage

    def replaced(folder, named):
        monkeypatch.setattr(folder_module, "file_damage", look)
        finished(path, "new", overwrite=True)
        return look(folder, named)

    monkeypatch.setattr(folder_module, "file_damage", replaced)
    assert read_whole_run(path)["files"]["model"]["name"] == "model-1.safetensors"


def test_a_run_whose_files_are_not_those_of_its_record_is_refused(path):
    finished(path)
    (path / "model-0.safetensors").write_text("odd")
    with pytest.raises(StoreCorruptedError, match="does not match its checksum"):
        read_whole_run(path)
