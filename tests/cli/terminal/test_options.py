"""Options that several commands have mean the same in all of them."""

from pathlib import Path

import pytest
import typer

from manyclass.cli._app import app
from manyclass.cli.terminal.options import expand_optional_path, expand_path, expand_paths


def test_a_tilde_is_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expand_path(Path("~/x")) == Path("/home/somebody/x")
    assert expand_optional_path(None) is None
    assert expand_paths([Path("~"), Path("y")]) == [Path("/home/somebody"), Path("y")]


def test_the_home_of_nobody_is_wrong_usage():
    with pytest.raises(typer.BadParameter, match="write it in full"):
        expand_path(Path("~nobody-of-this-name/x"))


@pytest.mark.parametrize("option", ["--json", "--seed", "--threads", "--overwrite", "--out"])
def test_an_option_is_of_one_kind_in_every_command(option):
    commands = typer.main.get_command(app).commands.values()
    found = [one for command in commands for one in command.params if option in one.opts]
    assert len(found) >= 4
    assert len({(one.is_flag, one.multiple, one.nargs, tuple(one.opts)) for one in found}) == 1


def test_every_command_can_print_json():
    commands = typer.main.get_command(app).commands
    assert [name for name, one in commands.items() if not any("--json" in p.opts for p in one.params)] == []
