"""Models in files: one sealed safetensors file each, of arrays and JSON; nothing in it can run.

Its arrays are the weights and all other fitted arrays, each under its own name (`coef_`, `intercept_`, `classes_` if
labels are numbers); its content is

    {"estimator": a name out of a fixed list, "manyclass": the version that wrote it,
     "parameters": {name: value}, "fitted": {name: value}}

with values as `encode_value` gives them. Not kept are what belongs to a run rather than to a model (callbacks, the path
of the checkpoint, generators of random numbers, and whatever a clock said: the same fit gives the same bytes) and what
`partial_fit` has under way: it goes on from the weights.

A class may have `plain_parameters` and `parameters_of`, which describe parameters that are objects; `fitted_shapes`,
if its arrays are not a linear classifier's; `mapped_arrays`, the names of those that stay in the file and are mapped
from it, being too large to be read; and `former_names`, for files of earlier versions: {old: new} names of
parameters and attributes, or {old: (new, function of the old value)}.
"""

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

import manyclass
from manyclass._core.digest import canonical_json, sha256_digest
from manyclass._core.files import write_output
from manyclass._core.label_lists import FORMS
from manyclass._core.lazy import find_public
from manyclass._core.plain_values import decode_value, encode_value
from manyclass._core.sealed import SealedFormat
from manyclass._core.typing import Arrays

FORMAT = SealedFormat("manyclass model", 1, "restore the file from a copy or save the model again")

# The models that may be saved and loaded. A file names one of them, and never a module.
_SAVABLE = (
    "BagOfWords", "ExemplarLDA", "ExemplarSVM", "FisherVectors", "KernelSquareLossExemplar", "LinearClassifier",
    "MultiTaskTraceNorm", "NearestCentroid", "OnnxFeatures", "QuantizedHead", "SharedStructureClassifier",
    "SquareLossClassifier", "SquareLossExemplar", "StochasticClassifier", "TraceNormClassifier", "Vlad", "WhitenedPCA",
)  # fmt: skip

_RUN_PARAMETERS = ("callbacks", "checkpoint", "verbose")

F = TypeVar("F", bound=Callable[..., Any])


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier or encoder to one file, whole or not at all."""
    write_output(path, *FORMAT.pieces(*_describe(model)))


def filling_model(
    model: Any, path: str | os.PathLike[str], later: Collection[str]
) -> AbstractContextManager[Callable[..., None]]:
    """Write a model some of whose arrays have shapes alone, and numbers in the block: see `SealedFormat.filling`."""
    return FORMAT.filling(path, *_describe(model), later)


def model_pieces(model: Any) -> list[Any]:
    """The bytes that `save_model` would write, one piece after the other."""
    return FORMAT.pieces(*_describe(model))


def model_digest(model: Any, without: Collection[str] = ()) -> str:
    """A digest of the class of a model, its parameters and what it learned, whichever version saved it."""
    arrays: Arrays = {}
    values = {**model.get_params(deep=False), **_fitted(model)}
    kept = {key: value for key, value in values.items() if key not in {*_RUN_PARAMETERS, *without}}
    about = [type(model).__name__, {key: encode_value(kept[key], key, arrays) for key in sorted(kept)}]
    about += [[name, list(array.shape)] for name, array in arrays.items()]
    return sha256_digest([canonical_json(about), *arrays.values()])


def is_savable(model: Any) -> bool:
    """Whether `save_model` takes models of this very class."""
    name = type(model).__name__
    return name in _SAVABLE and find_public(name) is type(model)


def _describe(model: Any) -> tuple[dict[str, Any], Arrays]:
    """The content and the arrays of the file of a fitted model."""
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not is_savable(model):
        raise TypeError(f"a model must be one of {', '.join(_SAVABLE)} to be saved; got {name}")
    parameters = _parameters(model)
    if hasattr(model, "fit"):  # a head is made of another model
        check_is_fitted(model)
    arrays: Arrays = {}
    content = {
        "estimator": name,
        "manyclass": manyclass.__version__,
        "parameters": {key: encode_value(value, key, arrays) for key, value in parameters.items()},
        "fitted": {key: encode_value(value, key, arrays) for key, value in _fitted(model).items()},
    }
    return content, arrays


def _fitted(model: Any) -> dict[str, Any]:
    """The fitted attributes, but for the times that the fit took."""
    fitted = {key: value for key, value in vars(model).items() if _is_fitted_name(key) and key != "seconds_"}
    if "history_" in fitted:
        fitted["history_"] = [
            {key: value for key, value in entry.items() if not key.endswith("seconds")} for entry in fitted["history_"]
        ]
    return fitted


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save_model` wrote; ValueError, in one sentence, for all else."""
    content, arrays = FORMAT.read(path, mapped=_mapped_arrays)
    try:
        name = content["estimator"]
        if name not in _SAVABLE:
            raise ValueError(f"its estimator must be one of {', '.join(_SAVABLE)}; got {name!r}")
        kind = find_public(name)
        parameters, fitted = (
            _renamed(kind, {key: decode_value(value, arrays) for key, value in content[section].items()})
            for section in ("parameters", "fitted")
        )
        return _restored(_model_with(kind, parameters), fitted)
    # Who can write a file can seal it, and its values go through constructors that expect other ones.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error


def _mapped_arrays(content: Any) -> Any:
    """The arrays that stay in the file, by the name of the estimator, if it is one."""
    name = content.get("estimator") if isinstance(content, dict) else None
    return getattr(find_public(name), "mapped_arrays", ()) if name in _SAVABLE else ()


def _model_with(kind: Any, plain: dict[str, Any]) -> Any:
    return kind(**(kind.parameters_of(plain) if hasattr(kind, "parameters_of") else plain))


