"""An ONNX file as a graph: which tensor to take out of it, and which of its axes are channels."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyclass._core.reading import get_limits, open_file, read_file
from manyclass.features.onnx import efficientnet

# Of these ONNX itself says that the channels come before height and width.
_CHANNELS_FIRST = {
    "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "BatchNormalization", "InstanceNormalization", "LRN",
    "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "SpaceToDepth", "DepthToSpace",
}  # fmt: skip

_LAYOUTS = ([0, 2, 3, 1], [0, 3, 1, 2])

_MIXES_POSITIONS = {"Reshape", "Flatten", "Gather", "Shape"}


class Graph:
    """The nodes of a model, by the tensors that they make."""

    def __init__(self, path: Path):
        onnx = _onnx()
        self._proto = _load(path)
        _attach_weights(self._proto, path)
        with _explain_errors(path):
            self._shapes = _known_shapes(onnx.shape_inference.infer_shapes(self._proto))
        if not self._proto.graph.output:
            raise ValueError(f"{path} must have an output; it has none")
        self.path = path
        self.nodes = list(self._proto.graph.node)
        self.metadata = {entry.key: entry.value for entry in self._proto.metadata_props}
        self._maker = {name: node for node in self.nodes for name in node.output}
        self._maps = self._find_maps()

    def tensor(self, layer: str | None, spatial: bool) -> str:
        """The name of a layer's tensor: of a node or tensor of that name; of the last that is a map of activations, if
        that is wanted and there is one; or of the output."""
        if layer is None:
            return (self._last_map() if spatial else None) or str(self._proto.graph.output[0].name)
        if layer in self._maker:
            return layer
        for node in self.nodes:
            if node.name == layer and node.output:
                return str(node.output[0])
        last = ", ".join(list(self._maker)[-8:])
        raise ValueError(
            f"layer must be the name of a node or a tensor of {self.path}; got {layer!r}; the last are {last}"
        )

    def channels_last(self, name: str, input_last: bool) -> bool:
        """Whether the last axis of a tensor of four is that of the channels."""
        while name in self._maker:
            node = self._maker[name]
            if node.op_type in _CHANNELS_FIRST:
                return False
            if node.op_type == "Transpose":
                order = _permutation(node)
                if order in _LAYOUTS:
                    return order == _LAYOUTS[0]
            inputs = sorted((given for given in node.input if given in self._maker), key=lambda x: x not in self._maps)
            name = next(iter(inputs), node.input[0] if node.input else "")
        return input_last

    def bytes_with_output(self, name: str) -> bytes:
        """The model, with this tensor as its only output."""
        onnx = _onnx()
        proto = onnx.ModelProto()
        with _explain_errors(self.path):
            proto.CopyFrom(self._proto)
            del proto.graph.output[:]
            proto.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
            data: bytes = proto.SerializeToString()
        return data

    def _last_map(self) -> str | None:
        wide = [name for node in self.nodes for name in node.output if self._is_wide(name)]
        if wide and wide[-1] not in self._maps:
            raise ValueError(
                f"layer must be given for {self.path}: its last tensor with four axes, {wide[-1]}, is not a map of "
                "activations (perhaps of attention); or pass pooling=None for the output of the network"
            )
        return wide[-1] if wide else None

    def _is_wide(self, name: str) -> bool:
        shape = self._shapes.get(name, ())
        return len(shape) == 4 and shape[2:] != (1, 1) and shape[1:3] != (1, 1)

    def _find_maps(self) -> set[str]:
        """The tensors whose positions are those of the image: nodes come in the order in which they are run."""
        maps = {given.name for given in self._proto.graph.input}
        for node in self.nodes:
            mixes = node.op_type in _MIXES_POSITIONS or (
                node.op_type == "Transpose" and _permutation(node) not in _LAYOUTS
            )
            if node.op_type in _CHANNELS_FIRST or (not mixes and not maps.isdisjoint(node.input)):
                maps.update(node.output)
        return maps


def data_files(path: Path) -> list[Path]:
    """The files beside a model in which it keeps its weights; most models have them within."""
    return sorted({_data_file(path, tensor) for tensor in _outside(_load(path))})


def _load(path: Path) -> Any:
    """The model without weights that are in other files."""
    data = efficientnet.efficientnet_onnx() if str(path) == efficientnet.NAME else read_file(path, "network")
    with _explain_errors(path):
        return _onnx().load_model_from_string(data)


def _outside(message: Any) -> Iterator[Any]:
    """The tensors anywhere in a model whose numbers are in other files."""
    if message.DESCRIPTOR.name == "TensorProto":
        if message.data_location == message.EXTERNAL:
            yield message
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _outside(part)


def _data_file(path: Path, tensor: Any) -> Path:
    """The file of a tensor's numbers, which must lie in or below the folder of the model: it says itself where."""
    name = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    folder = os.path.realpath(path.parent)
    inside = (
        name and isinstance(name, str) and not os.path.isabs(name) and "\0" not in name and ".." not in Path(name).parts
    )
    if not inside or not os.path.realpath(path.parent / name).startswith(os.path.join(folder, "")):
        raise ValueError(f"{path} must have its weights in its own folder; it asks for {name[:200]!r}; copy them there")
    return path.parent / name


def _attach_weights(proto: Any, path: Path) -> None:
    """Read the numbers that are in other files into the model."""
    room = get_limits()["network"]
    for tensor in _outside(proto):
        start, length = (_external_number(tensor, key, path) for key in ("offset", "length"))
        with open_file(name := _data_file(path, tensor), "model") as file:
            size = os.fstat(file.fileno()).st_size
            length = size - (start or 0) if length is None else length
            room -= length
            if not 0 <= length <= size - (start or 0) or room < 0:
                raise ValueError(
                    f"{path} must have weights within the {size} bytes of {name}, and at most 2 GB of them"
                )
            file.seek(start or 0)
            tensor.raw_data = file.read(length)
        del tensor.external_data[:]
        tensor.data_location = tensor.DEFAULT


def _external_number(tensor: Any, key: str, path: Path) -> int | None:
    said = next((entry.value for entry in tensor.external_data if entry.key == key), None)
    if said is not None and not re.fullmatch("[0-9]{1,18}", str(said)):
        raise ValueError(f"{path} must say where its weights are by numbers; got {key} {said[:40]!r}")
    return None if said is None else int(said)


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ImportError):
        raise
    except Exception as error:  # of protobuf, whose exceptions are those of no module that one may import
        raise ValueError(f"{path} must be an ONNX file; it cannot be read: {str(error).splitlines()[0]}") from None


def _permutation(node: Any) -> list[int]:
    return next((list(a.ints) for a in node.attribute if a.name == "perm"), [])


def _known_shapes(proto: Any) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor that is known to have one; 0 for what is open."""
    known = [*proto.graph.value_info, *proto.graph.output]
    return {info.name: tuple(int(dim.dim_value) for dim in info.type.tensor_type.shape.dim) for info in known}


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError('networks need the packages onnx and onnxruntime; pip install "manyclass[onnx]"') from None
    return onnx
