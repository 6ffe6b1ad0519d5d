"""Linear classifiers as ONNX graphs: scores by one product, then labels, and probabilities where there are any."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_count
from manyclass._core.files import write_output

if TYPE_CHECKING:
    from manyclass.estimators.linear_model import LinearModel

Constants = dict[str, NDArray[Any]]

_OPSET, _IR = 17, 8  # of 2022: runtimes since then read them

_MOST = (1 << 31) - (1 << 20)  # a message of protobuf ends at 2 GB


def export_onnx(model: "LinearModel", path: str | os.PathLike[str], top: int = 5) -> None:
    """Write a fitted classifier as an ONNX file, whole or not at all; needs `pip install "manyclass[onnx]"`.

    Its input is `X` (n, d) float32. Its outputs are `label` (n,), as predict gives; `top_labels` (n, top), as
    predict_top gives; `scores` (n, k), also for two classes; and `probabilities` (n, k) for a classifier that has them.
    Labels are int64, strings, bools or float64. Sums are made in another order: scores agree but for rounding.
    """
    if hasattr(model, "fit"):  # a head is made of another model
        check_is_fitted(model)
    if hasattr(model, "label_form_"):
        raise ValueError("a classifier of several labels per row has no graph, which would give one; save it instead")
    if model.coef_.nbytes > _MOST:
        raise ValueError(f"an onnx file holds at most 2 GB; the weights take {model.coef_.nbytes / 1e9:.1f} GB")
    constants: Constants = {"coef": model.coef_, "intercept": model.intercept_, "classes": _labels(model.classes_)}
    constants["top"] = np.array([min(check_count(top, "top"), len(model.classes_))])
    nodes = [*_LABELS, *_probabilities(model, constants)]
    write_output(path, _proto(nodes, constants).SerializeToString())


# (operator, inputs, outputs, attributes)
Node = tuple[str, list[str], list[str], dict[str, int]]

# Of equal scores ArgMax and TopK take the first, as predict does.
_LABELS: list[Node] = [
    ("Gemm", ["X", "coef", "intercept"], ["scores"], {"transB": 1}),
    ("ArgMax", ["scores"], ["position"], {"axis": 1, "keepdims": 0}),
    ("Gather", ["classes", "position"], ["label"], {}),
    ("TopK", ["scores", "top"], ["top_scores", "top_positions"], {"axis": 1}),
    ("Gather", ["classes", "top_positions"], ["top_labels"], {}),
]

_SOFTMAX: Node = ("Softmax", ["natural"], ["probabilities"], {"axis": 1})

_TEMPERATURE: list[Node] = [("Div", ["scores", "temperature"], ["natural"], {})]

# The logarithm of 1 / (1 + exp(-score)).
_LOGISTIC: list[Node] = [
    ("Neg", ["scores"], ["against"], {}),
    ("Softplus", ["against"], ["surprise"], {}),
    ("Neg", ["surprise"], ["natural"], {}),
]


def _probabilities(model: Any, constants: Constants) -> list[Node]:
    """The nodes from scores to what predict_proba gives, none where it is missing; their constants are added."""
    if not hasattr(model, "predict_proba"):
        return []
    temperature = getattr(model, "temperature_", None)
    if temperature is None and model._link() == "logistic":
        return [*_LOGISTIC, _SOFTMAX]
    constants["temperature"] = np.array(temperature or 1.0, np.float32)
    return [*_TEMPERATURE, _SOFTMAX]


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of a type that ONNX has."""
    if classes.dtype.kind == "U" or all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    if classes.dtype.kind in "iu" and not (classes > np.iinfo(np.int64).max).any():
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes.astype(bool if classes.dtype.kind == "b" else np.float64)
    raise ValueError(f"classes must be text, int64, bools or floats for onnx; got dtype {classes.dtype}")


def _proto(nodes: list[Node], constants: Constants) -> Any:
    onnx = _onnx()
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    k, d = constants["coef"].shape
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    label = next(tensor.data_type for tensor in tensors if tensor.name == "classes")
    kinds = {
        "label": (label, ["n"]),
        "top_labels": (label, ["n", int(constants["top"][0])]),
        "scores": (number, ["n", k]),
        "probabilities": (number, ["n", k]),
    }
    made = {name for node in nodes for name in node[2]}
    outputs = [helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items() if name in made]
    inputs = [helper.make_tensor_value_info("X", number, ["n", d])]
    operators = [helper.make_node(kind, taken, given, **attributes) for kind, taken, given, attributes in nodes]
    graph = helper.make_graph(operators, "manyclass", inputs, outputs, tensors)
    opset = [helper.make_opsetid("", _OPSET)]
    proto = helper.make_model(graph, opset_imports=opset, ir_version=_IR, producer_name="manyclass")
    onnx.checker.check_model(proto)
    return proto


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError('onnx files need the package onnx; pip install "manyclass[onnx]"') from None
    return onnx