def _renamed(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Values of a file under the names that they have today."""
    former: dict[str, str | tuple[str, Callable[[Any], Any]]] = getattr(kind, "former_names", {})
    renamed = {}
    for key, value in values.items():
        now = former.get(key, key)
        name, translate = (now, None) if isinstance(now, str) else now
        renamed[name] = value if translate is None else translate(value)
    return renamed


def _restored(model: Any, fitted: dict[str, Any]) -> Any:
    strange = [name for name in fitted if not _is_fitted_name(name)]
    if strange:
        raise ValueError(f"unknown fitted attribute {strange[0]!r}")
    for name, value in fitted.items():
        setattr(model, name, value)
    for name, found, shape in _shapes(model, fitted):
        if found != shape:
            raise ValueError(f"{name} must have shape {shape}; got {found}")
        if shape and name in fitted and np.dtype(getattr(fitted[name], "dtype", object)).kind not in "biuf":
            raise ValueError(f"{name} must be an array of numbers; got {type(fitted[name]).__name__}")
    for name, (rule, holds) in _FITTED.items():
        if name in fitted and not holds(fitted[name]):
            raise ValueError(f"{name} must be {rule}; got {type(fitted[name]).__name__}")
    return model


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_range(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_number, value))


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is dict for one in value)


def _is_trained(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_labels(value: Any) -> bool:
    # Several tasks have a list, of two labels each.
    arrays = value if isinstance(value, list) and value and np.ndim(value[0]) else [value]
    return all(isinstance(one, np.ndarray) and one.ndim == 1 and len(one) for one in arrays)


def _is_held_out(value: Any) -> bool:
    kinds = {"losses": "f", "sure": "f", "near": "f", "classes": "i", "weights": "f"}
    return _are_arrays(value, kinds) and {one.shape for one in value.values()} == {(len(value["losses"]) or -1,)}


def _is_known_classes(value: Any) -> bool:
    k, d = np.size(value["shares"]), np.size(value["mean"])
    shapes = {"mean": (d,), "means": (k, d), "shares": (k,), "within": (d, d), "exponent": (1,)}
    shapes["rows"] = (*np.shape(value["rows"])[:1], d)
    return _are_arrays(value, dict.fromkeys(shapes, "f")) and {n: v.shape for n, v in value.items()} == shapes


def _are_arrays(value: Any, kinds: dict[str, str]) -> bool:
    """Whether it is a dictionary of arrays of these names and kinds."""
    found = {name: getattr(one, "dtype", np.dtype("O")).kind for name, one in dict(value).items()}
    return found == kinds and all(np.ndim(one) for one in value.values())


# What fitted attributes of one name are in every model that has them: (rule, whether it holds).
_FITTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "classes_": ("an array of labels", _is_labels),
    "row_lengths_": ("two numbers", _is_range),
    "known_classes_": ("arrays called mean, means, shares, within, rows and exponent, of one width", _is_known_classes),
    "held_out_": ("vectors of one length, called losses, sure, near, classes and weights", _is_held_out),
    **dict.fromkeys(("n_features_in_", "n_features_out_", "n_epochs_", "n_iter_", "rank_"), ("a count", _is_count)),
    **dict.fromkeys(
        ("step_", "beta_", "gap_", "objective_", "passes_"),
        ("a number or None", lambda value: value is None or _is_number(value)),
    ),
    "status_": ("text", lambda value: isinstance(value, str)),
    "label_form_": (f"one of {', '.join(FORMS)}", lambda value: value in FORMS),
    "trained_": ("the names of an objective and a loss", _is_trained),
    "history_": ("a list of records", _is_history),
}


# Of each class a number, where a model has them.
_OF_CLASSES = (
    "steps_",
    "class_counts_",
    "class_weights_",
    "imprinted_",
    "prior_",
    "trained_intercept_",
    "thresholds_",
    "slopes_",
    "offsets_",
)


def _shapes(model: Any, fitted: dict[str, Any]) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """(name, shape, the shape that it must have): a linear classifier's, unless the model has its own."""
    own = model.fitted_shapes(fitted) if hasattr(model, "fitted_shapes") else None
    # A head has labels as bytes, and an encoder no classes.
    of_classes = fitted["classes_"] if own is None else fitted.get("classes_", fitted.get("intercept_"))
    k = 0 if of_classes is None else len(of_classes)
    numbers = [(name, np.shape(fitted[name]), (k,)) for name in _OF_CLASSES if name in fitted and k]
    if own is not None:
        return [(name, np.shape(fitted[name]), shape) for name, shape in own.items()] + numbers
    d = fitted["n_features_in_"]
    rows = [np.shape(fitted[name]) for name in ("negatives_",) if name in fitted]
    negatives = [("negatives_", shape, (*shape[:1], d)) for shape in rows]
    both = ("coef_", model._shape(), (k, d)), ("intercept_", np.shape(model.intercept_), (k,))
    return [*both, *numbers, *negatives]


def _is_fitted_name(name: str) -> bool:
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")


def _parameters(model: Any) -> dict[str, Any]:
    """The parameters that belong to the model, as plain values."""
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in _RUN_PARAMETERS}
    if isinstance(parameters.get("random_state"), np.random.RandomState | np.random.Generator):
        del parameters["random_state"]
    return model.plain_parameters(parameters) if hasattr(model, "plain_parameters") else parameters


def rollback_on_error(method: F) -> F:
    """Put back all attributes of the estimator when the method raises anything, Ctrl-C included.

    The method must replace what it learns and not write into it, but it may append to lists.
    """

    @wraps(method)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        lengths = [(values, len(values)) for values in before.values() if isinstance(values, list)]
        try:
            return method(estimator, *args, **kwargs)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            for values, length in lengths:
                del values[length:]
            raise

    return cast(F, guarded)
