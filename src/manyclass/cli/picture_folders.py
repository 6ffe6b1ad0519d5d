"""A folder of pictures where features are needed."""

import os
from pathlib import Path


def refuse_pictures(data: Path) -> None:
    """Say how pictures become features, if that is what a folder holds."""
    from manyclass.data.layouts import layout_of
    from manyclass.datasets.image_files import PICTURES

    if not data.is_dir():
        return
    try:
        layout_of(data)
    except ValueError:
        if any(name.lower().endswith(PICTURES) for _, _, names in os.walk(data) for name in names):
            way_out = f"make features of them first: manyclass features {data} -o {data.name}.store"
            raise ValueError(f"{data} must hold features, and it holds pictures; {way_out}") from None
