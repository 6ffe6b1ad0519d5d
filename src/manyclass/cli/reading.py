"""What a command works on, as users name it."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from manyclass.cli.failures import complain
from manyclass.cli.picture_folders import refuse_pictures

if TYPE_CHECKING:
    from manyclass.datasets import Features


def read_source(source: Path, labels: str | None = None) -> "Features":
    """The features at a path, with labels from a file, or without any if that is called "none".

    Whatever the reader leaves out is told in a line each.
    """
    from manyclass.datasets import read_features

    refuse_pictures(source)
    if (source / "run.json").is_file():
        raise ValueError(f"{source} must hold features, and it holds a run; give the data that it is to be used on")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the notices say the same
        features = read_features(source, labels=False if labels == "none" else labels)
    for notice in features.notices:
        complain(notice)
    return features
