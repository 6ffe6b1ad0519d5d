"""PackedWeights: weights of classes by 4 to 16 bits each, and rough codes by which most of them are never read.

Three weights become 4 bits as in `solvers.shortlist`, and the rough scores of all classes that these give name the few
that may be among the best. Those are scored by whole numbers: a weight, without its mean over classes and in units of
its column, is n * units[c], of 4 or 8 bits. With 12 or 16 bits a second byte of each weight is read for what then may
still be among the best.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import check_finite
from manyclass._core.parallel import for_each, get_threads
from manyclass._core.typing import Arrays, Floats, Singles
from manyclass.data.matrix import Matrix, spans
from manyclass.solvers.shortlist import CLASSES, FEWEST, ClassUnits

BITS = 4, 8, 12, 16

# Standard deviations that a rough score may stray. More than those of a shortlist, which is tried on some rows first:
# of 1,340 rows of pooled activations, few of whose entries are large, softmax of 101 classes lost 5 at 3.25, 1 at 4.
MARGIN = 4.0

ByteMatrix = NDArray[np.uint8]

Put = Callable[[str, int, NDArray[Any]], None]  # (array, number of the first row, rows)

_GROUP = 128  # classes whose codes stand side by side

_BLOCK = 16 * _GROUP  # classes that a thread packs at a time: 6 MB of 768 columns, and a few times that

_SAMPLE = 1024  # classes of which mean and units are taken

_MOST = 1e8  # what is known of a class, beyond which rough scores say nothing

# Of weights of unit variance, units that four bits may have besides a seventh of the largest: in the middle is the best
# for normal numbers (0.335), and what is farther out is cut off.
_UNITS_OF_FOUR = 0.2, 0.25, 0.3, 0.335, 0.38, 0.44


@dataclass(frozen=True)
class PackedWeights:
    """Weights of k classes of d columns, as the compiled loop takes them; native/head.h has the formula."""

    codes: NDArray[np.uint8]  # (groups, blocks, 64): 4 bits for three weights
    weights: ByteMatrix  # (k, d), or (k, (d + 1) / 2) of four bits
    low: ByteMatrix  # (k, d) second bytes, or (0, d)
    mean: Singles  # (d,)
    center: Singles
    columns: Singles
    rough: Singles  # (k,)
    slopes: Singles
    spreads: Singles
    offsets: Singles
    units: Singles
    weight_spreads: Singles
    rounding: float
    bits: int

    def top(self, X: Singles, k: int) -> tuple[NDArray[np.int64], Singles, int]:
        """(the k best classes of each row, the best first, of equals the first; scores; pairs scored by weights)."""
        best, scores = np.empty((len(X), k), np.int64), np.empty((len(X), k), np.float32)
        # Of few classes all are scored by their weights: no row has so many entries.
        fewest = FEWEST if len(self.offsets) >= CLASSES else np.inf
        looks = _native.top_of_head(
            X=X, **vars(self), margin=MARGIN, fewest=fewest, threads=get_threads(), best=best, scores=scores
        )
        return best, scores, looks

    def scores(self, X: Singles, classes: slice) -> Singles:
        """Scores (n, m) of a range of classes."""
        S = np.empty((len(X), classes.stop - classes.start), np.float32)
        _native.scores_of_head(X=X, **vars(self), first=classes.start, threads=get_threads(), scores=S)
        return S

    def coef(self, classes: slice) -> Singles:
        """The weights (m, d) that these bits stand for."""
        d = len(self.mean)
        if _has_nibbles(self.bits):
            both = self.weights[classes]
            n = np.concatenate([both & 15, both >> 4], axis=1)[:, :d].astype(np.float32) - 8
        else:
            n = self.weights[classes].astype(np.float32) - 128
        n += self.low[classes].astype(np.float32) / 256 if len(self.low) else 0
        W: Singles = n * self.units[classes, None] * self.columns + self.mean
        return W


def packed_shapes(k: int, d: int, bits: int) -> dict[str, tuple[int, ...]]:
    """The shapes of what is made a block of classes at a time, all of it bytes."""
    width = (d + 1) // 2 if _has_nibbles(bits) else d
    codes = -(-k // _GROUP), 8 * -(-d // 24), _GROUP // 2
    return {"codes": codes, "weights": (k, width), "low": (k if bits > 8 else 0, d)}


def _has_nibbles(bits: int) -> bool:
    """Whether two weights share a byte."""
    return bits % 8 == 4


def pack_weights(coef: Matrix, intercept: Floats, center: Singles, bits: int, put: Put) -> Arrays:
    """Pack coef (k, d) and hand codes and weights to `put`, a block of classes at a time; the small arrays.

    `center` (d,) is the mean of the rows that will be scored, or a guess at it.
    """
    k = len(coef)
    sample = coef.rows(np.linspace(0, k - 1, min(k, _SAMPLE)).astype(np.intp)).astype(np.float32)
    check_finite(sample, "coef")
    units = ClassUnits.of(sample, center)
    known = {name: np.empty(k, np.float32) for name in ("rough", "slopes", "spreads")}
    known |= {name: np.empty(k, np.float32) for name in ("offsets", "units", "weight_spreads")}

    def pack(at: slice) -> None:
        W = np.ascontiguousarray(coef.rows(at), np.float32)
        check_finite(W, "coef", at.start)
        for name, values in _rough_codes(W, intercept[at], units, at, put).items():
            known[name][at] = values
        W = W - units.mean  # not in place: these are the rows of the user
        known["offsets"][at] = intercept[at] + W @ center.astype(np.float64)
        W /= units.columns
        known["units"][at], known["weight_spreads"][at] = _WEIGHTS[bits](W, at.start, put)

    for_each(pack, spans(k, _BLOCK))
    sound = known["rough"] < _MOST
    middle = [float(np.median(known[name][sound])) if sound.any() else 1.0 for name in ("slopes", "spreads")]
    rounding = np.array([middle[0] / max(middle[1], 1e-30)], np.float32)
    return {"mean": units.mean, "center": center, "columns": units.columns, "rounding": rounding} | known


def _rough_codes(W: Singles, intercept: Floats, units: ClassUnits, at: slice, put: Put) -> Arrays:
    """What rough scores need besides codes; classes that codes say nothing of are never ruled out."""
    (m, d), groups = W.shape, spans(len(W), _GROUP)
    codes = np.empty((len(groups), *packed_shapes(m, d, 8)["codes"][1:]), np.uint8)
    records, fine, biases = np.empty((m, 7), np.float32), np.empty((_GROUP, d), np.uint8), intercept.astype(np.float32)
    for g, of in enumerate(groups):
        unused = fine[: of.stop - of.start]
        _native.pack_classes(W[of], biases[of], **vars(units), codes=codes[g], fine=unused, records=records[of])
    put("codes", at.start // _GROUP, codes)
    sound = (np.abs(records).max(axis=1) < _MOST) & (records[:, -1] >= FEWEST)
    records[~sound, :3] = 1e30, 0, 0
    return {"rough": records[:, 0], "slopes": records[:, 1], "spreads": records[:, 2]}


def _spreads(rest: Singles) -> Singles:
    """How far scores stray for a row of length 1 in its units."""
    found: Singles = np.sqrt(np.einsum("ij,ij->i", rest, rest) / np.float32(rest.shape[1]))
    return found


def _largest(u: Singles) -> Singles:
    found: Singles = np.maximum(np.maximum(u.max(axis=1), -u.min(axis=1)), np.float32(1e-20))
    return found


def _put_eight(u: Singles, first: int, put: Put) -> tuple[Singles, Singles]:
    units: Singles = _largest(u) / np.float32(127)
    n = np.rint(u / units[:, None])
    put("weights", first, (n + 128).astype(np.uint8))
    return units, _spreads(u - n * units[:, None])


def _put_twelve(u: Singles, first: int, put: Put) -> tuple[Singles, Singles]:
    units: Singles = _largest(u) / np.float32(7)
    return units, _put_with_low(u, units, first, lambda high: put("weights", first, _joined(high + 8)), put)


def _put_sixteen(u: Singles, first: int, put: Put) -> tuple[Singles, Singles]:
    units: Singles = _largest(u) / np.float32(127)
    return units, _put_with_low(u, units, first, lambda high: put("weights", first, (high + 128).astype(np.uint8)), put)


def _put_with_low(u: Singles, units: Singles, first: int, put_high: Callable[[Any], None], put: Put) -> Singles:
    """Whole numbers of 256ths of a unit, in two parts; how far scores by the first of them stray."""
    n = np.rint(u / (units[:, None] / np.float32(256))).astype(np.int32)
    high = n >> 8
    put_high(high)
    put("low", first, (n & 255).astype(np.uint8))
    # Without the second byte a weight is taken to be in the middle.
    rest: Singles = u - (high.astype(np.float32) + np.float32(127.5 / 256)) * units[:, None]
    return _spreads(rest)


def _put_four(u: Singles, first: int, put: Put) -> tuple[Singles, Singles]:
    largest: Singles = _largest(u) / np.float32(7)
    deviations = np.maximum(_spreads(u), np.float32(1e-20))
    choices = [largest, *(np.minimum(largest, np.float32(one) * deviations) for one in _UNITS_OF_FOUR)]
    units: Singles = largest
    spreads: Singles = np.full(len(u), np.inf, np.float32)
    for choice in choices:
        found = _spreads(u - _in_four_bits(u, choice) * choice[:, None])
        units, spreads = np.where(found < spreads, choice, units), np.minimum(found, spreads)
    put("weights", first, _joined(_in_four_bits(u, units) + 8))
    return units, spreads


def _joined(n: Any) -> ByteMatrix:
    """Numbers below 16, those of the second half of the columns in the high bits of the first."""
    n = n.astype(np.uint8)
    if n.shape[1] % 2:
        n = np.concatenate([n, np.full((len(n), 1), 8, np.uint8)], axis=1)
    half = n.shape[1] // 2
    joined: ByteMatrix = n[:, :half] | n[:, half:] << 4
    return joined


def _in_four_bits(u: Singles, units: Singles) -> Singles:
    n: Singles = np.clip(np.rint(u / units[:, None]), -7, 7)
    return n


_WEIGHTS: dict[int, Callable[[Singles, int, Put], tuple[Singles, Singles]]] = {
    4: _put_four,
    8: _put_eight,
    12: _put_twelve,
    16: _put_sixteen,
}
