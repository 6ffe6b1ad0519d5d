"""What tells one run over pictures from another, so that it can be gone on with."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyclass.data.quantizer import Quantizer
from manyclass.data.store.quantizer_files import fingerprint
from manyclass.data.store.raw import raw_bytes
from manyclass.features.encoding import Encoding
from manyclass.features.quantizer_sample import is_fitted

_PLAIN = (int, float, str, type(None))


def run_identity(
    encoding: Encoding, names: Sequence[str] | None, quantizer: Quantizer | None, sample: int | None, seed: int
) -> dict[str, Any]:
    """The pictures by their names and sizes, the encoder by all that it learned, and every setting."""
    return {
        "images": images_digest(encoding.images, names),
        "encoder": encoder_digest(encoding.encoder),
        "columns": int(encoding.encoder.n_features_out_),
        "max_pixels": encoding.max_pixels,
        "limit": encoding.limit,
        "quantizer": _quantizer(quantizer),
        "sample": sample,
        "seed": seed,
    }


def images_digest(images: Sequence[Any], names: Sequence[str] | None = None) -> str:
    """A digest of pictures: of files their names and sizes, which is quick; of arrays what is in them."""
    state = hashlib.sha256()
    for position in range(len(images)):  # some sequences have no end of their own
        name = names[position] if names is not None else ""
        for part in (name.encode("utf-8", "surrogatepass"), *_content(images[position])):
            state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def encoder_digest(encoder: Any) -> str:
    """A digest of all that an encoder is: of the file that it saves; of one that saves nothing, its class and width."""
    if not hasattr(encoder, "save"):
        return f"{type(encoder).__name__} {encoder.n_features_out_}"
    with tempfile.TemporaryDirectory() as folder:
        encoder.save(Path(folder) / "encoder")
        return hashlib.sha256((Path(folder) / "encoder").read_bytes()).hexdigest()


def _content(image: Any) -> Iterable[bytes]:
    if isinstance(image, str | bytes | os.PathLike):
        try:
            return [str(os.stat(image).st_size).encode()]
        except (OSError, ValueError):
            return [b"none"]
    array = np.ascontiguousarray(image)
    return [repr((array.shape, array.dtype.str)).encode(), bytes(raw_bytes(array))]


def _quantizer(quantizer: Quantizer | None) -> Any:
    if quantizer is None:
        return None
    if is_fitted(quantizer):
        return fingerprint(quantizer)
    settings = {key: value for key, value in vars(quantizer).items() if isinstance(value, _PLAIN)}
    return {"kind": quantizer.kind, **settings}
