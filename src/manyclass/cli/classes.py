"""manyclass classes: the classes of a run; and a new run with some more, some less, or by other names."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, LabelFile, Overwrite, Quiet, Run, Threads, out_option, path_option

_SHOWN = 40


@report_errors("the run is as it was; give the same command again")
def classes(
    run: Run,
    add: Annotated[
        Path | None,
        path_option("Pictures of new classes, a folder for each; or pictures of one; or features with labels."),
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="CLASS", help="A class to leave out; may be repeated.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(metavar="OLD=NEW", help="Another name for a class; may be repeated.")
    ] = None,
    out: Annotated[Path | None, out_option("The new run.")] = None,
    name: Annotated[str | None, typer.Option(help="With --add: the class of all that is added.")] = None,
    labels: LabelFile = None,
    encoder: Annotated[Path | None, path_option("The encoder of the pictures.", show_default="that of the run")] = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the classes of a run; or, with -o, make a new run with classes more, less, or by other names.

    Nothing is trained again, and the run itself stays as it is. Five pictures make a class: `classes run --add
    photos/zebra -o new` learns `zebra` from the pictures in that folder, beside all that the run knows already. With as
    many pictures of a class as there are of the others, train again.
    """
    import manyclass as mc

    console = Console(quiet, json)
    _check_usage(add, remove, rename, out, {"name": name, "labels": labels, "encoder": encoder})
    if out is None:
        _list(run, console)
        return
    shared: dict[str, Any] = {"overwrite": overwrite, "arguments": _words(run, add, remove, rename)}
    shared["notify"] = console.info
    with mc.threads(threads):
        if add is not None:
            given = {"name": name, "labels": labels, "encoder": encoder, "warn": console.warn}
            found = mc.runs.add_classes(run, add, out, **given, **shared)
        elif remove:
            found = mc.runs.remove_classes(run, remove, out, **shared)
        else:
            found = mc.runs.rename_classes(run, _pairs(rename or []), out, **shared)
    console.json({"path": str(out), "classes": found.classes, "changed": found.changed, "rows": found.rows})
    done = "added" if add is not None else "removed" if remove else "new names"
    console.table(
        str(out),
        [
            ("classes", f"{found.classes:,}"),
            (done, ", ".join(found.changed)),
            *([("learned from", f"{found.rows:,} rows")] if found.rows else []),
            ("next", f"manyclass predict {quote(str(out))} picture.jpg"),
        ],
    )


def _check_usage(
    add: Path | None, remove: list[str] | None, rename: list[str] | None, out: Path | None, adding: dict[str, Any]
) -> None:
    """Refuse options that do not go together."""
    asked = [option for option, value in (("--add", add), ("--remove", remove), ("--rename", rename)) if value]
    if len(asked) > 1:
        raise typer.BadParameter(f"{' and '.join(asked)} are two changes; make one run of each, one after the other")
    if asked and out is None:
        raise typer.BadParameter(f"{asked[0]} makes a new run; say where with -o")
    if out is not None and not asked:
        raise typer.BadParameter("-o needs a change; give --add, --remove or --rename, or leave it out to list classes")
    for option, value in adding.items():
        if value and add is None:
            raise typer.BadParameter(f"--{option} goes with --add")


def _pairs(given: list[str]) -> dict[str, str]:
    """New names by old ones, of which each is given once."""
    found: dict[str, str] = {}
    for old, new in map(_pair, given):
        if old in found:
            raise typer.BadParameter(f"--rename must give a class one name; got {found[old]} and {new} for {old}")
        found[old] = new
    return found


def _pair(words: str) -> tuple[str, str]:
    """Old and new name of OLD=NEW."""
    old, equals, new = words.partition("=")
    if not (old and equals and new):
        raise typer.BadParameter(f"--rename must be OLD=NEW, such as cat=lynx; got {words!r}")
    return old, new


def _words(run: Path, add: Path | None, remove: list[str] | None, rename: list[str] | None) -> list[str]:
    """The command, for the record."""
    words = [str(run), *(["--add", str(add)] if add is not None else [])]
    return [*words, *(f"--remove={one}" for one in remove or []), *(f"--rename={one}" for one in rename or [])]


def _list(run: Path, console: Console) -> None:
    import manyclass as mc

    sizes = mc.runs.class_sizes(run)
    console.json({"path": str(run), "classes": [{"class": label, "rows": rows} for label, rows in sizes.items()]})
    lines = [[label, "" if rows is None else f"{rows:,}"] for label, rows in sizes.items()]
    console.columns(["class", "rows"], lines[:_SHOWN], title=f"{run}: {len(lines):,} classes", numbers=True)
    if len(lines) > _SHOWN:
        console.info(f"{len(lines) - _SHOWN:,} classes more; see them all with --json")
