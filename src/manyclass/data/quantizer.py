"""Quantizer: from rows of numbers to rows of bytes, and back."""

from abc import ABC, abstractmethod
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.lazy import find_public
from manyclass._core.typing import Floats, Report
from manyclass.data.matrix import Matrix

Codes = NDArray[np.uint8]


class Quantizer(ABC):
    """What product and scalar quantizers have in common: fit on a sample, then encode any number of rows.

    A fitted quantizer is plain arrays: `state` returns them, and `from_state` makes a quantizer of them.

    Attributes
    ----------
    kind : str
        The name under which a store keeps it.
    """

    kind: str  # the name under which a store keeps it

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the quantizer on the rows of X.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        Quantizer
            The quantizer itself.
        """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of a row, an int."""

    @property
    @abstractmethod
    def code_size(self) -> int:
        """The number of bytes of an encoded row, an int."""

    @abstractmethod
    def encode_rows(self, rows: Floats, first: int = 0) -> Codes:
        """Encode a block of rows.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The rows.
        first : int, default=0
            The number of the first row, for error messages.

        Returns
        -------
        ndarray of uint8 of shape (m, code_size)
            The codes.
        """

    @abstractmethod
    def matrix(self, codes: Codes) -> Matrix:
        """Make a matrix of codes.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (n, code_size)
            The codes.

        Returns
        -------
        Matrix
            The matrix whose rows they are.
        """

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Describe the fitted quantizer by plain values and arrays.

        Returns
        -------
        settings : dict
            Values that JSON can hold.
        arrays : dict of str to ndarray
            The fitted arrays.
        """

    @classmethod
    @abstractmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a quantizer of what `state` returned.

        Parameters
        ----------
        settings : dict
            The plain values.
        arrays : dict of str to ndarray
            The fitted arrays. They may come from a file, and are checked.

        Returns
        -------
        Quantizer
            The fitted quantizer.
        """

    def encode(self, X: Any, progress: Report | None = None) -> Matrix:
        """Encode all rows of X, a block at a time.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        progress : callable, default=None
            It is called with (rows done, rows in all) after every block.

        Returns
        -------
        Matrix
            The matrix of the codes.
        """
        from manyclass.data.readers.as_matrix import as_matrix

        X = as_matrix(X)
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, as in fit; got shape {X.shape}")
        codes = np.empty((X.shape[0], self.code_size), np.uint8)
        for start, rows in X.blocks():
            codes[start : start + len(rows)] = self.encode_rows(rows, start)
            if progress:
                progress(start + len(rows), X.shape[0])
        codes.flags.writeable = False  # which a matrix would otherwise copy
        return self.matrix(codes)

    def transform(self, X: Any) -> Matrix:
        """Encode all rows of X, as a step of a pipeline of scikit-learn does.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        Matrix
            The matrix of the codes, which all estimators of manyclass take.
        """
        return self.encode(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the settings, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool, default=True
            Not used; no setting has settings.

        Returns
        -------
        dict
            The settings by name.
        """
        return {name: getattr(self, name) for name in list(signature(type(self)).parameters)}

    def set_params(self, **params: Any) -> Self:
        """Set settings, which are checked as when a quantizer is made.

        Parameters
        ----------
        **params : object
            The settings.

        Returns
        -------
        Quantizer
            The quantizer itself.
        """
        known = self.get_params()
        for name in params.keys() - known.keys():
            raise ValueError(f"the settings of {type(self).__name__} must be one of {', '.join(known)}; got {name!r}")
        vars(self).update(type(self)(**{**known, **params}).get_params())
        return self

    def __sklearn_is_fitted__(self) -> bool:
        try:
            return self.n_features > 0
        except ValueError:
            return False

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        tags: dict[str, Any] = {"target_tags": TargetTags(required=False), "transformer_tags": TransformerTags()}
        return Tags(estimator_type="transformer", input_tags=InputTags(sparse=True), **tags)

    def decode(self, Xq: Matrix | ArrayLike) -> Floats:
        """Decode all rows.

        Parameters
        ----------
        Xq : Matrix or array-like of uint8 of shape (n, code_size)
            A matrix that `encode` made, or codes.

        Returns
        -------
        ndarray of shape (n, d)
            The decoded rows.
        """
        return (Xq if isinstance(Xq, Matrix) else self.matrix(np.asarray(Xq))).toarray()


def fixed_codes(codes: Codes) -> Codes:
    """Codes that nobody can write, in C order: as they are, or a copy if they, or what they are a view of, could be.

    A matrix remembers what it found in its codes, so they must stay.
    """
    array: Any = codes
    while isinstance(array, np.ndarray) and not array.flags.writeable:
        array = array.base
    if isinstance(array, np.ndarray):
        codes = codes.copy()
    fixed = np.ascontiguousarray(codes)
    fixed.flags.writeable = False
    return fixed


# Names of classes by kind, as files name it.
_KINDS = {"product": "ProductQuantizer", "scalar": "ScalarQuantizer"}


def restore_quantizer(kind: str, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Quantizer:
    """The quantizer whose `kind` and `state()` these were."""
    if kind not in _KINDS:
        raise ValueError(f"the kind of a quantizer must be one of {sorted(_KINDS)}; got {kind!r}")
    quantizer = find_public(_KINDS[kind]).from_state(settings, arrays)
    if not isinstance(quantizer, Quantizer):
        raise TypeError(f"{_KINDS[kind]} must be a Quantizer; got {type(quantizer).__name__}")
    return quantizer
