"""OnnxFeatures: activations of a network, pooled to one vector per picture."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from manyclass import _checks, _models
from manyclass.features.encoding import encoded
from manyclass.features.images import Pixels
from manyclass.features.network import Network
from manyclass.features.network_input import InputSettings
from manyclass.features.onnx_graph import data_files
from manyclass.features.pooling import POOLINGS, pooled


class OnnxFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A layer of the network in an ONNX file, for every picture.

    `layer` is the name of a node or tensor; None is the last map of activations, or the output if there is no pooling.
    `pooling` makes a unit vector of a map: "spoc" (the sum, with weight on the center), "mean", "max" or "gem" (the
    generalized mean, power 3); a layer that has no map is scaled to unit length. None keeps the activations as they
    are, in one row. `mean` and `std` are three numbers between 0 and 1, `size` is (h, w) or one number, and `crop` the
    share of a picture that is seen, or "stretch" for all of it whatever its proportions; where they are None,
    model.json beside model.onnx says them, and otherwise they are those of ImageNet, the size of the network or of the
    picture, and 0.875. Pictures go through the network `batch_size` at a time. There is nothing to learn: `fit` opens
    the file.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        layer: str | None = None,
        pooling: str | None = "spoc",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        size: int | tuple[int, int] | None = None,
        crop: float | str | None = None,
        batch_size: int = 1,
        max_pixels: int = 100_000,
    ):
        self.model = model
        self.layer = layer
        self.pooling = pooling
        self.mean = mean
        self.std = std
        self.size = size
        self.crop = crop
        self.batch_size = batch_size
        self.max_pixels = max_pixels

    def fit(self, images: Any = None, y: Any = None) -> Self:
        """Open the network, and see how long its vectors are."""
        self.__dict__.pop("sha256_", None)
        self._open()
        return self

    @property
    def n_features_out_(self) -> int:
        """Numbers per picture."""
        self._opened()
        return int(self._width)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def encode(self, image: Pixels) -> NDArray[np.float32]:
        """The vector of one picture (h, w, 3)."""
        row: NDArray[np.float32] = self.encode_many([image])[0]
        return row

    def encode_many(self, images: Sequence[Pixels]) -> NDArray[np.float32]:
        """The vectors (m, n_features_out_) of pictures."""
        network, settings = self._opened()
        prepared = [settings.prepared(image) for image in images]
        if len({picture.shape for picture in prepared}) > 1:  # which cannot be one batch
            return np.concatenate([self._vectors(network, picture[None]) for picture in prepared])
        return self._vectors(network, np.stack(prepared))

    def transform(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """The vectors (n, n_features_out_) of pictures, which are paths or arrays."""
        return encoded(images, self, self.max_pixels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings and the digest of the network to a file, from which `manyclass.load` makes this again."""
        self._opened()
        _models.save(self, path)

    def plain_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters as a file keeps them, with a path that holds in any folder."""
        return parameters | {"model": str(Path(self.model).expanduser().absolute())}

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """What a saved encoder must have: the digest of its network."""
        return {"sha256_": ()}

    def _vectors(self, network: Network, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        found = network.activations(batch)
        if self.pooling is None:
            return found.reshape(len(batch), -1)
        maps = found if found.ndim == 4 else found.reshape(len(batch), -1, 1, 1)
        return pooled(maps, self.pooling if found.ndim == 4 else "mean")

    def _opened(self) -> tuple[Network, InputSettings]:
        return self.__dict__.get("_network") or self._open()

    def _open(self) -> tuple[Network, InputSettings]:
        if self.pooling is not None:
            _checks.one_of(self.pooling, "pooling", POOLINGS)
        _checks.count(self.batch_size, "batch_size")
        path = Path(self.model).expanduser()
        self._check_digest(path)
        network = Network(path, self.layer, spatial=self.pooling is not None)
        given = {"mean": self.mean, "std": self.std, "size": self.size, "crop": self.crop}
        settings = InputSettings.chosen(path, given, network.size)
        blank = settings.prepared(np.zeros((224, 224, 3), np.uint8))
        self._width = self._vectors(network, blank[None]).shape[1]
        self._network = network, settings
        return self._network

    def _check_digest(self, path: Path) -> None:
        sha256 = _digest([path, *data_files(path), path.with_suffix(".json")])
        if getattr(self, "sha256_", sha256) != sha256:
            raise ValueError(
                f"{path} must be the network that this encoder was saved with; it, or a file beside it, is another"
            )
        self.sha256_ = sha256

    def __getstate__(self) -> dict[str, Any]:
        # A session of onnxruntime can neither be copied nor sent to another process.
        return {key: value for key, value in super().__getstate__().items() if key != "_network"}

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _digest(files: Sequence[Path]) -> str:
    state = hashlib.sha256()
    for path in files:
        if path.exists() or path == files[0]:
            state.update(path.read_bytes())
    return state.hexdigest()
