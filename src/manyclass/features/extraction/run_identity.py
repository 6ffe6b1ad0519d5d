"""What tells one run of write_features from another: the images, the encoder, and every setting."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.digest import file_digest, sha256_digest
from manyclass._core.errors import is_of_machine, unreadable_error
from manyclass._core.models import is_savable, model_pieces
from manyclass._core.sealed import raw_bytes
from manyclass.data.archives.packed_file import PackedFile
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.store import quantizer_fingerprint
from manyclass.features.extraction.encoding import Encoding, is_fitted

_PLAIN = (int, float, str, type(None))  # settings of a quantizer that JSON holds as they are


def run_identity(
    encoding: Encoding, names: Sequence[str] | None, quantizer: Quantizer | None, sample: int | None, seed: int
) -> dict[str, Any]:
    """The images by their names and sizes, the encoder by all that it learned, and every setting.

    Unfinished runs on disk hold it, so neither its keys nor their values may change.
    """
    return {
        "images": images_digest(encoding.images, names),
        "quantizer": _describe_quantizer(quantizer),
        "encoder": encoder_digest(encoding.encoder),
        "columns": int(encoding.encoder.n_features_out_),
        "max_pixels": encoding.max_pixels,
        "limit": encoding.max_source_pixels,
        "sample": sample,
        "seed": seed,
    }


def images_digest(images: Sequence[Any], names: Sequence[str] | None = None) -> str:
    """Digest images: of files their names and sizes, which is quick; of arrays what is in them.

    Parameters
    ----------
    images : sequence of path-like or ndarray
        The images.
    names : sequence of str, default=None
        Their names.

    Returns
    -------
    str
        SHA-256 in hexadecimal digits.
    """
    state = hashlib.sha256()
    for position in range(len(images)):  # some sequences have no end of their own
        name = names[position] if names is not None else ""
        for content in (name.encode("utf-8", "surrogatepass"), *_content(images[position])):
            state.update(len(content).to_bytes(8, "little"))
            state.update(content)
    return state.hexdigest()


def encoder_digest(encoder: Any) -> str:
    """A digest of all that an encoder is: of the file that it saves; of one that saves nothing, its class and width."""
    if is_savable(encoder):
        return sha256_digest(model_pieces(encoder))
    if not hasattr(encoder, "save"):
        return f"{type(encoder).__name__} {encoder.n_features_out_}"
    with tempfile.TemporaryDirectory() as folder:  # of other people's encoders nothing is known but that they save
        encoder.save(Path(folder) / "encoder")
        return file_digest(Path(folder) / "encoder")


def _content(image: Any) -> Iterable[bytes]:
    if isinstance(image, PackedFile):
        return [image.identity().encode()]
    if isinstance(image, str | bytes | os.PathLike):
        try:
            return [str(os.stat(image).st_size).encode()]
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and is_of_machine(error):  # or it would be taken for another image later
                raise unreadable_error(image, error) from error
            return [b"none"]
    array = np.ascontiguousarray(image)
    return [repr((array.shape, array.dtype.str)).encode(), bytes(raw_bytes(array))]


def _describe_quantizer(quantizer: Quantizer | None) -> Any:
    if quantizer is None:
        return None
    if is_fitted(quantizer):
        return quantizer_fingerprint(quantizer)
    settings = {key: value for key, value in vars(quantizer).items() if isinstance(value, _PLAIN)}
    return {"kind": quantizer.kind, **settings}
