"""Parameters of an encoder, chosen by what it is for: to rank images that belong together before all others.

`kernel_grid` says where to look for those of a kernel machine: values that fit the scale of the negatives.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from manyclass._core.checks import check_length
from manyclass._core.typing import Embeddings
from manyclass.data.inputs import open_examples
from manyclass.data.kernels import Kernel, LinearPlusSquareKernel, RbfKernel, exemplar_kernel
from manyclass.data.matrix import Matrix, spans
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.evaluation.labels import as_labels
from manyclass.evaluation.ranking import area_of
from manyclass.exemplar.encoder import Encoder
from manyclass.exemplar.gram import to_float32

TILE = 256  # queries that are ranked at once

HIDDEN = 0.9  # of the columns; where half are hidden, nearly all settings find all rows


def calibrate(
    encoder: Encoder,
    negatives: Any,
    X: Any,
    y: ArrayLike | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    random_state: Any = 0,
) -> Encoder:
    """Choose the parameters of an encoder on a grid, and fit it on the negatives.

    The criterion is the mean average precision (by trapezoids); among equals the first wins. With labels y, every row
    of X searches for the other rows of its label among all rows but itself. X should be none of the negatives.

    Without labels, every row is searched for by a copy in which nine columns in ten, drawn at random, are replaced by
    their means among the negatives. That tells which settings survive the loss of columns, and rules out those that
    magnify noise or let a few columns decide. It cannot tell which differences between images matter: a change of
    light, view or background is in no copy, and the best setting for copies may be far from the best for photographs.
    Where nothing is known, it is a start; a few dozen labeled pairs are worth more.

    Parameters
    ----------
    encoder : Encoder
        Encoder, which is not changed.
    negatives : array-like, Matrix or path of shape (n_negatives, n_features)
        Vectors of unrelated images.
    X : array-like, Matrix or path of shape (n_images, n_features)
        Vectors of images to search for.
    y : array-like of shape (n_images,), default=None
        Labels.
    grid : dict of str to sequence, default=None
        Values by parameter, all combinations of which are tried. With None, the `default_grid` of the encoder; for
        linear ones regularization from 1e-6 to 10 times the mean square of the negatives about their mean.
    random_state : int, RandomState instance or None, default=0
        Seed of the columns that are replaced, without labels.

    Returns
    -------
    Encoder
        Fitted copy with the best parameters. Its `calibration_` is a list of one dict per combination, with the
        parameters and their "mAP".

    Examples
    --------
    >>> from manyclass.exemplar.square_loss import SquareLossExemplar
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 10
    >>> noise = rng.normal(size=(540, 6)) * [9, 9, 9, 1, 1, 1]  # three columns vary without meaning
    >>> X = rng.normal(size=(10, 6))[y] * [0, 0, 0, 3, 3, 3] + noise[500:]
    >>> best = calibrate(SquareLossExemplar(), noise[:500], X, y, {"regularization": [1e-3, 1e5]})
    >>> best.regularization, [row["mAP"] > 0.5 for row in best.calibration_]
    (0.001, [True, False])
    """
    matrix = open_examples(clone(encoder), negatives, reset=True)
    rows = _open_images(encoder, X, matrix.shape[1])
    search = _label_search(rows, y) if y is not None else _copy_search(rows, matrix, random_state)
    table = []
    settings = combinations(encoder.default_grid(matrix) if grid is None else grid)
    for setting, trial in zip(settings, encoder.trials(matrix, settings), strict=True):
        table.append({**setting, "mAP": search.score(trial)})
    best = settings[int(np.argmax([row["mAP"] for row in table]))]
    chosen = clone(encoder).set_params(**best).fit(negatives)
    chosen.calibration_ = table
    return chosen  # type: ignore[no-any-return]


def label_precision(encoder: Any, X: Any, y: ArrayLike) -> float:
    """The criterion of `calibrate` for a fitted encoder, or anything else with `transform` and `similarity`."""
    return _label_search(as_matrix(X), y).score(encoder)


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of the values, as settings.

    >>> combinations({"a": [1, 2], "b": [3]})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for name, values in grid.items():
        if not len(values):
            raise ValueError(f"grid must have at least one value for every parameter; got none for {name}")
    if not grid:
        raise ValueError("grid must name a parameter to choose, because this encoder proposes none; pass grid")
    # Plain numbers, as they go into files.
    plain = [[v.item() if isinstance(v, np.generic) else v for v in values] for values in grid.values()]
    return [dict(zip(grid, chosen, strict=True)) for chosen in product(*plain)]


class CalibrationSearch:
    """Queries that look for rows of their label; `same` says that query i is row i and does not count."""

    def __init__(self, queries: Any, rows: Any, asked: NDArray[Any], labels: NDArray[Any], same: bool):
        self.queries, self.rows, self.asked, self.labels, self.same = queries, rows, asked, labels, same

    def score(self, encoder: Encoder) -> float:
        """Mean average precision over the queries that have something to find."""
        D = encoder.transform(self.rows)
        C = D if self.same else encoder.transform(self.queries)
        found = [p for at in spans(len(C), TILE) for p in self._precisions(encoder, C[at], D, at.start)]
        return float(np.mean(found))

    def _precisions(self, encoder: Encoder, C: Embeddings, D: Embeddings, start: int) -> list[float]:
        found = []
        for i, scores in enumerate(encoder.similarity(C, D), start):
            order = np.argsort(-scores, kind="stable")
            if self.same:
                order = order[order != i]
            hits = self.labels[order] == self.asked[i]
            if hits.any():
                found.append(area_of(np.flatnonzero(hits), "trapezoid"))
        return found


def _open_images(encoder: Encoder, X: Any, d: int) -> Matrix:
    matrix = open_examples(clone(encoder), X, reset=True)
    if matrix.shape[1] != d:
        raise ValueError(f"X must have as many columns as negatives ({d}); got {matrix.shape[1]}")
    return matrix


def _label_search(rows: Matrix, y: ArrayLike) -> CalibrationSearch:
    labels = as_labels(y, "y")
    check_length(labels, len(rows), "y", "X")
    if len(np.unique(labels)) == len(labels):
        raise ValueError("y must have at least two equal labels; got none")
    return CalibrationSearch(rows, rows, labels, labels, same=True)


def _copy_search(rows: Matrix, negatives: Matrix, random_state: Any) -> CalibrationSearch:
    from sklearn.utils import check_random_state

    from manyclass.data.moments import column_means

    if len(rows) < 2:
        raise ValueError("X must have at least two rows for one to be mistaken for another; got 1")
    copies = rows.toarray()
    hidden = check_random_state(random_state).rand(*copies.shape) < HIDDEN
    copies = np.where(hidden, column_means(negatives).astype(copies.dtype), copies)
    numbers = np.arange(len(rows))
    return CalibrationSearch(copies, rows, numbers, numbers, same=False)


_SAMPLE = 1024  # negatives whose scale is measured


def kernel_grid(kernel: Kernel, negatives: Matrix) -> dict[str, list[Any]]:
    """Values of regularization and, where the kernel has one, of gamma, for what is typical of the negatives.

    Regularization goes from 1e-6 to 1 times k(x, x). A Gaussian falls to 1/e at half, once and twice the mean distance
    between two negatives; the square of a polynomial is a tenth of x'z, as much, or tenfold, for z = x.
    """
    X = to_float32(_sample(negatives)).astype(np.float64)
    widths, size = _gammas(kernel, X), float(np.abs(kernel.diagonal(X)).mean())
    return {**({"gamma": widths} if widths else {}), **regularization_grid(size)}


def regularization_grid(size: float) -> dict[str, list[Any]]:
    """Values of regularization alone, where k(x, x) is about of this size."""
    return {"regularization": [float(strength) for strength in (size or 1.0) * np.logspace(-6, 0, 7)]}


def auto_gamma(kernel: Any, gamma: float | str, negatives: Matrix) -> float:
    """The gamma that is given, or the middle one of `kernel_grid`; 1 for a kernel that has none."""
    if not isinstance(gamma, str):
        return float(gamma)
    if kernel not in ("rbf", "poly"):
        return 1.0
    X = to_float32(_sample(negatives)).astype(np.float64)
    return _gammas(exemplar_kernel(kernel, 1.0), X)[1]


def _gammas(kernel: Kernel, X: Any) -> list[float]:
    if isinstance(kernel, RbfKernel):
        between = 2 * float(X.var(axis=0).sum()) or 1.0
        return [factor / between for factor in (0.25, 1.0, 4.0)]
    if isinstance(kernel, LinearPlusSquareKernel):
        square = float(np.square(X).sum(axis=1).mean()) or 1.0
        return [factor / square for factor in (0.1, 1.0, 10.0)]
    return []


def _sample(negatives: Matrix) -> Any:
    n = len(negatives)
    return negatives.rows(np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)))
