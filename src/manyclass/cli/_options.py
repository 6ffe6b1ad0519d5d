"""Paths as users type them."""

from pathlib import Path

import typer


def expand_path(path: Path) -> Path:
    """The path with ~ replaced by the home folder, which a shell does not do in `--out=~/x`; for `callback=`."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"{path} is in a home folder that is not known; write it in full") from None


def expand_optional_path(path: Path | None) -> Path | None:
    """The same for an option that may be left out."""
    return None if path is None else expand_path(path)


def expand_paths(paths: list[Path] | None) -> list[Path]:
    """The same for an argument that may be repeated."""
    return [expand_path(path) for path in paths or []]
