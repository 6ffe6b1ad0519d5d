"""What the page says of curves and tuned settings is what the records hold."""

from manyclass.report.report_data import RunReport
from manyclass.report.sections.learning_curves import curve, show_learning_curves, show_tuning
from tests.report.synthetic import run_record


def test_seconds_of_epochs_add_up_and_those_of_iterations_do_not(checked, tmp_path):
    def seconds(unit, history):
        run = RunReport("x", tmp_path, checked("run", run_record(history=history)), {})
        return curve(run, ("objective", "loss"), unit)[1]

    rows = [{"loss": 1.0, "seconds": 2.0, "n": i} for i in range(3)]
    assert seconds("epoch", [row | {"epoch": row["n"]} for row in rows]) == [2, 4, 6]
    assert seconds("iteration", [row | {"iteration": row["n"]} for row in rows]) == [2, 2, 2]


def test_what_is_trained_again_is_no_part_of_a_curve(checked, tmp_path):
    history = [{"epoch": e, "accuracy": 0.5, "seconds": 1.0, "phase": p} for p in ("train", "refit") for e in (1, 2)]
    run = RunReport("x", tmp_path, checked("run", run_record(history=history)), {})
    assert curve(run, ("accuracy",), "epoch")[0] == [1, 2]


def test_the_highest_point_of_the_curves_is_named(report):
    assert "warp comes highest: 83.8 % after epoch 8 and 0.8 s of training." in show_learning_curves(report()).body


def test_the_best_and_worst_values_of_a_setting_are_named(report):
    section = show_tuning(report())
    assert section.title == "Accuracy against beta"
    assert "beta = 64 is best for warp with 80.0 %; beta = 1 loses 30.0 points." in section.body
