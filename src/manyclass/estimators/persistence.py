"""Models in files: one sealed safetensors file each, of arrays and JSON; nothing in it can run.

Its arrays are the weights and all other fitted arrays, each under its own name (`coef_`, `intercept_`, `classes_` if
labels are numbers); its content is

    {"estimator": a name out of a fixed list, "manyclass": the version that wrote it,
     "parameters": {name: value}, "fitted": {name: value}}

with values as `plain_values` has them. Not kept are what belongs to a run rather than to a model (callbacks, the path
of the checkpoint, generators of random numbers) and what `partial_fit` has under way: it goes on from the weights.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import manyclass
from manyclass._tensors import Arrays, Format
from manyclass.estimators.plain_formulas import as_objects, as_plain
from manyclass.estimators.plain_values import decode, encode

if TYPE_CHECKING:
    from manyclass.estimators.linear import LinearModel

FORMAT = Format("manyclass model", 1, "restore the file from a copy or save the model again")
# The estimators that may be saved and loaded. A file names one of them, and never a module.
_HOMES = {
    "LinearClassifier": "manyclass.estimators.linear_classifier",
    "MultiTaskTraceNorm": "manyclass.estimators.multi_task",
    "SharedStructureClassifier": "manyclass.estimators.shared_structure",
    "StochasticClassifier": "manyclass.estimators.stochastic",
    "TraceNormClassifier": "manyclass.estimators.trace_norm",
}
_OF_A_RUN = ("callbacks", "checkpoint")


def save(model: "LinearModel", path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file, whole or not at all."""
    check_is_fitted(model)
    name = type(model).__name__
    if name not in _HOMES or _estimator(name) is not type(model):
        raise TypeError(f"a model must be one of {', '.join(_HOMES)} to be saved; got {name}")
    arrays: Arrays = {}
    content = {
        "estimator": name,
        "manyclass": manyclass.__version__,
        "parameters": {key: encode(value, key, arrays) for key, value in _parameters(model).items()},
        "fitted": {key: encode(value, key, arrays) for key, value in vars(model).items() if _is_fitted_name(key)},
    }
    FORMAT.write(path, content, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """The classifier that `save` wrote: it predicts the same bits.

    Files that are damaged, cut short, of another kind or of a later version are refused in one sentence. Callbacks,
    checkpoints and generators of random numbers are not kept, and have their defaults.
    """
    content, arrays = FORMAT.read(path)
    try:
        name = content["estimator"]
        if name not in _HOMES:
            raise ValueError(f"its estimator must be one of {', '.join(_HOMES)}; got {name!r}")
        parameters, fitted = (
            {key: decode(v, arrays) for key, v in content[k].items()} for k in ("parameters", "fitted")
        )
        return _restored(_estimator(name)(**as_objects(parameters)), fitted)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


def _estimator(name: str) -> Any:
    return getattr(import_module(_HOMES[name]), name)


def _restored(model: Any, fitted: dict[str, Any]) -> Any:
    strange = [name for name in fitted if not _is_fitted_name(name)]
    if strange:
        raise ValueError(f"{strange[0]!r} is no name of what a fit finds")
    for name, value in fitted.items():
        setattr(model, name, value)
    for name, found, shape in _shapes(model, fitted):
        if found != shape:
            raise ValueError(f"{name} must have shape {shape}; got {found}")
    return model


def _shapes(model: Any, fitted: dict[str, Any]) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """(name, shape, the shape that it must have): a linear classifier's, unless the model has its own."""
    if hasattr(model, "fitted_shapes"):
        return [(name, np.shape(fitted[name]), shape) for name, shape in model.fitted_shapes(fitted).items()]
    k, d = len(fitted["classes_"]), fitted["n_features_in_"]
    steps = [("steps_", np.shape(fitted["steps_"]), (k,))] if "steps_" in fitted else []
    return [("coef_", model._shape(), (k, d)), ("intercept_", np.shape(model.intercept_), (k,)), *steps]


def _is_fitted_name(name: str) -> bool:
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")


def _parameters(model: "LinearModel") -> dict[str, Any]:
    """The parameters that belong to the model."""
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in _OF_A_RUN}
    if isinstance(parameters.get("random_state"), np.random.RandomState | np.random.Generator):
        del parameters["random_state"]
    return as_plain(parameters)
