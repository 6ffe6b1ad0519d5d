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
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 2])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    if beside is not None:
        path.with_suffix(".json").write_text(json.dumps(beside))
    return path


def maps(pixels):
    """(C, h, w) of the network for prepared pixels (h, w, 3), in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(pixels.astype(np.float64), (3, 3), axis=(0, 1))[::2, ::2]
    return np.maximum(np.einsum("hwcij,kcij->khw", windows, KERNEL.astype(np.float64)), 0)
