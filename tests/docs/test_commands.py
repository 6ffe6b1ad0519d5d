"""The command-line reference has every command and option, and pages give no command that is not there."""

import re
from pathlib import Path

import pytest
from docs.test_reference import extension

ROOT = Path(__file__).parents[2]
reference = extension("command_reference")
COMMANDS = reference.all_commands()
PAGES = [ROOT / "README.md", *(path for path in (ROOT / "docs").rglob("*.md") if "gallery" not in path.parts)]
BLOCK = re.compile(r"^```(?:console)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_reference_has_every_command_with_every_option_and_its_help():
    page = reference.with_commands((ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), COMMANDS)
    assert len(COMMANDS) >= 19
    for name, command in COMMANDS.items():
        part = page.split(f"\n### {name}\n")[1].split("\n### ")[0]
        assert command.epilog.removeprefix("Example: ") in part
        for one in command.params:
            assert one.help, f"{name} {one.name}"
            assert (f"`{one.name.upper()}`" if one.param_type_name == "argument" else one.opts[-1]) in part


def test_a_page_without_a_command_is_refused():
    with pytest.raises(ValueError, match="must name every command once; look at train"):
        reference.with_commands("<!-- commands: info -->", {"info": COMMANDS["info"], "train": COMMANDS["train"]})


def given_commands(text: str) -> list[str]:
    """Lines of blocks that call `manyclass`, with those that a backslash joins."""
    lines = [line for block in BLOCK.findall(text) for line in block.replace("\\\n", "").splitlines()]
    return [line.removeprefix("$ ").split("  #")[0] for line in lines if re.match(r"(\$ )?manyclass ", line)]


def unknown(line: str) -> list[str]:
    """What a line gives that its command does not have."""
    _, name, *words = line.split()
    if name.startswith("-"):
        return []
    if name not in COMMANDS:
        return [name]
    options = {word for one in COMMANDS[name].params for word in (*one.opts, *one.secondary_opts)} | {"--help"}
    return [f"{name} {word}" for word in words if re.match(r"--[a-z]", word) and word.partition("=")[0] not in options]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_page_are_there(path):
    assert [word for line in given_commands(path.read_text(encoding="utf-8")) for word in unknown(line)] == []


def test_commands_that_are_not_there_are_noticed():
    lines = given_commands(
        "```\nmanyclass tain x\nmanyclass train x --ovr  # --no\n```\n```console\n$ manyclass info x\n```"
    )
    assert [unknown(line) for line in lines] == [["tain"], ["train --ovr"], []]
