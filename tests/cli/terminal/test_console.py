"""The console: results on stdout, notices on stderr; progress as lines off a terminal, as a bar on one."""

import sys
from pathlib import Path

import pytest

from manyclass._core import progress_display as module
from manyclass.cli.terminal.console import Console


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


@pytest.mark.parametrize(
    ("console", "info"),
    [(Console(), True), (Console(quiet=True), False), (Console(json=True), False), (Console(True, True), False)],
)
def test_notices_are_for_people_who_want_them_and_warnings_for_all(capsys, console, info):
    console.info("learning")
    console.warn("two rows\n  left out")
    said = ["manyclass: learning", "manyclass: two rows left out"]
    assert capsys.readouterr().err.splitlines() == said[not info :]


def test_what_the_library_calls_arguments_are_options_here(capsys):
    Console().info("40 rows; `negatives` names others")
    assert capsys.readouterr().err == "manyclass: 40 rows; --negatives names others\n"


def say_everything(console):
    console.json({"rows": 3, "path": Path("x")})
    console.table("x.store", [("rows", "3")])
    console.columns(("name", "score"), [("[bold]a", "1.5"), ("b", "10")], "two", numbers=True)
    console.line("the end")


def test_programs_get_the_json_and_nothing_else(capsys):
    say_everything(Console(json=True))
    assert capsys.readouterr() == ('{"rows": 3, "path": "x"}\n', "")


@pytest.mark.parametrize("quiet", [False, True])
def test_people_get_tables_in_which_numbers_stand_to_the_right(capsys, quiet):
    say_everything(Console(quiet))
    out, err = capsys.readouterr()
    lines = ["x.store", "rows 3", "two", "name    score", "[bold]a   1.5", "b          10", "the end"]
    assert [" ".join(line.split()) for line in out.splitlines()] == [" ".join(line.split()) for line in lines]
    assert out.splitlines()[4].rstrip().endswith("  1.5")
    assert err == ""


def test_without_numbers_columns_stand_to_the_left(capsys):
    Console().columns(("", "1"), [("a", "cat 90.0 %"), ("b", "x")])
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == ["   1", "a  cat 90.0 %", "b  x"]


def test_names_of_strangers_cannot_steer_a_terminal(capsys):
    name = "a\x1b]0;owned\x07\x9b31m\udc80é"
    console = Console()
    console.table(name, [(name, name)])
    console.columns(["image", name], [(name, "1")], title=name)
    console.warn(f"{name} is left out")
    shown = "".join(capsys.readouterr())
    assert shown.count("a\ufffd]0;owned\ufffd\ufffd31m\ufffdé") == 7
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
