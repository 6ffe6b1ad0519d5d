"""Records found in folders."""

import pytest
from cli.runs import begin_run

from manyclass._core.errors import StoreCorruptedError
from manyclass.report.report_data import collect
from manyclass.runs.records import write_record
from tests.report.synthetic import evaluation_record, run_record, write_everything, write_run


@pytest.mark.parametrize(
    "given",
    [["."], ["ovr", "warp", "gallery"], [".", "warp", "ovr/run.json"], ["ovr", "warp", "gallery/retrieval.json"]],
)
def test_runs_and_galleries_are_found_once_by_any_of_their_paths(tmp_path, given):
    write_everything(tmp_path)
    report = collect([tmp_path / path for path in given])
    assert sorted(run.name for run in report.runs) == ["ovr", "warp"]
    assert [search.name for search in report.searches] == ["gallery"]
    assert [run.number for run in report.runs] == [0, 1]


def test_runs_of_one_name_are_told_apart_by_their_parents(tmp_path):
    for parent in ("monday", "tuesday"):
        write_run(tmp_path / parent / "warp")
    assert [run.name for run in collect([tmp_path]).runs] == ["monday/warp", "tuesday/warp"]


def test_runs_are_compared_where_most_were_measured_and_then_on_a_test_part(tmp_path):
    for name in ("a", "b"):
        run = write_run(tmp_path / name)
        validation = evaluation_record(0.99, data={"part": "val"})
        write_record(run / "evaluations" / "a-val.json", "evaluation", validation)
    write_record(tmp_path / "a" / "evaluations" / "z.json", "evaluation", evaluation_record(0.1))
    report = collect([tmp_path])
    assert [evaluation["top_1"] for _, evaluation in report.evaluated_runs] == [0.75, 0.75]


@pytest.mark.parametrize("name", ["missing", "empty", "notes.txt", "evaluation.json"])
def test_what_holds_no_record_is_refused_by_its_name(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    write_record(tmp_path / "evaluation.json", "evaluation", evaluation_record())
    with pytest.raises((ValueError, OSError), match=name):
        collect([tmp_path / name])


def test_a_damaged_record_in_a_run_is_refused_by_its_path(tmp_path):
    run = write_run(tmp_path / "warp")
    (run / "evaluations" / "x-test.json").write_text("{")
    with pytest.raises(ValueError, match=r"x-test\.json must be a record"):
        collect([tmp_path])


def test_one_flipped_bit_of_an_evaluation_is_refused(tmp_path):
    file = write_run(tmp_path / "warp") / "evaluations" / "x-test.json"
    file.write_bytes(file.read_bytes().replace(b'"top_1": 0.75', b'"top_1": 0.71'))
    with pytest.raises(ValueError, match=r"x-test\.json is damaged: its \d+ bytes do not match .*; evaluate again"):
        collect([tmp_path])


def test_the_evaluation_of_an_earlier_model_is_left_out_with_a_warning(tmp_path):
    run = write_run(tmp_path / "warp")
    write_record(run / "evaluations" / "y-test.json", "evaluation", evaluation_record(1.0, model="0" * 64))
    with pytest.warns(UserWarning, match=r"y-test\.json is left out, as it is of another model than that of .*warp"):
        (found,) = collect([tmp_path]).runs
    assert list(found.evaluations) == ["x-test"]


@pytest.mark.parametrize(("content", "words"), [(None, "is missing"), (b"\1" * 3456, "does not match its checksum")])
def test_a_record_of_another_model_is_refused(tmp_path, content, words):
    model = write_run(tmp_path / "warp") / "model-0.safetensors"
    model.unlink() if content is None else model.write_bytes(content)
    with pytest.raises(StoreCorruptedError, match=rf"warp is damaged: model-0\.safetensors {words}"):
        collect([tmp_path])


def test_an_unfinished_run_is_left_out_among_others_and_refused_alone(tmp_path):
    write_run(tmp_path / "warp")
    begin_run(tmp_path / "new")
    with pytest.warns(UserWarning, match=r"new is left out, as its run is unfinished; go on with it"):
        assert [run.name for run in collect([tmp_path]).runs] == ["warp"]
    with pytest.raises(ValueError, match="new holds a run that is unfinished; go on with it by manyclass train --res"):
        collect([tmp_path / "new"])


def test_images_must_be_a_folder(tmp_path):
    write_run(tmp_path / "warp")
    with pytest.raises(ValueError, match="images must be a folder; got nowhere"):
        collect([tmp_path], images="nowhere")


def test_evaluations_of_one_name_on_other_rows_are_not_compared(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / name)
    others = [{"class": "class 0", "rows": 7, "right": 7, "accuracy": 1.0}]
    write_run(tmp_path / "c", evaluation=evaluation_record(1.0, rows=7, per_class=others))
    assert [run.name for run, _ in collect([tmp_path]).evaluated_runs] == ["a", "b"]


def test_rows_of_one_name_and_as_many_of_each_class_are_told_apart_by_their_fingerprint(tmp_path):
    for name, mark in (("a", "f"), ("b", "g"), ("c", "f")):
        data = {"path": f"{name}/x.store", "part": "test", "rows": 240, "fingerprint": mark}
        write_run(tmp_path / name, evaluation=evaluation_record(data=data))
    assert [run.name for run, _ in collect([tmp_path]).evaluated_runs] == ["a", "c"]


def test_rows_that_made_the_model_are_taken_for_a_measurement_last(tmp_path):
    train = {"role": "train", "path": "x.store", "rows": 240, "part": "test", "fingerprint": "f"}
    run = write_run(tmp_path / "a", run_record("warp", data=[train]))
    write_record(run / "evaluations" / "a.json", "evaluation", evaluation_record(1.0, data=train))
    assert [evaluation["top_1"] for _, evaluation in collect([tmp_path]).evaluated_runs] == [0.75]


def test_a_test_is_its_names_and_labels_and_not_its_features(tmp_path):
    shares = {"network": ("n", 0.91), "fisher": ("f", 0.83)}
    for name, (mark, share) in shares.items():
        data = {"path": f"{name}.store", "part": "test", "rows": 240, "fingerprint": mark}
        run = write_run(tmp_path / name, evaluation=evaluation_record(0.5))
        (run / "evaluations" / "x-test.json").unlink()
        judged = evaluation_record(share, data=data, fingerprint="e")
        write_record(run / "evaluations" / f"{name}-test.json", "evaluation", judged)
    assert [run.name for run, _ in collect([tmp_path]).evaluated_runs] == ["network", "fisher"]
    assert collect([tmp_path]).runs_on_other_tests == []


def test_runs_on_other_examples_are_kept_apart(tmp_path):
    for name, mark in (("a", "e"), ("b", "g"), ("c", "e")):
        data = {"path": "x.store", "part": "test", "rows": 240, "fingerprint": "f"}
        write_run(tmp_path / name, evaluation=evaluation_record(data=data, fingerprint=mark))
    report = collect([tmp_path])
    assert [run.name for run, _ in report.evaluated_runs] == ["a", "c"]
    assert [run.name for run, _ in report.runs_on_other_tests] == ["b"]
