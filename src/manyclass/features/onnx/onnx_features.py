"""OnnxFeatures: activations of a network, pooled to one vector per image."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from manyclass._core import models
from manyclass._core.checks import check_count, check_one_of
from manyclass._core.digest import sha256_digest
from manyclass._core.files import expand_home
from manyclass._core.reading import read_pieces
from manyclass.features.extraction.encoding import encode_images
from manyclass.features.images.pixels import Pixels
from manyclass.features.onnx import efficientnet
from manyclass.features.onnx.graph import data_files
from manyclass.features.onnx.network import InputSettings, Network
from manyclass.features.onnx.pooling import POOLINGS, pool


class OnnxFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Activations of a layer of the network in an ONNX file, pooled to one vector per image.

    There is nothing to learn: `fit` opens the file. Where `mean`, `std`, `size` or `crop` is None, and there is no
    `preset`, model.json beside model.onnx defines it, or the metadata of the network (its range of pixels); otherwise
    it is that of ImageNet, the size of the network or of the image, and 0.875.

    Parameters
    ----------
    model : path-like, default="efficientnet-lite0"
        ONNX file; or "efficientnet-lite0", whose weights come with the extra `network`.
    layer : str, default=None
        Name of a node or tensor; None for the last map of activations, or the output if there is no pooling.
    pooling : {"spoc", "mean", "max", "gem"}, default="spoc"
        Pooling of a map to a vector of unit length: "spoc" is the sum with more weight on the center, "gem" the
        generalized mean of power 3. A layer without a map is scaled to unit length. None keeps the activations,
        flattened.
    mean : sequence of 3 floats, default=None
        Mean of red, green and blue, between 0 and 1.
    std : sequence of 3 floats, default=None
        Standard deviation of red, green and blue.
    size : int or tuple of int, default=None
        Input size, (height, width) or one number.
    crop : float or "stretch", default=None
        Central fraction of the image that is seen; "stretch" is all of it, whatever its proportions.
    preset : {"imagenet", "clip", "inception", "unit", "bytes"}, default=None
        Values of `mean`, `std` and `crop` where they are None: those of ImageNet, of CLIP, or for pixels from -1 to 1,
        from 0 to 1, from 0 to 255.
    batch_size : int, default=1
        Number of images that go through the network together.
    max_pixels : int, default=100_000
        Number of pixels to which larger images are shrunk when they are read.

    Attributes
    ----------
    sha256_ : str
        Digest of the network and the files beside it.
    """

    libraries = ("onnxruntime",)  # whose version its numbers depend on

    def __init__(
        self,
        model: str | os.PathLike[str] = efficientnet.NAME,
        layer: str | None = None,
        pooling: str | None = "spoc",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        size: int | tuple[int, int] | None = None,
        crop: float | str | None = None,
        preset: str | None = None,
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
        self.preset = preset
        self.batch_size = batch_size
        self.max_pixels = max_pixels

    def fit(self, images: Any = None, y: Any = None) -> Self:
        """Open the network and find the length of its vectors.

        Parameters
        ----------
        images : None
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        OnnxFeatures
            The encoder itself.
        """
        self.__dict__.pop("sha256_", None)
        self._open()
        return self

    @property
    def n_features_out_(self) -> int:
        """Number of features of a vector."""
        self._ensure_open()
        return int(self._width)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    @property
    def input_(self) -> str:
        """What is done to an image before the network sees it, in words."""
        return self._ensure_open()[1].describe()

    def encode(self, image: Pixels) -> NDArray[np.float32]:
        """Compute the vector of one image.

        Parameters
        ----------
        image : ndarray of shape (height, width, 3), uint8
            Pixels.

        Returns
        -------
        ndarray of shape (n_features_out,), float32
            Vector.
        """
        row: NDArray[np.float32] = self.encode_many([image])[0]
        return row

    def encode_many(self, images: Sequence[Pixels]) -> NDArray[np.float32]:
        """Compute the vectors of several images.

        Parameters
        ----------
        images : sequence of ndarray of shape (height, width, 3), uint8
            Pixels of each.

        Returns
        -------
        ndarray of shape (n_images, n_features_out), float32
            Vectors.
        """
        network, settings = self._ensure_open()
        inputs = [settings.prepare(image) for image in images]
        if len({one.shape for one in inputs}) > 1:  # which cannot be one batch
            return np.concatenate([self._encode_batch(network, one[None]) for one in inputs])
        return self._encode_batch(network, np.stack(inputs))

    def transform(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """Read images and compute their vectors.

        Parameters
        ----------
        images : sequence of path or array
            Images, as `read_image` takes them.

        Returns
        -------
        ndarray of shape (n_images, n_features_out), float32
            Vectors.

        Raises
        ------
        ImageError
            If an image cannot be used.
        """
        return encode_images(images, self, self.max_pixels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings and the digest of the network to a file, which `manyclass.load` reads.

        The network itself stays where it is.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        models.save_model(self, path)

    def plain_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters as a file keeps them, with an absolute path.

        Parameters
        ----------
        parameters : dict
            Parameters of the encoder.

        Returns
        -------
        dict
            Parameters to write.
        """
        self._ensure_open()  # which finds the digest that is saved with them
        is_named = str(self.model) == efficientnet.NAME
        return parameters | {"model": str(self.model if is_named else expand_home(self.model).absolute())}

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the attributes of a saved encoder must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shape of the digest of the network.
        """
        return {"sha256_": ()}

    def _encode_batch(self, network: Network, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        activations = network.activations(batch)
        if self.pooling is None:
            return activations.reshape(len(batch), -1)
        if activations.ndim == 4:
            return pool(activations, self.pooling)
        return pool(activations.reshape(len(batch), -1, 1, 1), "mean")

    def _ensure_open(self) -> tuple[Network, InputSettings]:
        return self.__dict__.get("_network") or self._open()

    def _open(self) -> tuple[Network, InputSettings]:
        if self.pooling is not None:
            check_one_of(self.pooling, "pooling", POOLINGS)
        check_count(self.batch_size, "batch_size")
        path = expand_home(self.model)
        self._check_digest(path)
        network = Network(path, self.layer, spatial=self.pooling is not None)
        names = ("mean", "std", "size", "crop", "preset")
        given = {name: getattr(self, name) for name in names}
        settings = InputSettings.choose(path, given, network.size, network.metadata)
        blank = settings.prepare(np.zeros((224, 224, 3), np.uint8))
        self._width = self._encode_batch(network, blank[None]).shape[1]
        self._network = network, settings
        return self._network

    def _check_digest(self, path: Path) -> None:
        is_named = str(path) == efficientnet.NAME
        sha256 = efficientnet.SHA256 if is_named else _digest([path, *data_files(path), path.with_suffix(".json")])
        if getattr(self, "sha256_", sha256) != sha256:
            raise ValueError(
                f"{path} must be the network that this encoder was saved with; it or a file beside it has changed"
            )
        self.sha256_ = sha256

    def __getstate__(self) -> dict[str, Any]:
        # A session of onnxruntime can neither be copied nor sent to another process.
        return {key: value for key, value in super().__getstate__().items() if key != "_network"}

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _digest(files: Sequence[Path]) -> str:
    return sha256_digest(piece for path in files if path.exists() or path == files[0] for piece in read_pieces(path))
