"""Help at 80 columns: names are whole, and no type of Python is in it."""

import re

import pytest
import typer
from typer.testing import CliRunner

from manyclass.cli._app import app
from manyclass.cli.terminal.command_help import value_kind

COMMANDS = sorted(typer.main.get_command(app).commands)
TYPES = re.compile(r"<[^>]*>|\blist\[|\bPath\b|BOOLEAN|INTEGER|FLOAT|int range|x[<>]=")


def help_of(*command):
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_no_type_of_python_is_in_the_help(command):
    assert TYPES.findall(help_of(command)) == []


def test_no_type_of_python_is_in_the_help_of_the_program():
    assert TYPES.findall(help_of()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_named_whole_on_its_line(command):
    text = help_of(command)
    assert all(len(line) <= 80 for line in text.splitlines())
    names = [name for one in typer.main.get_command(app).commands[command].params for name in one.opts]
    for name in names:
        if name.startswith("--"):
            assert re.search(rf"{name}(?![\w-])", text), name
    assert "…" not in text


def test_names_to_choose_from_stand_in_the_help():
    words = " ".join(help_of("train").replace("│", " ").split())
    assert "auto, ovr, multiclass, ranking, warp, softmax, square, trace" in words
    assert re.search(r"--test-fraction\s+0 to 1\s", words)
    assert re.search(r"--json\s+Print one JSON object", words)


@pytest.mark.parametrize(
    ("annotation", "kind"), [(int | None, int), (list[str] | None, str), (list[int], int), (bool, bool)]
)
def test_the_kind_of_one_value_is_found(annotation, kind):
    assert value_kind(annotation) is kind
