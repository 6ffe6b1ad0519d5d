"""Progress: lines off a terminal, a bar on one, nothing when quiet."""

import sys

import pytest

from manyclass._core import progress_display as module
from manyclass.cli._console import Console


class Clock:
    """Time that passes when told to."""

    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_off_a_terminal_there_is_a_line_every_few_seconds(clock, capsys):
    with Console().progress("compressing", "rows") as report:
        for second in range(12):
            clock.now = 100.0 + second
            report(1000 * second, 20_000)
    assert capsys.readouterr().err.splitlines() == [
        "compressing: 5,000 of 20,000 rows (25 %), 1,000 rows/s, 15 s left",
        "compressing: 10,000 of 20,000 rows (50 %), 1,000 rows/s, 10 s left",
    ]


def test_rows_found_done_do_not_count_as_speed(clock, capsys):
    with Console().progress("compressing", "rows") as report:
        report(50_000, 60_000)
        clock.now += 10
        report(51_000, 60_000)
    assert "100 rows/s, 90 s left" in capsys.readouterr().err


def test_the_first_report_has_no_rate(clock, capsys):
    with Console().progress("compressing", "rows") as report:
        clock.now += 10
        report(10, 100)
    assert capsys.readouterr().err == "compressing: 10 of 100 rows (10 %)\n"


def test_quick_work_says_nothing(clock, capsys):
    with Console().progress("compressing", "rows") as report:
        report(100, 100)
    assert capsys.readouterr().err == ""


def test_quiet_is_quiet(clock, capsys):
    with Console(quiet=True).progress("compressing", "rows") as report:
        clock.now += 60
        report(10, 100)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with Console().progress("compressing", "rows") as report:
        report(0, 4000)
        report(4000, 4000)
    assert "4,000 of 4,000 rows" in capsys.readouterr().err
