"""Network: a layer of an ONNX file, run by onnxruntime; and images as networks want them, in size, range and axes."""

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass._core.checks import check_count, check_one_of, check_positive
from manyclass._core.reading import check_unpacked, read_json
from manyclass.features.images.pixels import Pixels
from manyclass.features.onnx import efficientnet
from manyclass.features.onnx.graph import Graph

Batch = NDArray[np.float32]


class Network:
    """From images (m, h, w, 3) to the activations of a layer: maps (m, C, h', w'), or vectors (m, D).

    Each run takes one thread, so that bits do not depend on their number; several runs may go on at once.
    """

    def __init__(self, path: Path, layer: str | None, spatial: bool):
        graph = Graph(path)
        self._path = path
        self.tensor = graph.tensor(layer, spatial)
        self.metadata = graph.metadata
        self._session = _session(graph.bytes_with_output(self.tensor), path)
        given = next(iter(self._session.get_inputs()), None)
        if given is None:
            raise ValueError(f"the network must take images; {path} takes nothing")
        self._name, shape = given.name, [size if isinstance(size, int) else None for size in given.shape]
        if given.type != "tensor(float)" or len(shape) != 4 or 3 not in (shape[1], shape[3]):
            raise ValueError(
                f"the network must take float32 images (n, 3, h, w) or (n, h, w, 3); {path} takes {given.type} "
                f"of shape {given.shape}"
            )
        self._channels_last = shape[1] != 3
        self._maps_last = graph.channels_last(self.tensor, self._channels_last)
        self._batch = shape[0]
        height, width = shape[1:3] if self._channels_last else shape[2:4]
        self.size = (height, width) if height is not None and width is not None else None
        self._check_sizes(path, [self._batch, height, width])

    def _check_sizes(self, path: Path, sizes: list[int | None]) -> None:
        """Refuse inputs that hold nothing, or more than there is memory for."""
        if any(size is not None and size < 1 for size in sizes):
            raise ValueError(f"the network must take images of at least one pixel; {path} takes (n, h, w) {sizes}")
        check_unpacked(12 * math.prod(size or 1 for size in sizes), 0, f"a batch of images for {path}")

    def activations(self, images: Batch) -> Batch:
        """The activations of so many images of one size."""
        X = images if self._channels_last else images.transpose(0, 3, 1, 2)
        if self._batch is None:
            found = self._run(X)
        else:  # the file says how many it takes at a time
            batches = [X[i : i + self._batch] for i in range(0, len(X), self._batch)]
            found = np.concatenate([self._run(self._pad(batch)) for batch in batches])
        found = found[: len(X)]
        return found.transpose(0, 3, 1, 2) if found.ndim == 4 and self._maps_last else found

    def _pad(self, X: Batch) -> Batch:
        return np.concatenate([X, np.zeros((int(self._batch or 0) - len(X), *X.shape[1:]), np.float32)])

    def _run(self, X: Batch) -> Batch:
        try:
            found = self._session.run([self.tensor], {self._name: np.ascontiguousarray(X)})[0]
        except Exception as error:  # onnxruntime has classes of its own
            raise ValueError(f"{self._path} cannot run on shape {X.shape}: {str(error).splitlines()[0]}") from None
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


# How networks were given images when they were trained. Most: with the mean and deviation of ImageNet.
PRESETS: dict[str, dict[str, Any]] = {
    "imagenet": {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225), "crop": 0.875},
    "clip": {
        "mean": (0.48145466, 0.4578275, 0.40821073),
        "std": (0.26862954, 0.26130258, 0.27577711),
        "crop": 1.0,
    },
    "inception": {"mean": 0.5, "std": 0.5, "crop": 0.875},  # from -1 to 1; SigLIP and many of TensorFlow
    "unit": {"mean": 0.0, "std": 1.0, "crop": 0.875},  # from 0 to 1
    "bytes": {"mean": 0.0, "std": 1 / 255, "crop": 0.875},  # from 0 to 255, of networks that scale them themselves
}

# What the standard of ONNX calls the range of pixels in the metadata of a model.
_RANGES = {"Normalized_0_1": "unit", "Normalized_1_1": "inception", "NominalRange_0_255": "bytes"}


