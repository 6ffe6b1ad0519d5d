"""RelevanceFeedback: a search that learns from images that are marked as wanted or unwanted, in closed form.

It is the square-loss machine of several positives and further negatives (`square_loss`), in the space of embeddings of
a gallery, against a world of others, and with a ridge towards the mean of the positives, which is the plain query. In
the basis V of the directions in which the world varies, with variances s, A^-1 is diagonal for every strength of the
ridge, 1 / (s + lambda), and 1 / lambda in all directions beside V. Of these only the span of what the marks have beside
V counts, so that a fit has as many coordinates as V has directions, and a few more; nothing of p x p numbers is made
where the world has fewer rows than that.

What the machine would say of an image of the world had it not been fitted on it follows from what it says, f, by

    f_i - h_i / (1 - h_i) (y_i - f_i),    h_i = c_i (1 / sum of weights + x_i' (A + Z Z')^-1 x_i),

x_i less the weighted mean, as in any ridge regression with a bias.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_finite, check_number
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.inputs import open_rows
from manyclass.data.matrix import spans
from manyclass.data.moments import Spectrum
from manyclass.exemplar.square_loss import ExamplesFit, fit_examples

MOST = 2048  # rows of a world that are fitted on where rows have more numbers than that; an eigenproblem of that size

_NOTHING = 1e-12  # of the length of what a machine is pulled to: the length of one that is rounding

_APART = 0.1  # of the square of the mean of positives: the least that it is told from the world by

_BESIDE = 1e-12  # of the square of the longest mark: what is beside V no more than by rounding of products

_TILE = 1024  # rows of the world that are scored at once


@dataclass(frozen=True)
class FeedbackQuery:
    """What marks search for: a direction in the space of embeddings, and what the world scores in it.

    Parameters
    ----------
    direction : ndarray of shape (n_features,), float32
        Of unit length; the score of an image is its inner product with the embedding.
    background : ndarray of shape (n_world,), float32
        Scores of the world, of each image as if the machine had not been fitted on it.
    regularization : tuple of float
        Lambda of each machine, of whose directions this one is the mean.
    """

    direction: Embeddings
    background: Embeddings
    regularization: tuple[float, ...]


class RelevanceFeedback(BaseEstimator):  # type: ignore[misc]
    """Search that learns from marked images: ridge regression of these against a world of others, in closed form.

    Of embeddings x, as a gallery keeps them, a query minimizes over w and its bias b::

        1/(2m) sum over positives (w'x + b - 1)^2 + 1/(2n) sum over the world (w'x + b + 1)^2
            + 1/(2l) sum over negatives (w'x + b + 1)^2 + lambda/2 |w - w_0|^2

    where w_0 is the mean p of the positives, divided by p'(p - mu), so that it scores 1 more than the mean mu of the
    world: with a strong ridge the search is for what is like the positives, and more marks teach more. The world is
    factored once; a query takes a few milliseconds.

    Parameters
    ----------
    regularization : float or "auto", default="auto"
        Lambda, more than 0, on the scale of the variance of embeddings; below a thousandth of the largest variance the
        background is rounding where the world has fewer images than features. "auto" is 20 times the largest variance
        of the world along any direction, divided by the number of marks to the power of 3/4, and the direction is the
        mean of this machine's and of that of a machine with a hundredth of it. Of one mark alone it is so strong that
        images are ordered as by their similarity to it.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean of the world.
    variances_ : ndarray of shape (n_directions,)
        Variances of the world along its principal directions, falling.
    directions_ : ndarray of shape (n_features, n_directions)
        These directions.
    n_features_in_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> world = np.random.default_rng(0).normal(size=(100, 3))
    >>> feedback = RelevanceFeedback(0.5).fit(world)
    >>> feedback.query([[0.0, 4.0, 0.0], [0.0, 0.0, 4.0]], negatives=[[4.0, 0.0, 0.0]]).direction.round(1)
    array([-0.1,  0.7,  0.7], dtype=float32)
    """

    mean_: Doubles
    variances_: Doubles
    directions_: Doubles
    n_features_in_: int

    def __init__(self, regularization: float | str = "auto"):
        self.regularization = regularization

    @rollback_on_error
    def fit(self, world: Any, y: Any = None) -> Self:
        """Factor a world of images that marks are told from.

        Parameters
        ----------
        world : array-like or Matrix of shape (n_world, n_features)
            Embeddings of unrelated images. Of more than 2,048 rows with more than 2,048 features each, as many are
            fitted on as that, evenly spread.
        y : None
            Ignored.

        Returns
        -------
        RelevanceFeedback
            The fitted object itself.
        """
        rule = "a finite number, more than 0, or 'auto'"
        check_number(self.regularization, "regularization", rule, above=0, besides=("auto",))
        matrix = open_rows(world, "world")
        n, p = matrix.shape
        self._fitted = np.arange(n) if min(n, p) <= MOST else np.linspace(0, n - 1, MOST).astype(np.intp)
        self._rest = matrix.rows(np.setdiff1d(np.arange(n), self._fitted)).astype(np.float32)
        rows = matrix.rows(self._fitted).astype(np.float64)
        self.mean_, self.n_features_in_ = rows.mean(axis=0), p
        rows -= self.mean_
        spectrum = Spectrum.of_rows(rows)
        self.variances_, self.directions_ = spectrum.s, spectrum.V
        with one_blas_thread():
            self._coordinates = np.concatenate(
                [(rows[at] @ self.directions_).astype(np.float32) for at in spans(len(rows), _TILE)]
            )
        self._leverages: dict[float, Doubles] = {}
        return self

    def query(self, positives: Any, negatives: Any = None) -> FeedbackQuery:
        """Fit one classifier of marked images against the world.

        Parameters
        ----------
        positives : array-like of shape (n_positives, n_features)
            Embeddings of wanted images, at least one.
        negatives : array-like of shape (n_negatives, n_features), default=None
            Embeddings of unwanted images.

        Returns
        -------
        FeedbackQuery
            The direction to search in, and the scores of the world.
        """
        check_is_fitted(self)
        wanted, unwanted = self._rows(positives, "positives"), self._rows(negatives, "negatives")
        if not len(wanted):
            raise ValueError("positives must have at least one row; got none")
        strengths, m = self._strengths(len(wanted) + len(unwanted)), len(wanted)
        rows = np.vstack([wanted - self.mean_, unwanted - self.mean_, self.mean_])
        with one_blas_thread():
            at = self._place(rows)
            fits = [self._machine(strength, at[:m], at[m:-1], at[-1]) for strength in strengths]
            lengths = [float(np.linalg.norm(one.w)) or 1.0 for one in fits]
            w: Doubles = np.sum([one.w / length for one, length in zip(fits, lengths, strict=True)], axis=0)
            length = float(np.linalg.norm(w)) or 1.0
            direction = self._lift(w / length, rows, at)
            scores = self._left_out(fits, strengths, 2.0 + bool(len(unwanted)))
            total = np.sum([some / (one * length) for some, one in zip(scores, lengths, strict=True)], axis=0)
        return self._told(direction, total + direction @ self.mean_, strengths)

    def _strengths(self, n_marks: int) -> tuple[float, ...]:
        """Lambda of each machine for so many marks."""
        if not isinstance(self.regularization, str):
            return (float(self.regularization),)
        return auto_strengths(float(self.variances_[0]) if len(self.variances_) else 1.0, n_marks)

    def _machine(self, strength: float, wanted: Doubles, unwanted: Doubles, origin: Doubles) -> ExamplesFit:
        """The machine of marks by their coordinates less the mean of the world, whose own are `origin`."""
        inverse = np.full(len(origin), 1 / strength)
        inverse[: len(self.variances_)] = 1 / (self.variances_ + strength)
        mean = wanted.mean(axis=0) + origin
        pull = strength * _prior_scale(mean @ mean, mean @ origin) * mean
        found = fit_examples(np.zeros(len(origin)), inverse, wanted, unwanted, 1.0, 1.0, pull)
        # Of what is nothing but rounding nothing is learned.
        nothing = np.linalg.norm(found.w) <= _NOTHING * np.linalg.norm(pull) / strength
        return found._replace(w=np.zeros_like(found.w)) if nothing else found

    def _rows(self, marks: Any, name: str) -> Doubles:
        given = np.zeros((0, self.n_features_in_)) if marks is None or not np.size(marks) else np.asarray(marks)
        rows: Doubles = np.atleast_2d(given).astype(np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise ValueError(f"{name} must have {self.n_features_in_} columns, as the world has; got {np.shape(marks)}")
        check_finite(rows, name)
        return rows

    def _place(self, rows: Doubles) -> Doubles:
        """Coordinates (q, r + z) of rows (q, p) in V, and in a basis of what they have beside it.

        The basis is made of sums of the rows, by way of their products, so that V is read once.
        """
        inside = rows @ self.directions_
        if len(self.variances_) == self.n_features_in_:
            return inside
        whole = rows @ rows.T
        s, E = np.linalg.eigh(whole - inside @ inside.T)
        kept = s > _BESIDE * whole.diagonal().max()
        return np.hstack([inside, E[:, kept] * np.sqrt(s[kept])])

    def _lift(self, w: Doubles, rows: Doubles, at: Doubles) -> Doubles:
        """w (p,) from its coordinates; `at` are those of rows, whose columns beside V are orthogonal."""
        r = len(self.variances_)
        sums = at[:, r:] @ (w[r:] / np.square(at[:, r:]).sum(axis=0))
        lifted: Doubles = self.directions_ @ (w[:r] - sums @ at[:, :r]) + sums @ rows
        return lifted

    def _left_out(self, fits: list[ExamplesFit], strengths: tuple[float, ...], total: float) -> Iterator[Doubles]:
        """For each machine w'(x_i - mu) of the world's rows that it was fitted on, each as if it had not been."""
        r, n = len(self.variances_), len(self._coordinates)
        T = self._products(np.column_stack([column for one in fits for column in (one.ZA.T, one.w)])[:r])
        parts = np.split(T, len(fits), axis=1)
        for one, strength, part in zip(fits, strengths, parts, strict=True):
            scores = part[:, -1]
            # Less the center c, of which the first row of Z is the opposite, as the mean is the origin here.
            near = one.ZA @ one.center
            squares = self._leverage(strength) + 2 * part[:, 0] - near[0]
            t = part[:, :-1] - near
            squares -= np.einsum("ij,ij->i", t @ one.core, t)
            h = (1 / total + squares) / n
            yield scores + h / (1 - h) * (1 + scores + one.bias)

    def _leverage(self, strength: float) -> Doubles:
        """(x_i - mu)'A^-1 (x_i - mu) of the world's rows, kept by strength, of which there are few."""
        if strength not in self._leverages:
            weights = (1 / (self.variances_ + strength)).astype(np.float32)
            parts = [np.square(self._coordinates[at]) @ weights for at in spans(len(self._coordinates), _TILE)]
            self._leverages[strength] = np.concatenate(parts).astype(np.float64)
        return self._leverages[strength]

    def _products(self, M: Doubles) -> Doubles:
        """Coordinates of the world's rows times M (r, z)."""
        C, M32 = self._coordinates, np.ascontiguousarray(M, np.float32)
        return np.concatenate(list(thread_map(lambda at: C[at] @ M32, spans(len(C), _TILE)))).astype(np.float64)

    def _told(self, direction: Doubles, scores: Doubles, strengths: tuple[float, ...]) -> FeedbackQuery:
        background = np.empty(len(self._fitted) + len(self._rest), np.float32)
        others = np.ones(len(background), bool)
        others[self._fitted] = False
        background[self._fitted], background[others] = scores, self._rest @ direction.astype(np.float32)
        return FeedbackQuery(direction.astype(np.float32), background, strengths)


def auto_strengths(largest: float, n_marks: int) -> tuple[float, ...]:
    """Lambdas by the largest variance of the world and the number of marks, positives and negatives: they fall with it.

    A strong ridge finds what is alike, and a weak one what tells wanted from unwanted; which of them is right depends
    on the images, and the mean of both is often better than any one. The factors are measured:
    docs/results/relevance_feedback.md says how.

    One mark alone is searched for by its similarity, but for a thousandth: with 20 in place of 1,000 that was better
    by half a point on two sets, and worse by two on another.

    >>> auto_strengths(1.0, 1), auto_strengths(1.0, 16)
    ((1000.0,), (2.5, 0.025))
    """
    if n_marks == 1:
        return (1000 * largest,)
    strong = float(20 * largest * n_marks**-0.75)
    return strong, strong / 100


def _prior_scale(square: float, to_world: float) -> float:
    """kappa, by which the mean p of the positives scores 1 more than the mean of the world does: 1 / (p'p - p'mu).

    A mean that is hardly nearer to itself than to the world has a tenth of its square in place of the difference.

    >>> _prior_scale(1.0, 0.5), _prior_scale(1.0, 1.0), _prior_scale(0.0, 0.0)
    (2.0, 10.0, 0.0)
    """
    apart = max(square - to_world, _APART * square)
    return float(1 / apart) if apart > 0 else 0.0
