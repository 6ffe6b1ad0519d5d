"""Images of a gallery as users name them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass.cli.suggestions import did_you_mean

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery


def wanted_ids(gallery: "Gallery", words: list[str], path: Path) -> list[Any]:
    """The ids that words stand for; each must be in the gallery."""
    return [_wanted(gallery, word, path) for word in words]


def _wanted(gallery: "Gallery", word: str, path: Path) -> Any:
    numbers = gallery.ids.dtype.kind != "U"
    key: Any = int(word) if numbers and word.lstrip("-").isdecimal() else word
    if key in gallery:
        return key
    ids = [str(known) for known in gallery.ids.tolist()]
    hint = f"; its images have numbers such as {ids[0]}" if numbers and ids else did_you_mean(word, ids)
    raise ValueError(f"{path} must have the image that is asked for; it has no {word!r}{hint}")
