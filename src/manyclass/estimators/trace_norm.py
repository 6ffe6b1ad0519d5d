"""TraceNormClassifier: classes that share few latent features."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass.estimators.batch import BatchModel
from manyclass.estimators.factored_model import FactoredModel, signed
from manyclass.estimators.history import Callback
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.penalties.trace import TraceNorm
from manyclass.solvers.points import Point, Product
from manyclass.solvers.solution import Solution


class TraceNormClassifier(FactoredModel, BatchModel):
    """Minimizes mean loss + trace * (sum of the singular values of W) + ridge * |W|^2; the bias is free.

    The trace norm lets classes share few latent features: better where examples are few, and small and fast to apply,
    as W is kept in factors (Harchaoui et al., CVPR 2012).

    Parameters
    ----------
    trace, ridge : strengths, at least 0. `TraceNormPath` finds both.
    loss : "softmax", "smoothed_hinge", "squared", "logistic", or a ScoreLoss.
    solver : "auto" (the fastest), "rank_one" (R1D, until the gap is below the tolerance), "published" (R1D with its
        published settings: epsilon 0.035, at most 200 steps), "fista", "stochastic", "factored".
    tolerance, max_iter, max_seconds, class_weight, n_threads, warm_start, random_state, callbacks : as in
        `LinearClassifier`.

    Attributes
    ----------
    factors_ : U (d, r), s (r,) and V (k, r) with W = U diag(s) V'; rank_; singular_values_; coef_ (k, d), multiplied
    out when asked for; and classes_, intercept_, n_features_in_, objective_, gap_, status_, n_iter_, seconds_, passes_,
    history_ as in `LinearClassifier`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(10), 20)
    >>> X = rng.normal(size=(10, 2))[y] @ rng.normal(size=(2, 30)) + rng.normal(size=(200, 30))
    >>> clf = TraceNormClassifier(trace=0.2).fit(X, y)
    >>> clf.rank_, clf.transform(X).shape, clf.status_
    (2, (200, 2), 'optimal')
    """

    def __init__(
        self,
        trace: float = 1e-3,
        ridge: float = 0.0,
        loss: Any = "softmax",
        fit_intercept: bool = True,
        solver: str = "auto",
        tolerance: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        n_threads: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
    ):
        self.trace = trace
        self.ridge = ridge
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks

    def _penalty(self) -> Penalty:
        trace, ridge = _checks.nonnegative(self.trace, "trace"), _checks.nonnegative(self.ridge, "ridge")
        return TraceNorm(trace) + Ridge(ridge)

    def _keep(self, found: Solution) -> None:
        self.factors_ = signed(found.factors)
        self.intercept_ = found.b.astype(self.factors_[0].dtype)

    def _point(self) -> Point:
        U, s, V = self.factors_
        roots = np.sqrt(s).astype(U.dtype)
        return Product(U * roots, V * roots, self.intercept_.astype(np.float64))
