"""What tells one run over pictures from another, so that it can be gone on with.

A quantizer that learns from some of the pictures, before the rows of all are written as its codes.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.checks import check_count
from manyclass._core.digest import file_digest, sha256_digest
from manyclass._core.sealed import raw_bytes
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.store import quantizer_fingerprint
from manyclass.features.extraction.encoding import EncodedImage, Encoding, encode_rows

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

    def pieces() -> Iterator[bytes]:
        for position in range(len(images)):  # some sequences have no end of their own
            name = names[position] if names is not None else ""
            for piece in (name.encode("utf-8", "surrogatepass"), *_content(images[position])):
                yield len(piece).to_bytes(8, "little") + piece

    return sha256_digest(pieces())


def encoder_digest(encoder: Any) -> str:
    """A digest of all that an encoder is: of the file that it saves; of one that saves nothing, its class and width."""
    if not hasattr(encoder, "save"):
        return f"{type(encoder).__name__} {encoder.n_features_out_}"
    with tempfile.TemporaryDirectory() as folder:
        encoder.save(Path(folder) / "encoder")
        return file_digest(Path(folder) / "encoder")


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
        return quantizer_fingerprint(quantizer)
    settings = {key: value for key, value in vars(quantizer).items() if isinstance(value, _PLAIN)}
    return {"kind": quantizer.kind, **settings}


_MOST_ROWS = 16384

_MOST_BYTES = 1 << 30  # of rows in memory at once

Known = dict[int, list[EncodedImage]]  # by the position of the first picture of a chunk


def fit_quantizer_on_sample(
    quantizer: Quantizer | None,
    kept: Quantizer | None,
    encoding: Encoding,
    sample: int | None,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Quantizer | None, Known]:
    """The quantizer to write with, and the codes of the pictures that it learned from.

    That is the one of an interrupted attempt (`kept`), or the given one, which is fitted first if it is not.
    """
    if quantizer is None or kept is not None or is_fitted(quantizer):
        return (kept if quantizer is not None and kept is not None else quantizer), {}
    sampled = _sampled(encoding, sample_size(encoding.encoder.n_features_out_, sample), seed, progress)
    rows = [outcome.row for outcomes in sampled.values() for outcome in outcomes if outcome.row is not None]
    if not rows:
        first = next(iter(sampled.values()))[0]
        raise ValueError(f"a quantizer must have rows to learn from; no image has one: the first {first.reason}")
    fitted = copy(quantizer).fit(np.stack(rows))
    return fitted, dict(zip(sampled, encode_rows(list(sampled.values()), fitted), strict=True))


def sample_size(d: int, sample: int | None) -> int:
    """Rows to learn from: as asked, or 16384, or fewer if they are long.

    >>> sample_size(4096, None), sample_size(131072, None), sample_size(131072, 500)
    (16384, 2048, 500)
    """
    return max(1, min(_MOST_ROWS, _MOST_BYTES // (4 * d))) if sample is None else check_count(sample, "sample")


def is_fitted(quantizer: Any) -> bool:
    """Whether a quantizer has learned already."""
    try:
        return bool(quantizer.n_features)
    except ValueError:
        return False


def _sampled(encoding: Encoding, n_rows: int, seed: int, progress: Callable[[int, int], None] | None = None) -> Known:
    """Pictures drawn at random, until they have so many rows or there are no more."""
    chunks = encoding.chunks()
    order = np.random.default_rng(seed).permutation(len(chunks)).tolist()
    found: Known = {}
    count = seen = 0
    for outcomes in encoding.outcomes([chunks[i] for i in order]):
        found[outcomes[0].position] = outcomes
        count += sum(outcome.row is not None for outcome in outcomes)
        seen += len(outcomes)
        if progress:
            progress(seen, len(encoding.images))
        if count >= n_rows:
            break
    return found
