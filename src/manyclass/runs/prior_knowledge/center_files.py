"""Weights that are known before training, as users name them: rows of an array, one a class, or an older model."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.errors import SettingsError
from manyclass._core.files import expand_home
from manyclass.runs.folder import is_run
from manyclass.runs.load_model import is_model, open_classifier
from manyclass.runs.recipe import ObjectiveName, Recipe


def with_center(recipe: Recipe, objective: str, center: str | os.PathLike[str]) -> Recipe:
    """The recipe with a center of its ridge; refuses objectives that have none."""
    if objective != ObjectiveName.square:
        raise SettingsError(
            f"`center` goes with `objective='square'`, whose ridge has one; got `objective='{objective}'`"
        )
    return replace(recipe, settings={**recipe.settings, "center": read_center(expand_home(center))})


def read_center(path: Path) -> Any:
    """Rows (k, d) in the order of the sorted names of classes, or the weights of an older classifier by name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/text.npy", np.eye(2))
    ...     read_center(Path(folder) / "text.npy")
    array([[1., 0.],
           [0., 1.]])
    """
    from manyclass.data.readers.as_matrix import as_matrix

    if not path.exists():
        raise FileNotFoundError(f"no file or run at {path}")
    if not (is_run(path) or is_model(path)):
        return np.asarray(as_matrix(path).rows(slice(None)), np.float64)
    old = open_classifier(path).model
    if not hasattr(old, "coef_"):
        raise ValueError(f"{path} must hold a linear classifier; it holds a {type(old).__name__}")
    return dict(zip(map(str, old.classes_.tolist()), np.asarray(old.coef_, np.float64), strict=True))
