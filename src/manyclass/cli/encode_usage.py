"""Which options of `manyclass encode` go together."""

from pathlib import Path
from typing import Any

import typer


def check_usage(data: Path | None, add: bool, remove: list[str] | None, making: dict[str, Any]) -> None:
    """Refuse options of a new gallery beside those that change one, and data that would not be used."""
    if add and data is None:
        raise typer.BadParameter("--add needs DATA: the features to add")
    if remove and data is not None and not add:
        raise typer.BadParameter(f"--remove does not use {data}; add --add to add its rows, or leave it out")
    if not add and not remove:
        if "," in (making["method"] or "") and not making["evaluate"]:
            raise typer.BadParameter("--method must be one, of which the gallery is made; several need --evaluate")
        return
    change = "--add" if add else "--remove"
    for option, value in making.items():
        if value is not None and value is not False:
            word = option.replace("_", "-")
            raise typer.BadParameter(f"--{word} does not go with {change}: the gallery keeps what it was made with")
