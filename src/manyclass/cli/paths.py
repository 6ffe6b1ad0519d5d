"""Paths as users type them."""

from pathlib import Path

import typer


def expanded(path: Path) -> Path:
    """The path with ~ replaced by the home folder, which a shell does not do in `--out=~/x`; for `callback=`."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"{path} is in a home folder that is not known; write it in full") from None


def maybe_expanded(path: Path | None) -> Path | None:
    """The same for an option that may be left out."""
    return None if path is None else expanded(path)


def all_expanded(paths: list[Path] | None) -> list[Path]:
    """The same for an argument that may be repeated."""
    return [expanded(path) for path in paths or []]
