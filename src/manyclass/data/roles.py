"""The words under which people keep features, labels and names: members, columns and files; the likeliest first."""

from collections.abc import Iterable

FEATURES = ("X", "features", "embeddings", "embedding", "img_emb", "emb", "vectors", "vector", "feats")
LABELS = ("labels", "label", "y", "targets", "target", "class", "category")
NAMES = ("names", "name", "image_path", "path", "paths", "file", "filename", "filenames", "key", "url", "id", "ids")
CLASSES = ("classes", "class_names", "label_names")
SPLIT = ("split", "splits", "subset")


def first_named(words: tuple[str, ...], choices: Iterable[str]) -> str | None:
    """The choice that has the likeliest of these names, whatever its case; None if there is none.

    >>> first_named(LABELS, ["Y", "Label"])
    'Label'
    """
    known = {choice.lower(): choice for choice in choices}
    return next((known[word.lower()] for word in words if word.lower() in known), None)
