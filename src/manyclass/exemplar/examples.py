"""The square-loss machine of several positives and further negatives, in closed form.

With weights c_i, which sum to theta over the positives (y = 1), to 1 over the negatives that are known by their mean mu
and covariance, and to phi over the further ones (both y = -1), the classifier minimizes

    1/2 sum_i c_i (w'x_i + b - y_i)^2 + lambda/2 |w|^2.

Its bias makes the weighted mean of the errors 0. What is left is ridge regression around the weighted mean m of all x:

    (A + Z Z') w = 2 theta (p - m),     b = mean of y - w'm,

where A is the covariance of the negatives plus lambda on the diagonal, p the mean of the positives, and Z has the
columns mu - m and sqrt(c_i) (x_i - m) of every example. A^-1 is known, so w is one small system away (Woodbury).
"""

import numpy as np

from manyclass._blas import one_thread
from manyclass.exemplar.encoder import Doubles


def examples_classifier(
    mean: Doubles, inverse: Doubles, positives: Doubles, negatives: Doubles, theta: float, phi: float
) -> tuple[Doubles, float]:
    """(w, bias) from mu (d,), A^-1 (d, d), positives (p, d) and negatives (m, d), which may be none."""
    if not len(positives):
        raise ValueError("positives must have at least one row; got none")
    phi = phi if len(negatives) else 0.0
    total = theta + 1 + phi
    center = (theta * positives.mean(axis=0) + mean + phi * _mean(negatives, mean)) / total
    scale = np.sqrt(np.repeat([theta / len(positives), phi / max(1, len(negatives))], [len(positives), len(negatives)]))
    Z = np.vstack([mean - center, scale[:, None] * (np.vstack([positives, negatives]) - center)])
    with one_thread():
        b = 2 * theta * (positives.mean(axis=0) - center)
        ZA = Z @ inverse
        w = inverse @ b - ZA.T @ np.linalg.solve(np.eye(len(Z)) + ZA @ Z.T, ZA @ b)
    return w, float((theta - 1 - phi) / total - w @ center)


def _mean(rows: Doubles, otherwise: Doubles) -> Doubles:
    mean: Doubles = rows.mean(axis=0) if len(rows) else otherwise
    return mean
