"""The encoder of a store, in a file beside it, and beside that what it was learned from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyclass.cli.feature_kinds import EncoderKind


def encoder_path(store: Path) -> Path:
    """Where the encoder of a store is kept."""
    return store.with_name(store.name + ".encoder")


def kept_or_made(store: Path, kind: EncoderKind, images: str, replace: bool, make: Callable[[], Any]) -> Any:
    """The encoder that an earlier attempt with the same settings and images left, or else one that is made and kept.

    What it was learned from is written before it, and a file of that alone means nothing: after a crash at any moment
    the two agree, or there is no encoder.
    """
    import manyclass as mc
    from manyclass import _atomic

    path = encoder_path(store)
    about = path.with_name(path.name + ".json")
    recipe = {"made by": "manyclass features", "kind": kind.name, "settings": kind.settings, "seed": kind.seed}
    text = json.dumps({**recipe, "images": images}, indent=1, sort_keys=True).encode() + b"\n"
    if path.exists():
        if about.exists() and about.read_bytes() == text:
            return mc.load(path)
        if not replace:
            raise ValueError(
                f"{path} is an encoder that was made otherwise; name it with --kind to use it, or add --restart"
            )
    encoder = make()
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    _atomic.write_bytes(about, text)
    encoder.save(path)
    return encoder
