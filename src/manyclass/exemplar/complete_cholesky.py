"""Complete Cholesky factor of a Gram matrix that is held in memory."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.linalg.lapack import dtrtri

from manyclass._blas import one_thread
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor, negligible
from manyclass.exemplar.gram import Gram


def complete_cholesky(gram: Gram) -> Factor:
    """K + shift = L L', of rank n.

    The shift of the diagonal is what rounding may have made of a zero eigenvalue, n eps times the largest entry; if K
    turns out to have negative eigenvalues, the size of the least is added.
    """
    K = gram.whole()
    with one_thread():
        largest = float(np.abs(K.diagonal()).max())
        shift = negligible(gram.n, largest if largest > 0 else 1.0)
        try:
            upper = _upper(K, shift)
        except LinAlgError:
            K = gram.whole()
            upper = _upper(K, shift - min(0.0, float(eigvalsh(K, subset_by_index=[0, 0])[0])) * (1 + 1e-8))
        inverse, _ = dtrtri(upper)
    return Factor(np.ascontiguousarray(upper.T), np.arange(gram.n), np.ascontiguousarray(inverse), 0.0)


def _upper(K: Doubles, shift: float) -> Doubles:
    """L' in the place of K."""
    K[np.diag_indices(len(K))] += shift
    # The transpose is in LAPACK's own order, so that nothing is copied.
    return cholesky(K.T, overwrite_a=True, check_finite=False)  # type: ignore[no-any-return]
