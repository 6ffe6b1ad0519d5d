"""predict_set: classes among which the right one is, as often as is promised, by what held-out rows show."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.checks import check_fraction, check_one_of
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import spans
from manyclass.estimators.uncertainty.class_clusters import cluster_classes
from manyclass.estimators.uncertainty.held_out import (
    HeldOut,
    has_held_out,
    log_softmax,
    rows_at_once,
    trained_intercept,
)

BY = ("all", "cluster")


class PredictionSets:
    """For linear classifiers with a temperature that know what they say of rows which they have not seen."""

    classes_: NDArray[Any]
    temperature_: float
    held_out_: dict[str, Any]

    @available_if(has_held_out("predict_set"))  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any, coverage: float = 0.95, by: str = "all") -> list[NDArray[Any]]:
        """Predict a set of classes for each row, such that so many sets hold the right one.

        A set has the classes whose probability is above a threshold, which so many of the held-out rows reach with
        their own class (conformal prediction), and the best class in any case: where that is right more often than
        `coverage`, so are the sets. The promise is for rows like those that were held out: those by which `fit`
        stopped, which chose the machines, or left out one by one in a closed form, or those of `calibrate`, for which
        alone it is exact. Of classes that came since, nothing was held out: sets may then hold the right class less
        often, until `calibrate` is given rows of all; where classes went, they hold it more often. Of a classifier
        with another prior, held-out rows count by that, and probabilities are those of training: `predict` may name a
        class that is not in the set. All scores are never held at once.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        coverage : float, default=0.95
            The share of sets that are to hold the right class.
        by : {"all", "cluster"}, default="all"
            "all" promises it over all rows, with one threshold. "cluster" comes nearer to it for every class: classes
            whose held-out rows have similar probabilities share a threshold (Ding et al., NeurIPS 2023), those with
            few of them that of all rows. Sets of hard classes are larger then, and those of easy ones smaller.

        Returns
        -------
        list of ndarray
            The classes of each row, the most probable first.
        """
        check_fraction(coverage, "coverage")
        check_one_of(by, "by", BY)
        held_out, k = HeldOut.of_model(self), len(self.classes_)
        most = held_out.threshold(coverage) if by == "all" else cluster_thresholds(held_out, k, coverage)
        matrix, block = self._matrix(X), self._blocks(trained_intercept(self))  # type: ignore[attr-defined]

        def of_rows(at: slice) -> list[NDArray[np.intp]]:
            S = block(matrix.rows(at), at.start)(slice(0, k))
            return _sets(log_softmax(S, self.temperature_), most)

        with np.errstate(invalid="ignore", over="ignore"):
            found = thread_map(of_rows, spans(len(matrix), rows_at_once(matrix.shape[1], k)))
            return [self.classes_[places] for some in found for places in some]


def _sets(L: Floats, most: Doubles | float) -> list[NDArray[np.intp]]:
    """Of log-probabilities (m, k), the classes of each row whose loss is at most a threshold, and the best; sorted."""
    within = most >= -L
    within[np.arange(len(L)), L.argmax(axis=1)] = True
    found = [np.flatnonzero(row) for row in within]
    return [places[np.argsort(-L[i, places], kind="stable")] for i, places in enumerate(found)]


def cluster_thresholds(held_out: HeldOut, k: int, coverage: float) -> Doubles:
    """The threshold of every class (k,): that of its cluster, by held-out rows that had no part in the clusters.

    Clusters made of the rows that they are judged by would be too sure of themselves. Classes without a cluster, of
    which too little is known, have the threshold of all rows.
    """
    thresholds = np.full(k, held_out.threshold(coverage))
    first, second = held_out.halves()
    of_class = cluster_classes(first, k, coverage)
    for cluster in range(of_class.max(initial=-1) + 1):
        rows = second.rows(of_class[second.classes] == cluster)
        if len(rows.losses) * (1 - coverage) >= 1:
            thresholds[of_class == cluster] = rows.threshold(coverage)
    return thresholds
