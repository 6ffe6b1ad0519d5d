"""Small networks as ONNX files, and what they compute by NumPy."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = 5
KERNEL = np.random.default_rng(0).standard_normal((CHANNELS, 3, 3, 3)).astype(np.float32)


def tiny(path, batch="n", size=("h", "w"), channels_last=False, beside=None):
    """conv (3 x 3, step 2) -> relu -> global mean -> flatten -> scores; NHWC outside if asked."""
    shape = [batch, *size, 3] if channels_last else [batch, 3, *size]
    nodes = [
        helper.make_node("Conv", ["x" if channels_last else "image", "kernel"], ["c"], "conv", strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["maps"], "relu"),
        helper.make_node("GlobalAveragePool", ["maps"], ["pooled"], "pool"),
        helper.make_node("Flatten", ["pooled"], ["vector"], "flatten"),
        helper.make_node("MatMul", ["vector", "weights"], ["scores"], "scores"),
    ]
    if channels_last:
        nodes.insert(0, helper.make_node("Transpose", ["image"], ["x"], "in", perm=[0, 3, 1, 2]))
        nodes.insert(3, helper.make_node("Transpose", ["maps"], ["last"], "out", perm=[0, 2, 3, 1]))
    constants = {"kernel": KERNEL, "weights": np.eye(CHANNELS, 2, dtype=np.float32)}
    saved_graph(path, nodes, constants, shape, ("scores", [batch, 2]))
    if beside is not None:
        path.with_suffix(".json").write_text(json.dumps(beside))
    return path


def maps(pixels):
    """(C, h, w) of the network for prepared pixels (h, w, 3), in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(pixels.astype(np.float64), (3, 3), axis=(0, 1))[::2, ::2]
    return np.maximum(np.einsum("hwcij,kcij->khw", windows, KERNEL.astype(np.float64)), 0)


def attention(path):
    """A convolution to patches, which are then compared with each other, as in a transformer; and a vector at last."""
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["patches"], "conv", strides=[8, 8]),
        helper.make_node("Reshape", ["patches", "rows"], ["flat"], "flat"),
        helper.make_node("Transpose", ["flat"], ["tokens"], "tokens", perm=[0, 2, 1]),
        helper.make_node("Reshape", ["tokens", "heads"], ["split"], "split"),
        helper.make_node("Transpose", ["split"], ["turned"], "turned", perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["split", "turned"], ["likeness"], "likeness"),
        helper.make_node("Softmax", ["likeness"], ["weights"], "weights", axis=-1),
        helper.make_node("ReduceMean", ["weights"], ["vector"], "vector", axes=[1, 2], keepdims=0),
    ]
    constants = {"kernel": KERNEL, "rows": np.array([1, CHANNELS, 16]), "heads": np.array([1, 2, 8, CHANNELS])}
    return saved_graph(path, nodes, constants, [1, 3, 32, 32], ("vector", [1, 8]))


def channels_last_block(path):
    """conv -> (n, h, w, c) -> a linear layer; beside it goes what a reshape has mixed."""
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["c"], "conv", strides=[2, 2]),
        helper.make_node("Transpose", ["c"], ["last"], "last", perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["c", "rows"], ["flat"], "flat"),
        helper.make_node("Reshape", ["flat", "places"], ["back"], "back"),
        helper.make_node("Add", ["back", "last"], ["sum"], "sum"),
        helper.make_node("MatMul", ["sum", "linear"], ["maps"], "maps"),
        helper.make_node("ReduceMean", ["maps"], ["vector"], "vector", axes=[1, 2], keepdims=0),
    ]
    rows, places = np.array([1, 225, CHANNELS]), np.array([1, 15, 15, CHANNELS])
    constants = {"kernel": KERNEL, "rows": rows, "places": places, "linear": np.eye(CHANNELS, 2, dtype=np.float32)}
    return saved_graph(path, nodes, constants, [1, 3, 32, 32], ("vector", [1, 2]))


def saved_graph(path, nodes, constants, shape, output):
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path
