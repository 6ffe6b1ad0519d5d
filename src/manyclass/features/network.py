"""Network: a layer of an ONNX file, run by onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.features.onnx_graph import Graph

Batch = NDArray[np.float32]


class Network:
    """From pictures (m, h, w, 3) to the activations of a layer: maps (m, C, h', w'), or vectors (m, D).

    Each run takes one thread, so that bits do not depend on their number; several runs may go on at once.
    """

    def __init__(self, path: Path, layer: str | None, spatial: bool):
        graph = Graph(path)
        self.tensor = graph.tensor(layer, spatial)
        self._session = _session(graph.bytes_with_output(self.tensor), path)
        given = self._session.get_inputs()[0]
        self._name, shape = given.name, [size if isinstance(size, int) else None for size in given.shape]
        if given.type != "tensor(float)" or len(shape) != 4 or 3 not in (shape[1], shape[3]):
            raise ValueError(
                f"the network must take float32 images (n, 3, h, w) or (n, h, w, 3); {path} takes {given.type} "
                f"of shape {given.shape}"
            )
        self._last = shape[1] != 3
        self._maps_last = graph.channels_last(self.tensor, self._last)
        self._batch = shape[0]
        height, width = shape[1:3] if self._last else shape[2:4]
        self.size = (height, width) if height is not None and width is not None else None

    def activations(self, pictures: Batch) -> Batch:
        """The activations of so many pictures of one size."""
        X = pictures if self._last else pictures.transpose(0, 3, 1, 2)
        if self._batch is None:
            found = self._run(X)
        else:  # the file says how many it takes at a time
            found = np.concatenate(
                [self._run(self._filled(X[i : i + self._batch])) for i in range(0, len(X), self._batch)]
            )
        found = found[: len(X)]
        return found.transpose(0, 3, 1, 2) if found.ndim == 4 and self._maps_last else found

    def _filled(self, X: Batch) -> Batch:
        return np.concatenate([X, np.zeros((int(self._batch or 0) - len(X), *X.shape[1:]), np.float32)])

    def _run(self, X: Batch) -> Batch:
        try:
            found = self._session.run([self.tensor], {self._name: np.ascontiguousarray(X)})[0]
        except Exception as error:  # onnxruntime has classes of its own
            raise ValueError(f"the network cannot run on shape {X.shape}: {str(error).splitlines()[0]}") from None
        return np.asarray(found, np.float32)


def _session(data: bytes, path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ImportError('networks need the packages onnx and onnxruntime; pip install "manyclass[onnx]"') from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what is wrong is raised, and need not be printed besides
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"{path} cannot be run by onnxruntime: {str(error).splitlines()[0]}") from None
