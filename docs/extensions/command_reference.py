"""The command-line reference, made from the commands: docs/commands.md names them in groups, this adds the rest.

Each becomes what its `--help` says, with every option, its default and its panel, and the guides that use it. A command
that the page does not name fails the build.
"""

import re
from enum import Enum
from pathlib import Path
from typing import Any

PAGE = "commands"
GROUP = re.compile(r"^<!-- commands: (.*) -->$", re.MULTILINE)
DOCS = Path(__file__).parents[1]


def read(app: Any, page: str, source: list[str]) -> None:
    """Sphinx's event `source-read`: put the commands of each group where the page names them."""
    if page == PAGE:
        source[0] = with_commands(source[0], all_commands())


def outdated(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Sphinx's event `env-get-outdated`: commands change without the page."""
    return [PAGE]


def all_commands() -> dict[str, Any]:
    """The commands of `manyclass` by name, in the order of its help."""
    import typer

    from manyclass.cli._app import app

    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def with_commands(text: str, commands: dict[str, Any]) -> str:
    """The page with a section for every command, which must each be named once."""
    named = [name for group in GROUP.findall(text) for name in group.split()]
    if sorted(named) != sorted(commands):
        odd = sorted(set(named) ^ set(commands)) or sorted({name for name in named if named.count(name) > 1})
        raise ValueError(f"docs/{PAGE}.md must name every command once; look at {', '.join(odd)}")
    guides = guides_of(named)
    return GROUP.sub(lambda found: "\n".join(section(n, commands[n], guides[n]) for n in found[1].split()), text)


def guides_of(names: list[str]) -> dict[str, list[tuple[str, str]]]:
    """For every command the guides that give it, as titles and links."""
    pages = [DOCS / "features.md", *sorted((DOCS / "guides").glob("*.md"))]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    return {
        name: [
            (text.partition("\n")[0].removeprefix("# "), path.relative_to(DOCS).as_posix())
            for path, text in texts.items()
            if re.search(rf"^(\$ )?manyclass {name}\b", text, re.MULTILINE)
        ]
        for name in names
    }


def section(name: str, command: Any, guides: list[tuple[str, str]]) -> str:
    """One command in Markdown."""
    parts = [f"(command-{name})=\n### {name}", text_of(command.help or ""), f"```\n{usage(name, command)}\n```"]
    if command.epilog:
        parts.append("Example:\n\n```\n" + command.epilog.removeprefix("Example: ") + "\n```")
    if guides:
        parts.append("Guides: " + ", ".join(f"[{title}]({link})" for title, link in guides) + ".")
    parts.append(f"```{{program}} manyclass {name}\n```")
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    parts += [f"`{one.name.upper()}`\n: {sentence(one)}" for one in arguments]
    for panel, options in panels(command).items():
        parts += [f"**{panel}**" if panel else "**Options**", *(option(one) for one in options)]
    return "\n\n".join(parts) + "\n"


def panels(command: Any) -> dict[str | None, list[Any]]:
    """Options by the panel of the help that they stand in; those of none come first."""
    found: dict[str | None, list[Any]] = {None: []}
    for one in command.params:
        if one.param_type_name == "option" and not getattr(one, "hidden", False):
            found.setdefault(one.rich_help_panel, []).append(one)
    return found


def usage(name: str, command: Any) -> str:
    """The line of a command: its arguments and the options that it cannot do without."""
    words = ["manyclass", name]
    for one in command.params:
        if one.param_type_name == "argument":
            word = one.name.upper() + (" ..." if one.nargs != 1 else "")
            words.append(word if one.required else f"[{word}]")
        elif one.required:
            words += [one.opts[0], str(one.metavar)]
    return " ".join([*words, "[OPTIONS]"])


def option(one: Any) -> str:
    """One option as Sphinx's directive, which can be linked and searched for."""
    value = f" {one.metavar}" if one.metavar else ""
    names = sorted([*one.opts, *one.secondary_opts], key=lambda name: not name.startswith("--"))
    head = ", ".join(f"{name}{value}" for name in names)
    return f"```{{option}} {head}\n{sentence(one)}\n```"


def sentence(one: Any) -> str:
    """The help of a parameter and, where there is one, its default."""
    words = [text_of(one.help or "")]
    if one.required:
        words.append("*Required.*")
    elif (default := default_of(one)) is not None:
        words.append(f"*Default: {default}.*")
    return " ".join(word for word in words if word)


def default_of(one: Any) -> str | None:
    """What is taken if nothing is said, in the words of the help; None where that is nothing."""
    if isinstance(shown := getattr(one, "show_default", None), str):
        return text_of(shown)
    value = one.default() if callable(one.default) else one.default
    if isinstance(value, bool) and one.secondary_opts:
        return (one.opts if value else one.secondary_opts)[0].removeprefix("--")
    if value is None or isinstance(value, bool) or value == ():
        return None
    return text_of(str(value.value if isinstance(value, Enum) else value))


def text_of(help_text: str) -> str:
    """Words of a help as Markdown: dashes of options and stars of patterns stay what they are.

    >>> text_of("With --resume, of a*b <x>")
    'With `--resume`, of a\\\\*b \\\\<x>'
    """
    parts = re.split(r"(`[^`]*`)", help_text)
    return "".join(one if one.startswith("`") else _escape(one) for one in parts)


def _escape(words: str) -> str:
    words = re.sub(r"([*_<\[])", r"\\\1", words)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*(?:\\_\w+)*)", lambda found: f"`{found[1]}`", words)