@dataclass(frozen=True)
class InputSettings:
    """(pixel / 255 - mean) / std of the center of an image, `crop` of what fits, at size (h, w) or as it is.

    Without a crop the whole image is stretched to the size.
    """

    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    crop: float | None
    size: tuple[int, int] | None
    is_bgr: bool = False

    @classmethod
    def choose(
        cls, model: Path, given: dict[str, Any], declared: tuple[int, int] | None, metadata: dict[str, str]
    ) -> Self:
        """What is given, else what model.json beside model.onnx says, else what the network itself says, else what is
        usual; the size that the network declares goes before all, and where what is given is something else than it
        says there is a warning."""
        given = {key: value for key, value in given.items() if value is not None}
        preset = given.pop("preset", None)
        if preset is not None:
            check_one_of(preset, "preset", PRESETS)
        asked = PRESETS.get(preset, {}) | given
        known = _range_settings(metadata) | _read_settings(model)
        chosen = PRESETS["imagenet"] | known | asked
        mean, std = (_check_three(chosen[key], key) for key in ("mean", "std"))
        crop = None if chosen["crop"] == "stretch" else check_positive(chosen["crop"], "crop")
        if min(std) <= 0 or (crop or 0) > 1:
            raise ValueError(f"std must be above 0, and crop at most 1; got {std} and {crop}")
        for key in ("mean", "std"):
            if key in known and key in asked and not np.allclose(chosen[key], known[key], atol=0.02):
                warnings.warn(
                    f"{key} is {_words(chosen[key])}, and {model} says that its network was trained with "
                    f"{_words(known[key])}; leave it out to obey",
                    UserWarning,
                    stacklevel=2,
                )
        is_bgr = str(metadata.get("Image.BitmapPixelFormat", "")).startswith("Bgr")
        return cls(mean, std, crop, declared or _check_size(chosen.get("size")), is_bgr)

    def describe(self) -> str:
        """In a line."""
        seen = "whole, stretched" if self.crop is None else f"center, {self.crop:.4g} of it"
        at = "" if self.size is None else f", at {self.size[0]} x {self.size[1]}"
        how = f"mean {_words(self.mean)}, std {_words(self.std)}{', blue first' if self.is_bgr else ''}"
        return f"{'as it is' if self.size is None else seen}{at}; {how}"

    def prepare(self, image: Pixels) -> NDArray[np.float32]:
        """The image as (h, w, 3) numbers."""
        pixels = self._crop_and_resize(image).astype(np.float32)
        pixels /= 255
        pixels -= np.array(self.mean, np.float32)
        pixels /= np.array(self.std, np.float32)
        return pixels[..., ::-1] if self.is_bgr else pixels

    def _crop_and_resize(self, image: Pixels) -> Pixels:
        if self.size is None:
            return image
        h, w = self.size
        box = None if self.crop is None else _central_box(image.shape[1], image.shape[0], w, h, self.crop)
        return np.asarray(Image.fromarray(image).resize((w, h), Image.Resampling.BICUBIC, box=box))


def _central_box(width: int, height: int, w: int, h: int, crop: float) -> tuple[float, float, float, float]:
    """The box of proportions w : h in the middle of an image, `crop` of the largest."""
    scale = crop * min(width / w, height / h)
    left, top = max(0.0, (width - scale * w) / 2), max(0.0, (height - scale * h) / 2)
    return left, top, width - left, height - top


def _words(values: Any) -> str:
    """Three numbers, or one if they are the same."""
    numbers = np.unique(np.asarray(values))
    return f"{numbers[0]:.4g}" if len(numbers) == 1 else ", ".join(f"{value:.4g}" for value in values)


def _range_settings(metadata: dict[str, str]) -> dict[str, Any]:
    preset = _RANGES.get(metadata.get("Image.NominalPixelRange", ""))
    return {} if preset is None else {key: PRESETS[preset][key] for key in ("mean", "std")}


def _read_settings(model: Path) -> dict[str, Any]:
    if str(model) == efficientnet.NAME:
        return efficientnet.INPUT
    path = model.with_suffix(".json")
    if not path.exists():
        return {}
    said = read_json(path, "settings")
    known = {"mean", "std", "size", "crop"}
    if not isinstance(said, dict) or not set(said) <= known:
        raise ValueError(f"{path} must hold an object with some of {', '.join(sorted(known))}; got {str(said)[:80]}")
    return said


def _check_three(values: Any, name: str) -> tuple[float, float, float]:
    numbers = np.asarray(values if np.ndim(values) else [values] * 3)
    if numbers.shape != (3,) or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be three finite numbers, one per color; got {values!r}")
    red, green, blue = (float(number) for number in numbers)
    return red, green, blue


def _check_size(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    height, width = value if isinstance(value, list | tuple) and len(value) == 2 else (value, value)
    return check_count(height, "size"), check_count(width, "size")
