"""Where the next solution of a path will be, from those that stand around it."""

from collections.abc import Sequence

import numpy as np

from manyclass.solvers.points import Point, Product, Whole

_SHORT = 1e-3  # of the largest singular value: columns that come back by themselves where they are needed
_EVEN = 0.1  # by so much the ratios of neighboring strengths may differ

Terms = dict[tuple[int, int], float]  # places of the grid, and what their solutions are multiplied by


class Forecast:
    """Solutions on a grid of falling strengths, found row by row; those of the last three rows are kept.

    On an edge of the grid a solution is taken to be linear in the strength that changes. Beside the edges W(i, j) is
    W(i - 1, j) + W(i, j - 1) - W(i - 1, j - 1), and where the strengths fall evenly the error that the same forecast
    made at (i - 1, j - 1) is added: along the diagonal, gauge and ridge keep their share of the penalty.
    """

    def __init__(self, gauges: Sequence[float], ridges: Sequence[float]):
        self.gauges, self.ridges = gauges, ridges
        self.points: dict[tuple[int, int], Point] = {}

    def note(self, i: int, j: int, point: Point) -> None:
        """The solution for the gauge i and the ridge j."""
        self.points[i, j] = point
        self.points.pop((i - 3, j), None)

    def at(self, i: int, j: int) -> Point | None:
        """Where the solution for the gauge i and the ridge j is expected; None where there is none to go by."""
        terms = self.terms(i, j)
        if len(terms) < 2:
            return self.points[next(iter(terms))] if terms else None
        return _sum([self.points[place] for place in terms], list(terms.values()))

    def terms(self, i: int, j: int) -> Terms:
        """The places that count, and how much."""
        if i == 0 or j == 0:
            strengths, back = (self.ridges[: j + 1], (0, 1)) if i == 0 else (self.gauges[: i + 1], (1, 0))
            ahead = _ahead(strengths)
            places = [(i - step * back[0], j - step * back[1]) for step in range(1, len(ahead) + 1)]
            return dict(zip(places, ahead, strict=True))
        if i > 1 and j > 1 and _even(self.gauges[i - 2 : i + 1]) and _even(self.ridges[j - 2 : j + 1]):
            return {(i - 1, j): 1, (i, j - 1): 1, (i - 2, j - 1): -1, (i - 1, j - 2): -1, (i - 2, j - 2): 1}
        return {(i - 1, j): 1, (i, j - 1): 1, (i - 1, j - 1): -1}


def _ahead(strengths: Sequence[float]) -> list[float]:
    """What the last two values of a linear function of the strength, latest first, count for its next.

    >>> _ahead([8.0, 4.0, 2.0])
    [1.5, -0.5]
    """
    if len(strengths) < 3:
        return [1.0] * (len(strengths) - 1)
    before, last, here = strengths[-3:]
    share = (last - here) / (before - last) if before > last else 0.0
    return [1 + share, -share]


def _even(strengths: Sequence[float]) -> bool:
    """Whether three strengths fall in geometric steps.

    >>> _even([4.0, 2.0, 1.0]), _even([4.0, 2.0, 0.0])
    (True, False)
    """
    before, last, here = strengths
    return here > 0 and abs(last * last / (before * here) - 1) <= _EVEN


def _sum(points: list[Point], shares: list[float]) -> Product:
    """sum_i shares_i W_i, in as many columns as the first two have at most, without those that hardly count."""
    parts = [point.product() for point in points]
    A, B = np.hstack([part.A for part in parts]), np.hstack([s * part.B for s, part in zip(shares, parts, strict=True)])
    b = np.sum([s * part.b for s, part in zip(shares, parts, strict=True)], axis=0)
    together = Product(A, B.astype(A.dtype), b)
    # Factors with more columns than W are longer than W itself.
    U, s, V = (together if A.shape[1] < min(len(A), len(B)) else Whole(together.whole(), b)).factors()
    r = min(max(part.A.shape[1] for part in parts[:2]), int(np.count_nonzero(s > _SHORT * s[:1].sum())))
    roots = np.sqrt(s[:r]).astype(U.dtype)
    return Product(U[:, :r] * roots, V[:, :r] * roots, b)
