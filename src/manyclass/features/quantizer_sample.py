"""A quantizer that learns from some of the pictures, before the rows of all are written as its codes."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass.data.quantizer import Quantizer
from manyclass.features.encoding import Encoding, Outcome, coded

_MOST_ROWS = 16384
_MOST_BYTES = 1 << 30  # of rows in memory at once

Known = dict[int, list[Outcome]]  # by the position of the first picture of a chunk


def learned(
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
    return fitted, dict(zip(sampled, coded(list(sampled.values()), fitted), strict=True))


def sample_size(d: int, sample: int | None) -> int:
    """Rows to learn from: as asked, or 16384, or fewer if they are long.

    >>> sample_size(4096, None), sample_size(131072, None), sample_size(131072, 500)
    (16384, 2048, 500)
    """
    return max(1, min(_MOST_ROWS, _MOST_BYTES // (4 * d))) if sample is None else _checks.count(sample, "sample")


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
