"""Lines every few seconds, a bar, and a pace that work found done does not flatter."""

import io

import pytest

from manyclass._core import progress_display as module
from manyclass._core.progress_display import Pace, ProgressBar, ProgressLines
from manyclass._core.worker_groups import LocalWorkers, using_workers


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


def test_a_line_comes_after_five_seconds_and_words_are_made_only_for_it(clock):
    file, made = io.StringIO(), []
    lines = ProgressLines("encoding", file)
    for second in range(11):
        clock.now = 100.0 + second
        lines.draw(second, 10, lambda second=second: made.append(second) or f"{second} of 10")
    assert file.getvalue().splitlines() == ["encoding: 5 of 10", "encoding: 10 of 10"]
    assert made == [5, 10]


class Busy(LocalWorkers):
    """Workers that have something to tell."""

    def activity(self):
        return "10.0.0.1 51/s, 10.0.0.2 45/s"


def test_workers_say_what_they_do_behind_the_words(clock):
    file = io.StringIO()
    lines = ProgressLines("encoding", file)
    with using_workers(Busy(2)):
        lines.draw(1, 10, lambda: "1 of 10")
        lines.close()
    assert file.getvalue() == "encoding: 1 of 10; 10.0.0.1 51/s, 10.0.0.2 45/s\n"


def test_closing_prints_the_words_that_wait_and_nothing_twice(clock):
    file = io.StringIO()
    lines = ProgressLines("encoding", file)
    lines.close()
    assert file.getvalue() == ""
    lines.draw(3, 10, lambda: "3 of 10")
    lines.close()
    lines.close()
    assert file.getvalue() == "encoding: 3 of 10\n"


def test_a_closed_bar_leaves_its_last_words():
    file = io.StringIO()
    bar = ProgressBar("encoding", file)
    bar.draw(3, None, lambda: "3 images")
    bar.draw(10, 10, lambda: "10 of 10 images")
    bar.close()
    assert "encoding" in file.getvalue()
    assert "10 of 10 images" in file.getvalue()


def test_pace_counts_from_the_first_report(clock):
    pace = Pace()
    assert pace.per_second(5000) == 0
    clock.now += 10
    assert pace.per_second(5100) == 10
    clock.now += 10
    assert pace.per_second(5100) == 5


def test_pace_before_any_time_has_passed_is_no_division_by_zero(clock):
    pace = Pace()
    assert [pace.per_second(n) for n in (0, 100)] == [0, 0]
