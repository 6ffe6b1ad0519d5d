"""Names of images, as ground truth and file lists write the same one differently."""

from collections.abc import Iterable

_ENDINGS = ("jpg", "jpeg", "png", "webp", "ppm", "pgm", "tif", "tiff", "gif", "bmp")


def stem(name: str) -> str:
    """The name without folders and without the ending of an image file.

    >>> stem("jpg/all_souls_000013.jpg"), stem("all_souls_000013")
    ('all_souls_000013', 'all_souls_000013')
    """
    base = name.strip().replace("\\", "/").rsplit("/", 1)[-1]
    start, dot, ending = base.rpartition(".")
    return start if dot and start and ending.lower() in _ENDINGS else base


def places(names: Iterable[str]) -> dict[str, int]:
    """Where every name stands, without folders and endings; refused where two are then the same."""
    found: dict[str, int] = {}
    for i, name in enumerate(names):
        if found.setdefault(stem(name), i) != i:
            raise ValueError(f"names must be distinct without folders and file extensions; got {stem(name)!r} twice")
    return found
