"""Progress: a bar on a terminal, a line now and then elsewhere."""

import io
import logging
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import manyclass as mc


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(epoch, phase="train", most=10, **more):
    return {"epoch": epoch, "examples": 500, "seconds": 0.5, "phase": phase, "max_epochs": most, "loss": 1.0, **more}


def shown(file, *records):
    show = mc.Progress(file)
    for one in records:
        show(one)
    show.close()
    return file.getvalue()


def test_off_a_terminal_each_phase_leaves_one_line_when_it_was_short():
    assert shown(io.StringIO(), record(1), record(2, accuracy=0.25), record(1, "refit", most=2)).splitlines() == [
        "training: epoch 2 of 10, 1,000 examples/s, at most 4 s left, accuracy 25.0 %",
        "training on everything: epoch 1 of 2, 1,000 examples/s, at most 0 s left",
    ]  # fmt: skip


def test_off_a_terminal_there_is_a_line_whenever_enough_time_has_passed(monkeypatch):
    monkeypatch.setattr("manyclass._core.progress_display.SECONDS_BETWEEN_LINES", 0.0)
    assert len(shown(io.StringIO(), record(1), record(2), record(3)).splitlines()) == 3


def test_the_time_that_judging_takes_counts_for_the_rate():
    assert "500 examples/s" in shown(io.StringIO(), record(1, judging_seconds=0.5))


def test_an_accuracy_is_shown_until_there_is_a_newer_one():
    assert "accuracy 25.0 %" in shown(io.StringIO(), record(1, accuracy=0.25), record(2))


def test_on_a_terminal_there_is_a_bar():
    drawn = shown(Terminal(), record(1), record(2, accuracy=0.5), record(1, "refit"))
    assert "━" in drawn
    assert "epoch 2 of 10" in drawn
    assert "training on everything" in drawn


def test_a_bar_that_was_closed_leaves_the_cursor_as_it_was():
    drawn = shown(Terminal(), record(1))
    assert drawn.rindex("\x1b[?25h") > drawn.rindex("\x1b[?25l")


@pytest.mark.parametrize("file", [io.StringIO(), Terminal()], ids=["lines", "bar"])
def test_nothing_is_shown_before_the_first_record(file):
    assert shown(file) == ""


def test_it_is_on_stderr_unless_told_otherwise(capsys):
    shown_nowhere = mc.Progress()
    shown_nowhere(record(1))
    shown_nowhere.close()
    assert "epoch 1 of 10" in capsys.readouterr().err


def step(number, **facts):
    return {"iteration": number, "objective": 1.0 / (1 + number), "seconds": 0.1 * number, **facts}


def test_steps_of_a_batch_solver_show_objective_gap_and_rank_as_they_come():
    assert shown(io.StringIO(), step(0), step(1, rank=3), step(2, gap=0.01)) == (
        "training: step 2, objective 0.33333, rank 3, gap 0.01\n"
    )


def test_pairs_of_a_path_show_strengths_and_the_time_left():
    row = {"trace": 0.5, "ridge": 0.01, "accuracy": 0.75, "rank": 4, "objective": 2.0, "gap": 1e-5, "seconds": 2.0}
    assert shown(io.StringIO(), {**row, "point": 1, "points": 4}, {**row, "point": 2, "points": 4}) == (
        "training: pair 2 of 4, about 4 s left, trace 0.5 ridge 0.01, rank 4, accuracy 75.0 %\n"
    )


@pytest.mark.parametrize("file", [io.StringIO(), Terminal()], ids=["lines", "bar"])
def test_fits_of_every_kind_can_be_followed(file):
    X, y = np.random.default_rng(0).standard_normal((60, 4)), np.arange(60) % 3
    for model in (
        mc.StochasticClassifier(max_epochs=2, random_state=0),
        mc.TraceNormClassifier(trace=0.01),
        mc.LinearClassifier(penalty=mc.Ridge(0.1)),
        mc.TraceNormPath(traces=2, ridges=1, random_state=0),
    ):
        model.set_params(callbacks=[mc.Progress(file)]).fit(X, y)
    assert all(words in file.getvalue() for words in ("epoch 2 of 2", "step ", "pair 2 of 2"))


class Heard(logging.Handler):
    """What was logged."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def heard():
    handler, logger = Heard(), logging.getLogger("manyclass.estimators")
    logger.addHandler(handler)
    yield handler.records
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


SMALL = {
    "epoch": mc.StochasticClassifier("ovr", max_epochs=2, random_state=0),
    "step": mc.LinearClassifier(penalty=mc.Ridge(0.1)),
    "pair": mc.TraceNormPath(traces=[0.1], ridges=[0.1], random_state=0),
    "step 1,": mc.SharedStructureClassifier(C=0.1),
}


def draw():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    return rng.normal(size=(4, 5))[y] + 0.3 * rng.normal(size=(40, 5)), y


@pytest.mark.parametrize("unit", SMALL)
def test_verbose_is_a_line_on_stderr_for_each_record(unit, capfd):
    X, y = draw()
    estimator = clone(SMALL[unit])
    estimator.fit(X, y)
    assert capfd.readouterr() == ("", "")
    estimator.set_params(verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"{type(estimator).__name__}: training: {unit} ")


@pytest.mark.parametrize("unit", SMALL)
def test_the_log_hears_a_fit_only_where_somebody_listens(unit, heard, capfd):
    X, y = draw()
    clone(SMALL[unit]).fit(X, y)
    assert heard == []
    logging.getLogger("manyclass.estimators").setLevel(logging.INFO)
    clone(SMALL[unit]).fit(X, y)
    assert capfd.readouterr().err == ""
    assert heard[0].levelname == "INFO"
    assert f" training: {unit}" in heard[0].getMessage()
    assert isinstance(heard[0].record, dict)


@pytest.mark.parametrize("wrong", [-1, "yes", 0.5])
def test_what_is_no_verbosity_is_refused(wrong):
    X, y = draw()
    for estimator in (mc.LinearClassifier(verbose=wrong), mc.StochasticClassifier(verbose=wrong)):
        with pytest.raises(ValueError, match="verbose must be a whole number, at least 0"):
            estimator.fit(X, y)


def test_the_library_has_a_handler_that_does_nothing_and_no_other():
    program = "import logging, manyclass as mc; mc.Progress; print(logging.getLogger('manyclass').handlers)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[<NullHandler (NOTSET)>]\n"
