"""Complete Cholesky factor of a Gram matrix that is held in memory."""

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf, dpstrf, dtrtri

from manyclass._blas import one_thread
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor, negligible
from manyclass.exemplar.gram import Gram


def complete_cholesky(gram: Gram) -> Factor:
    """K = L L' of full rank: n, or fewer if K is singular, as it is if negatives are equal.

    A K with negative eigenvalues is no kernel's; the size of the least of them is added to its diagonal.
    """
    K = gram.whole()
    least = negligible(gram.n, float(np.abs(K).max()))
    with one_thread():
        # LAPACK keeps columns together: the transpose, which is K again, is overwritten without a copy.
        upper, failed = dpotrf(K.T, overwrite_a=True)
        if not failed and np.square(upper.diagonal()).min() > least:
            return _factor(upper, np.arange(gram.n))
        return _singular(gram.whole(), least)


def _singular(K: Doubles, least: float) -> Factor:
    """The factor of a K that has no inverse; its rows are pivoted, so that those it can do without come last."""
    upper, order, rank, _ = dpstrf(K, tol=least)
    order = order.astype(np.intp) - 1
    rest = order[rank:]
    U = np.triu(upper)[:rank]
    left = K[np.ix_(rest, rest)] - U[:, rank:].T @ U[:, rank:]
    if np.abs(left).max(initial=0) > len(K) * least:
        return _shifted(K, least)
    # One at least, so that all negatives may be zero.
    return _factor(U, order) if rank else Factor(np.zeros((len(K), 1)), order[:1], np.zeros((1, 1)), 0.0)


def _shifted(K: Doubles, least: float) -> Factor:
    K[np.diag_indices(len(K))] += 10 * least - float(eigvalsh(K, subset_by_index=[0, 0])[0])
    upper, _ = dpotrf(K.T)
    return _factor(upper, np.arange(len(K)))


def _factor(upper: Doubles, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Factor:
    """From U (r, n), of which U'U is K with its rows and columns in this order."""
    r, n = upper.shape
    M, _ = dtrtri(upper[:, :r])
    B = np.empty((n, r))
    B[order] = upper.T
    return Factor(B, order[:r], np.ascontiguousarray(M), 0.0)
