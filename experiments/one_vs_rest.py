"""One-vs-rest machines on encoded photographs: ours, and support vector machines as VLFeat's own recipe has them."""

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.photographs import Encoded
from experiments.sources import Rows

_TILE = 256  # rows that are decoded at once


def in_span(data: Encoded) -> Encoded:
    """The same photographs by as many numbers as there are rows to train on, with the same products, if that is fewer.

    Linear machines are sums of rows to train on, so that nothing else of a row matters to them: with K = V L V' the
    products of those rows, they become V L^(1/2), and rows with products K_test become K_test V L^(-1/2).
    """
    X, X_test = data.train[0], data.test[0]
    if X.shape[1] <= len(X):
        return data
    K, K_test = products(X, X), products(X_test, X)
    B = _whitening(K)
    rows = np.concatenate([K @ B, K_test @ B]).astype(np.float32)
    return Encoded(mc.DenseMatrix(rows), data.y, data.n_train)


def coordinates(X: Rows) -> Rows:
    """Rows with the same products as those of X (n, d), by at most n numbers."""
    K = (X @ X.T).astype(np.float64)
    return (K @ _whitening(K)).astype(np.float32) if X.shape[1] > len(X) else X


def _whitening(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """V L^(-1/2) of products K = V L V', but for directions in which there is next to nothing."""
    values, V = np.linalg.eigh(K)
    kept = values > 1e-6 * values[-1]
    found: NDArray[np.float64] = V[:, kept] / np.sqrt(values[kept])
    return found


def stochastic(data: Encoded, seed: int = 0) -> float:
    """Mean accuracy over classes of `StochasticClassifier`, which stops by a tenth of the examples to train on.

    Rows are centered, as it wants them: what all have in common would take part in every step.
    """
    (X, y), (X_test, y_test) = data.train, data.test
    rows = X.toarray()
    mean = rows.mean(axis=0)
    fitted = mc.StochasticClassifier(random_state=seed).fit(rows - mean, y)
    return mc.evaluation.top_k_accuracy(y_test, fitted.decision_function(X_test.toarray() - mean), 1)


def support_vectors(data: Encoded, C: float = 10.0) -> float:
    """Mean accuracy over classes of a support vector machine per class, from the products of rows."""
    X, y = data.train
    X_test, y_test = data.test
    K, K_test = products(X, X), products(X_test, X)
    scores = [_scores(K, K_test, y == k, C) for k in range(int(y.max()) + 1)]
    return mc.evaluation.top_k_accuracy(y_test, np.stack(scores, axis=1), 1)


def products(A: mc.Matrix, B: mc.Matrix) -> NDArray[np.float64]:
    """A B' (n, m), a few rows of B at a time."""
    parts = [A.matmat(rows.T) for _, rows in B.blocks(_TILE)]
    return np.concatenate(parts, axis=1).astype(np.float64)


def _scores(
    K: NDArray[np.float64], K_test: NDArray[np.float64], mine: NDArray[np.bool_], C: float
) -> NDArray[np.float64]:
    from sklearn.svm import SVC

    scores: NDArray[np.float64] = SVC(C=C, kernel="precomputed").fit(K, mine).decision_function(K_test)
    return scores
