"""Pictures as networks want them: a size, a range, an order of the axes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass import _checks
from manyclass.features.images import Pixels

# Of the training images of ImageNet, between 0 and 1; what most networks were trained with.
_DEFAULTS = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225), "crop": 0.875}


@dataclass(frozen=True)
class InputSettings:
    """(pixel / 255 - mean) / std of the central part of a picture, `crop` of what fits, at size (h, w) or as it is.

    Without a crop the whole picture is stretched to the size.
    """

    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    crop: float | None
    size: tuple[int, int] | None

    @classmethod
    def chosen(cls, model: Path, given: dict[str, Any], declared: tuple[int, int] | None) -> Self:
        """What is given, else what model.json beside model.onnx says, else what is usual; the size that the network
        declares goes before all."""
        beside = _beside(model)
        chosen = _DEFAULTS | beside | {key: value for key, value in given.items() if value is not None}
        mean, std = (_three(chosen[key], key) for key in ("mean", "std"))
        crop = None if chosen["crop"] == "stretch" else _checks.positive(chosen["crop"], "crop")
        if min(std) <= 0 or (crop or 0) > 1:
            raise ValueError(f"std must be above 0, and crop at most 1; got {std} and {crop}")
        return cls(mean, std, crop, declared or _size(chosen.get("size")))

    def prepared(self, image: Pixels) -> NDArray[np.float32]:
        """The picture as (h, w, 3) numbers."""
        pixels = self._framed(image).astype(np.float32)
        pixels /= 255
        pixels -= np.array(self.mean, np.float32)
        pixels /= np.array(self.std, np.float32)
        return pixels

    def _framed(self, image: Pixels) -> Pixels:
        if self.size is None:
            return image
        h, w = self.size
        box = None if self.crop is None else _central(image.shape[1], image.shape[0], w, h, self.crop)
        return np.asarray(Image.fromarray(image).resize((w, h), Image.Resampling.BICUBIC, box=box))


def _central(width: int, height: int, w: int, h: int, crop: float) -> tuple[float, float, float, float]:
    """The box of proportions w : h in the middle of a picture, `crop` of the largest."""
    scale = crop * min(width / w, height / h)
    left, top = max(0.0, (width - scale * w) / 2), max(0.0, (height - scale * h) / 2)
    return left, top, width - left, height - top


def _beside(model: Path) -> dict[str, Any]:
    path = model.with_suffix(".json")
    if not path.exists():
        return {}
    try:
        said = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} must hold JSON; {error}") from None
    known = {"mean", "std", "size", "crop"}
    if not isinstance(said, dict) or not set(said) <= known:
        raise ValueError(f"{path} must hold an object with some of {', '.join(sorted(known))}; got {str(said)[:80]}")
    return said


def _three(values: Any, name: str) -> tuple[float, float, float]:
    numbers = np.asarray(values if np.ndim(values) else [values] * 3)
    if numbers.shape != (3,) or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be three finite numbers, one per color; got {values!r}")
    red, green, blue = (float(number) for number in numbers)
    return red, green, blue


def _size(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    height, width = value if isinstance(value, list | tuple) and len(value) == 2 else (value, value)
    return _checks.count(height, "size"), _checks.count(width, "size")
