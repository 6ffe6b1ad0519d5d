"""Progress: a bar on a terminal, a line now and then elsewhere."""

import io

import pytest

import manyclass as mc
from manyclass.estimators import progress


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
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
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
