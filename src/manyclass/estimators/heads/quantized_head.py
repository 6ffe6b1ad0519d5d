"""QuantizedHead: a linear classifier of very many classes that keeps a few bits of each weight."""

import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import mapped_empty
from manyclass._core.checks import check_count, check_finite, check_length, check_positive
from manyclass._core.models import filling_model, load
from manyclass._core.typing import Arrays, Floats, Singles
from manyclass.data.inputs import open_features
from manyclass.data.matrix import Matrix, spans
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.estimators.heads.label_table import LabelTable, as_labels
from manyclass.estimators.heads.packed_weights import BITS, PackedWeights, pack_weights, packed_shapes
from manyclass.estimators.linear_model import LinearModel
from manyclass.estimators.probabilities import Probabilities
from manyclass.solvers.row_sums import Scorer

_ROWS = 4096  # of which the center is taken

_PACKED = [name for name in PackedWeights.__dataclass_fields__ if name != "bits"]

_COLUMNS = range(1, 1 << 16)  # beyond, sums of products of bytes may not fit into 32 bits

_SCORES = 1 << 22  # that are made at a time

_AT_ONCE = 1 << 23  # rough scores that the compiled loop holds; what is mapped is let go as often


class QuantizedHead(Probabilities, LinearModel):
    """A linear classifier that is made of another one, or of plain arrays, with few bits for each weight.

    The best classes of a row are found without reading most weights: 4 bits for three of them give every class a rough
    score, and those that may be among the best are scored by their weights. Loading maps the weights from the file.
    docs/benchmarks/heads.md has sizes, times, and how often the best are those of the weights themselves.

    Parameters
    ----------
    bits : {4, 8, 12, 16}, default=8
        Bits of a weight. With 12 and 16, the last 8 are read for the last few classes of a row only.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, in the order of the rows of `coef`.
    coef_ : ndarray of shape (k, d)
        The weights that the bits stand for; made when asked for.
    intercept_ : ndarray of shape (k,)
        The biases.
    n_features_in_ : int
        The number of columns of X.
    temperature_ : float
        Where there is one, probabilities are ``softmax(scores / temperature_)``.

    Examples
    --------
    >>> W = np.random.default_rng(0).normal(size=(3, 64))
    >>> head = QuantizedHead.from_arrays(W, classes=["ash", "elm", "oak"])
    >>> head.predict(W[[2, 0]]).tolist()
    ['oak', 'ash']
    """

    link_: str

    _table: LabelTable | None = None  # the labels, once some were asked for

    _decoded: NDArray[Any] | None = None  # and once all were

    objective: ClassVar[str] = "given weights"  # what `manyclass info` says of a head that nothing is known of

    mapped_arrays: ClassVar[tuple[str, ...]] = ("weights_", "low_")

    def __init__(self, bits: int = 8):
        self.bits = bits

    @classmethod
    def from_arrays(
        cls,
        coef: Any,
        intercept: Any = None,
        classes: Any = None,
        bits: int = 8,
        temperature: float | None = None,
        path: str | os.PathLike[str] | None = None,
        rows: Any = None,
    ) -> Self:
        """Make a head of weights, which are read a block of classes at a time.

        Parameters
        ----------
        coef : matrix-like of shape (k, d)
            The weights of every class, such as embeddings of their names; a memory map or a path is not loaded whole.
        intercept : array-like of shape (k,), default=None
            The biases; None for zeros.
        classes : array-like of shape (k,), default=None
            The labels, numbers or text; None for 0, 1, 2 and so on.
        bits : {4, 8, 12, 16}, default=8
            Bits of a weight.
        temperature : float, default=None
            For probabilities ``softmax(scores / temperature)``: CLIP and its kin have 0.01. None for none.
        path : str or os.PathLike, default=None
            A file to make the head in, whole or not at all, from which it is then mapped; None to make it in memory.
        rows : matrix-like of shape (m, d), default=None
            Some rows such as it will meet; with their mean known, fewer classes need a second look.

        Returns
        -------
        QuantizedHead
            The head.
        """
        made = cls(bits)
        if temperature is not None:
            made.temperature_ = check_positive(temperature, "temperature")
        made.link_ = ""
        return made._pack(as_matrix(coef), intercept, classes, path, rows)

    @classmethod
    def from_classifier(
        cls, classifier: Any, bits: int = 8, path: str | os.PathLike[str] | None = None, rows: Any = None
    ) -> Self:
        """Make a head of a fitted linear classifier, with its labels and what its probabilities are made by.

        Parameters
        ----------
        classifier : object
            A fitted classifier with `coef_` (k, d), `intercept_` and `classes_`.
        bits : {4, 8, 12, 16}, default=8
            Bits of a weight.
        path : str or os.PathLike, default=None
            A file to make the head in, from which it is then mapped; None to make it in memory.
        rows : matrix-like of shape (m, d), default=None
            Some rows such as it will meet.

        Returns
        -------
        QuantizedHead
            The head.
        """
        from sklearn.utils.validation import check_is_fitted

        if isinstance(classifier, QuantizedHead):
            raise ValueError("a head is made of a classifier with all bits of its weights; got a head")
        check_is_fitted(classifier)
        if getattr(classifier, "has_several_labels", False):
            raise ValueError("a head tells one label per row; got a classifier that was fitted with several")
        if len(classifier.coef_) != len(classifier.classes_):
            raise ValueError(
                f"coef_ must have a row per class ({len(classifier.classes_)}) to make a head of; got "
                f"{len(classifier.coef_)}"
            )
        made = cls(bits)
        made.link_ = ""
        with suppress(AttributeError):  # losses without probabilities
            made.link_ = classifier._link()
        if hasattr(classifier, "temperature_"):
            made.temperature_ = float(classifier.temperature_)
        # The scale of its rows; objective and loss; what it says of rows that it has not seen, unless it said so with
        # other biases than it has now.
        seen = () if hasattr(classifier, "prior_") else ("held_out_", "known_classes_")
        for name in ("row_lengths_", "trained_", *seen):
            if hasattr(classifier, name):
                setattr(made, name, getattr(classifier, name))
        return made._pack(as_matrix(classifier.coef_), classifier.intercept_, classifier.classes_, path, rows)

    def _pack(self, coef: Matrix, intercept: Any, classes: Any, path: Any, rows: Any) -> Self:
        if self.bits not in BITS:
            raise ValueError(f"bits must be 4, 8, 12 or 16; got {self.bits!r}")
        k, d = coef.shape
        if not k or not d:
            raise ValueError(f"coef must have a row per class and a column per feature; got shape {coef.shape}")
        if d not in _COLUMNS:
            raise ValueError(f"coef must have fewer than {_COLUMNS.stop:,} columns; got {d:,}")
        biases = np.zeros(k, np.float32) if intercept is None else np.asarray(intercept, np.float32)
        check_length(biases, k, "intercept", "coef")
        check_finite(biases[:, None], "intercept")
        center, labels = _center(rows, d), as_labels(classes, k)
        small = {"intercept_": biases, **labels.arrays()}
        sizes = packed_shapes(k, d, self.bits)
        self.n_features_in_ = d

        if path is None:
            large = {name: mapped_empty(shape, np.uint8) for name, shape in sizes.items()}

            def keep(name: str, first: int, some: NDArray[Any]) -> None:
                large[name][first : first + len(some)] = some

            known = pack_weights(coef, biases, center, self.bits, keep)
            return self._hold({**small, **_with_bars({**large, **known})})
        shapes = {**dict.fromkeys(_KNOWN, (k,)), **dict.fromkeys(_OF_COLUMNS, (d,)), "rounding": (1,)}
        empty = {name: _empty(np.uint8, shape) for name, shape in sizes.items()}
        empty |= {name: _empty(np.float32, shape) for name, shape in shapes.items()}
        later = _with_bars(empty)
        self._hold({**small, **later})
        with filling_model(self, path, later) as put:
            known = pack_weights(coef, biases, center, self.bits, lambda name, *some: put(f"{name}_", *some))
            for name, array in _with_bars(known).items():
                put(name, 0, array)
        made: Self = load(path)
        return made

    def _hold(self, arrays: Arrays) -> Self:
        for name, array in arrays.items():
            setattr(self, name, array)
        return self

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved head must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        if self.bits not in BITS:
            raise ValueError(f"bits must be 4, 8, 12 or 16; got {self.bits!r}")
        k, d = len(LabelTable.from_arrays(fitted)), fitted["n_features_in_"]
        if d not in _COLUMNS or fitted.get("link_") not in ("", "softmax", "logistic"):
            raise ValueError("a head has columns, and a link or none")
        if "temperature_" in fitted:
            check_positive(fitted["temperature_"], "temperature_")
        sizes: dict[str, tuple[int, ...]] = packed_shapes(k, d, self.bits)
        sizes |= {**dict.fromkeys(_KNOWN, (k,)), **dict.fromkeys(_OF_COLUMNS, (d,)), "rounding": (1,)}
        for name in sizes:
            wanted = np.uint8 if name in ("codes", "weights", "low") else np.float32
            if np.asarray(fitted[f"{name}_"]).dtype != wanted:
                raise ValueError(f"{name}_ must have the dtype {np.dtype(wanted)}")
        return {"intercept_": (k,), **{f"{name}_": shape for name, shape in sizes.items()}}

    def _check_changeable(self) -> None:
        raise ValueError("a head keeps its classes; change those of the classifier, and make a head of it anew")

    @property
    def _labels(self) -> LabelTable:
        if self._table is None:
            self._table = LabelTable.from_arrays({name: getattr(self, name) for name in _LABELS if hasattr(self, name)})
        return self._table

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """Every label; only those that are predicted become text otherwise."""
        if not hasattr(self, "labels_"):
            raise AttributeError("classes_")
        if self._decoded is None:
            self._decoded = self._labels.all()
        return self._decoded

    @property
    def coef_(self) -> Singles:  # type: ignore[override]
        """The weights (k, d) that the bits stand for."""
        if not hasattr(self, "weights_"):
            raise AttributeError("coef_")
        return self._packed.coef(slice(0, len(self.intercept_)))

    @property
    def _packed(self) -> PackedWeights:
        arrays = {name: getattr(self, f"{name}_") for name in _PACKED}
        return PackedWeights(**{**arrays, "rounding": float(self.rounding_[0])}, bits=self.bits)

    @property
    def nbytes(self) -> int:
        """Bytes of codes, weights and what goes with them, in memory or mapped."""
        return sum(array.nbytes for name, array in vars(self).items() if name.endswith("_") and np.ndim(array))

    def top_scores(self, X: Any, k: int = 5) -> tuple[NDArray[Any], Singles]:
        """Find the k classes of highest score for each row, the best first, and their scores.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        k : int, default=5
            How many classes; all if there are fewer.

        Returns
        -------
        labels : ndarray of shape (n, k)
            The classes.
        scores : ndarray of shape (n, k)
            Their scores.
        """
        best, scores = self._top(self._matrix(X), min(check_count(k, "k"), len(self.intercept_)))
        return self._labels_at(best), scores

    def _top(self, X: Matrix, k: int) -> tuple[NDArray[np.int64], Singles]:
        packed = self._packed
        found = []
        for at in spans(len(X), max(1, min(_ROWS, _AT_ONCE // len(self.intercept_)))):
            found.append(packed.top(_singles(X.rows(at)), k)[:2])
            _let_go(packed.low)
        best = np.concatenate([np.zeros((0, k), np.int64), *(one for one, _ in found)])
        return best, np.concatenate([np.zeros((0, k), np.float32), *(one for _, one in found)])

    def _shortlisted(self, X: Matrix, k: int) -> NDArray[Any]:
        return self._top(X, k)[0]

    def _labels_at(self, found: NDArray[Any]) -> NDArray[Any]:
        return self._labels[found]

    def _scores(self, X: Any) -> Floats:
        matrix, packed, k = self._matrix(X), self._packed, len(self.intercept_)
        S = np.empty((len(matrix), k), np.float32)
        for at in spans(len(matrix), max(1, _SCORES // k)):
            S[at] = packed.scores(_singles(matrix.rows(at)), slice(0, k))
            _let_go(packed.low)
        check_finite(S, "scores of X")
        return S

    def _matrix(self, X: Any) -> Matrix:
        if not hasattr(self, "labels_"):
            raise ValueError(
                "a QuantizedHead must be made by from_arrays, from_classifier or `compress` of a classifier"
            )
        return open_features(self, X)

    def _blocks(self, intercept: Floats | None = None) -> Callable[[Floats, int], Scorer]:
        packed, shift = self._packed, None if intercept is None else intercept - self.intercept_

        def block(rows: Floats, start: int) -> Scorer:
            def scores(classes: slice) -> Floats:
                S: Floats = packed.scores(_singles(rows), classes)
                if shift is not None:
                    S += shift[classes]
                check_finite(S, "scores of X", start)
                return S

            return scores

        return block

    def _shape(self) -> tuple[int, ...]:
        return len(self.intercept_), self.n_features_in_

    def _link(self) -> str:
        if self.link_:
            return str(self.link_)
        raise AttributeError("predict_proba needs a temperature, a call to calibrate, or a classifier that had it")


_KNOWN = "rough", "slopes", "spreads", "offsets", "units", "weight_spreads"

_OF_COLUMNS = "mean", "center", "columns"

_LABELS = "labels_", "label_ends_"


def _singles(rows: Floats) -> Singles:
    return np.ascontiguousarray(rows, np.float32)


def _let_go(array: NDArray[Any]) -> None:
    """Give back what is mapped of a file: of second bytes few are read for a row, and pages of others with them."""
    if isinstance(array.base, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.base._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _with_bars(arrays: Arrays) -> Arrays:
    """By the names that fitted attributes have, in the order that they have in files."""
    return {f"{name}_": arrays[name] for name in _PACKED if name in arrays}


def _empty(dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of this shape that takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def _center(rows: Any, d: int) -> Singles:
    if rows is None:
        return np.zeros(d, np.float32)
    X = as_matrix(rows)
    if X.shape[1] != d or not len(X):
        raise ValueError(f"rows must have {d} columns, as coef has; got shape {X.shape}")
    some = X.rows(np.linspace(0, len(X) - 1, min(len(X), _ROWS)).astype(np.intp))
    check_finite(some, "rows")
    return np.asarray(some.mean(axis=0, dtype=np.float64), np.float32)
