"""KernelSquareLossExemplar: the square-loss exemplar machine in the space of a kernel."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_finite, check_number, check_one_of, check_positive
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.inputs import ScaleLimits, open_examples, open_features
from manyclass.data.kernels import KERNELS, Kernel, exemplar_kernel
from manyclass.data.matrix import Matrix
from manyclass.exemplar._kernel_embeddings import (
    KernelClassifier,
    KernelEmbeddings,
    find_values,
    kernel_similarity,
    residual_squares,
    scale_and_bias,
)
from manyclass.exemplar.calibration import auto_gamma, kernel_grid, regularization_grid
from manyclass.exemplar.encoder import TILE, Encoder, auto_regularization, leave_one_out_cosines, leave_one_out_weight
from manyclass.exemplar.factorizations import (
    PINV,
    FactorMoments,
    check_factorization,
    factor_moments,
    factorize,
    negligible,
    solve_kernel,
)
from manyclass.exemplar.gram import GramOfRows, PrecomputedGram, round_to_float32, to_float32
from manyclass.exemplar.linear_encoder import one_or_many


class KernelSquareLossExemplar(Encoder):
    """Kernel square-loss exemplar machine.

    The machine of an image x against negatives x_1 ... x_n is the function h of the space of a kernel k and the bias b
    that minimize::

        theta/2 (h(x) + b - 1)^2 + 1/(2n) sum_i (h(x_i) + b + 1)^2 + lambda/2 |h|^2

    (Rezende et al., CVPR 2017, Section 4). The Gram matrix of the negatives is factored once, into r coordinates for
    each; after that an image costs its kernel values with the negatives, or with r of them, and two products. Its
    embedding has d + 2 r numbers: the image itself, lambda times the slope of its machine in these coordinates, and its
    own coordinates. `similarity` compares embeddings by the cosine of their machines (Eq. 16); their inner product has
    no meaning.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="rbf"
        "rbf" is ``exp(-gamma |x - z|^2)``, and "poly" ``x'z + gamma (x'z)^2``. A function takes two arrays of rows
        (n, d), (m, d) and returns an array (n, m). With "precomputed", negatives are given as their Gram matrix (n, n),
        and images as their kernel values with the negatives (m, n).
    gamma : float or "auto", default="auto"
        Parameter of "rbf" and "poly". "auto" fits the scale of the negatives: an "rbf" falls to 1/e at the mean
        distance of two of them, and the square of "poly" is as large as x'z for z = x.
    regularization : float or "auto", default="auto"
        Lambda, on the scale of the variance of the negatives in the space of the kernel. "auto" is the largest
        eigenvalue of their covariance there.
    rank : int, default=None
        Largest r; None for no limit.
    factorization : str, default="cholesky"
        "cholesky" is complete, of rank n, and "kpca" the best of a given rank; both hold the Gram matrix and keep all
        negatives. For very many, "nystrom" keeps 8 r of them, at least 256, drawn at random, for the best r directions
        in their span, and is hardly worse; "incomplete_cholesky" keeps r, each the one that those before explain least,
        and projects images on their span. "incomplete_cholesky_pinv" has the coordinates that Eq. 12 prints for it, by
        all negatives: no projections, so that similarities may be above 1, and of no use if lambda is small.
    positive_weight : float, default=1.0
        Weight theta of the image against all negatives together; embeddings do not depend on it.
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    rank_ : int
        Number of coordinates r.
    residual_ : float
        Fraction of the Gram matrix K that the factor B leaves out, trace(K - BB') / trace(K).
    positions_ : ndarray of shape (m,)
        Rows of the m negatives that the coordinates are computed from.
    landmarks_ : ndarray of shape (m, n_features), float32
        These negatives, unless the kernel is precomputed.
    coordinates_ : ndarray of shape (m, r)
        Matrix that maps kernel values with the landmarks to the coordinates of an image.
    slopes_ : ndarray of shape (m, r)
        Matrix that maps them to its slope.
    slope_offset_ : ndarray of shape (r,)
        Offset that is subtracted from the slope.
    mean_ : ndarray of shape (r,)
        Mean coordinates of the negatives.
    kernel_ : dict
        Name and gamma of the kernel of the fit.
    regularization_ : float
        Lambda of the fit.
    background_ : ndarray of shape (n_background, n_features_out), float32
        Embeddings of the background set.
    background_pull_ : ndarray of shape (n_background, r + 1)
        Leave-one-out correction of each of the background set.
    n_features_in_ : int
        Number of features of an image.
    n_features_out_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ker = KernelSquareLossExemplar(kernel="rbf", gamma=0.1, regularization=1e-3).fit(rng.normal(size=(50, 4)))
    >>> C = ker.transform([[2.0, 0, 0, 0], [2.1, 0, 0, 0], [-2.0, 0, 0, 0]])
    >>> C.shape, ker.similarity(C[:1], C).round(1)
    ((3, 104), array([[ 1.,  1., -0.]], dtype=float32))
    """

    kernel_: dict[str, Any]
    regularization_: float
    rank_: int
    residual_: float
    positions_: NDArray[np.intp]
    landmarks_: NDArray[np.float32]
    coordinates_: Doubles
    slopes_: Doubles
    mean_: Doubles
    slope_offset_: Doubles
    background_pull_: Doubles

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | str = "auto",
        regularization: float | str = "auto",
        rank: int | None = None,
        factorization: str = "cholesky",
        positive_weight: float = 1.0,
        n_background: int = 1024,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.regularization = regularization
        self.rank = rank
        self.factorization = factorization
        self.positive_weight = positive_weight
        self.n_background = n_background
        self.random_state = random_state

    @property
    def scale_limits(self) -> ScaleLimits:
        """What the kernel bears, a ScaleLimits: one of distances sees no column but the largest."""
        return ScaleLimits(beside=0.03 if self.kernel == "rbf" else 0.0)

    def similarity(
        self, C: ArrayLike, D: ArrayLike, values: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None
    ) -> Embeddings:
        """Compute the cosines of the machines of embeddings.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.
        D : array-like of shape (m, n_features_out)
            Embeddings to compare with.
        values : tuple of array-like, default=None
            Kernel values k(c, d) (n, m), k(c, c) (n,) and k(d, d) (m,), which embeddings of a precomputed kernel do not
            contain; without them images are replaced by their projections on the span of the negatives.

        Returns
        -------
        ndarray of shape (n, m), float32
            Similarities.
        """
        C, D = self._check_embeddings(C, "C"), self._check_embeddings(D, "D")
        both = KernelEmbeddings(C, *self._layout()), KernelEmbeddings(D, *self._layout())
        kernel = None if self._is_precomputed() else self._kernel()
        return kernel_similarity(*both, find_values(kernel, *both, values))

    def background_similarity(self, C: ArrayLike) -> Embeddings:
        """Compute the similarity of embeddings and the background set, each of which is left out of the fit in turn.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.

        Returns
        -------
        ndarray of shape (n, n_background), float32
            Leave-one-out similarities; an approximation for an incomplete factor, which is not updated.
        """
        C = self._check_embeddings(C, "C")
        read = KernelEmbeddings(C, *self._layout())
        pulls = np.concatenate([np.zeros((0, len(self.background_))), *thread_map(self._pulls(read), read.tiles())])
        return leave_one_out_cosines(self.similarity(C, self.background_), pulls)

    def classifier(self, x: ArrayLike) -> KernelClassifier:
        """Return the machine of one image.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            Vector of the image.

        Returns
        -------
        KernelClassifier
            The machine, with its bias and `decision_function`.
        """
        rows = self._round(one_or_many(self, x))
        if np.ndim(x) != 1:
            raise ValueError(f"x must be one image of {self.n_features_in_} numbers; got shape {np.shape(x)}")
        V, slopes = self._project(rows)
        rest = float(self._residual_squares(rows, V)[0])
        machine = scale_and_bias(slopes[0], V[0], self.mean_, rest, self.regularization_, self.positive_weight)
        return KernelClassifier(slopes[0], V[0], *machine, partial(self._project_blocks, rows, V[0]))

    def default_grid(self, negatives: Matrix) -> dict[str, list[Any]]:
        """Propose values of gamma and regularization for the scale of the negatives.

        Parameters
        ----------
        negatives : Matrix of shape (n_negatives, n_features)
            Vectors of unrelated images.

        Returns
        -------
        dict of str to list
            Values by parameter.
        """
        self._check_settings()
        if self.kernel == "precomputed":
            return regularization_grid(float(np.abs(PrecomputedGram(negatives).diagonal()).mean()))
        return kernel_grid(exemplar_kernel(self.kernel, auto_gamma(self.kernel, self.gamma, negatives)), negatives)

    def trials(self, negatives: Any, settings: Sequence[dict[str, Any]]) -> Iterator["KernelSquareLossExemplar"]:
        """Fit a copy with each of several settings; consecutive ones that differ in lambda alone share a factorization.

        Parameters
        ----------
        negatives : array-like, Matrix or path of shape (n_negatives, n_features)
            Vectors of unrelated images.
        settings : sequence of dict
            Parameters of each copy.
        """
        matrix = open_examples(clone(self), negatives, reset=True)
        before: Any = None
        with one_blas_thread():
            for setting in settings:
                trial = clone(self).set_params(**setting, n_background=1)
                trial._check_settings()
                trial.n_features_in_ = matrix.shape[1]
                if (terms := (trial.kernel, trial.gamma, trial.rank, trial.factorization)) != before:
                    before, moments = terms, trial._factor_moments(matrix)
                trial._learn(matrix, moments)
                trial._finish(matrix)
                yield trial

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder to a safetensors file, which `manyclass.load` reads; its kernel must be a name.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        check_is_fitted(self)
        if callable(self.kernel) or callable(self.kernel_["name"]):
            raise TypeError(
                "kernel must be a name for the encoder to be saved; got a function: use kernel='precomputed' instead"
            )
        super().save(path)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved encoder must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        m, r, d = len(fitted["positions_"]), fitted["rank_"], fitted["n_features_in_"]
        rows = {} if fitted["kernel_"]["name"] == "precomputed" else {"landmarks_": (m, d)}
        b, p = len(fitted["background_"]), 2 * r + (d if rows else 0)
        return {
            "positions_": (m,), "coordinates_": (m, r), "slopes_": (m, r), "mean_": (r,), "slope_offset_": (r,),
            "background_": (b, p), "background_pull_": (b, r + 1), **rows,
        }  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_settings(self) -> None:
        if not callable(self.kernel):
            check_one_of(self.kernel, "kernel", KERNELS)
        check_factorization(self.factorization, self.rank)
        for name in ("gamma", "regularization"):
            rule = "a finite number above 0, or 'auto'"
            check_number(getattr(self, name), name, rule, above=0, besides=("auto",))
        check_positive(self.positive_weight, "positive_weight")

    def _fit(self, matrix: Matrix) -> None:
        self._learn(matrix, self._factor_moments(matrix))

    def _factor_moments(self, matrix: Matrix) -> FactorMoments:
        self.kernel_ = {"name": self.kernel, "gamma": auto_gamma(self.kernel, self.gamma, matrix)}
        gram = PrecomputedGram(matrix) if self._is_precomputed() else GramOfRows(matrix, self._kernel())
        return factor_moments(factorize(gram, self.factorization, self.rank))

    def _learn(self, matrix: Matrix, moments: FactorMoments) -> None:
        self.kernel_ = {"name": self.kernel, "gamma": auto_gamma(self.kernel, self.gamma, matrix)}
        given = self.regularization
        self.regularization_ = auto_regularization(moments.covariance) if isinstance(given, str) else float(given)
        self.positions_, self.coordinates_, self.residual_, self.mean_, _ = moments
        self.rank_ = len(self.mean_)
        self.__dict__.pop("landmarks_", None)
        if not self._is_precomputed():
            self.landmarks_ = to_float32(matrix.rows(self.positions_))
        self.slopes_, self.slope_offset_ = solve_kernel(moments, self.regularization_)

    def _embedding_size(self) -> int:
        return 2 * self.rank_ + (0 if self._is_precomputed() else self.n_features_in_)

    def _encode(self, rows: Doubles) -> Doubles:
        rows = self._round(rows)
        V, slopes = self._project(rows)
        return np.concatenate([slopes, V] if self._is_precomputed() else [rows, slopes, V], axis=1)

    def _round(self, rows: Doubles) -> Doubles:
        """Rows with the values that an embedding will hold."""
        return rows if self._is_precomputed() else round_to_float32(rows)

    def _project(self, rows: Doubles) -> tuple[Doubles, Doubles]:
        """Coordinates (m, r) of rows, and the slopes (m, r) of their machines."""
        kernel = None if self._is_precomputed() else self._kernel()
        K = kernel(rows, self.landmarks_.astype(np.float64)) if kernel else rows[:, self.positions_]
        slopes = K @ self.slopes_ - self.slope_offset_
        # What rounding leaves of zero is no direction: that of an image which is the only negative, say.
        slopes[np.abs(slopes) <= negligible(8 * len(self.slopes_), 1.0) * np.abs(self.slope_offset_)] = 0
        return K @ self.coordinates_, slopes

    def _project_blocks(self, x: Doubles, v: Doubles, Z: Any) -> Iterator[tuple[Doubles, Doubles]]:
        """Of rows Z, a block at a time, coordinates (n, r) and kernel values (n,) with x, whose coordinates are v."""
        for start, block in open_features(self, Z).blocks(TILE):
            check_finite(block, "Z", start)
            rows = self._round(block.astype(np.float64))
            V, _ = self._project(rows)
            yield V, V @ v if self._is_precomputed() else self._kernel()(rows, x)[:, 0]

    def _prepare_leave_one_out(self, rows: Doubles, n: int) -> None:
        rows = self._round(rows)
        V, slopes = self._project(rows)
        around = (V - self.mean_) / self.regularization_
        weights = leave_one_out_weight(np.einsum("ij,ij->i", around, slopes), n) * self._lengths(rows, V, slopes)
        self.background_pull_ = weights[:, None] * np.column_stack([around, np.ones(len(V))])

    def _pulls(self, C: KernelEmbeddings) -> Callable[[slice], Doubles]:
        """d'h + 1 over the length of h: the mean of the negatives moves as well when one is left out."""

        def pulls(at: slice) -> Doubles:
            slopes = C.slopes(at)
            lengths = self._lengths(C.images(at), C.coordinates(at), slopes)[:, None]
            H = np.column_stack([slopes, np.ones(len(slopes))])
            return np.divide(H, lengths, out=np.zeros_like(H), where=lengths > 0) @ self.background_pull_.T

        return pulls

    def _lengths(self, rows: Doubles, V: Doubles, slopes: Doubles) -> Doubles:
        """|h| (m,) of the machines of rows, times lambda."""
        squares = np.square(slopes).sum(axis=1) + self._residual_squares(rows, V)
        return np.asarray(np.sqrt(np.maximum(squares, 0)))

    def _residual_squares(self, rows: Doubles, V: Doubles) -> Doubles:
        """u^2 (m,) of rows with these coordinates."""
        if self._is_precomputed():
            return np.zeros(len(V))
        return residual_squares(self._kernel().diagonal(rows), V, self._layout()[1])

    def _layout(self) -> tuple[int, bool]:
        """The rank, and whether coordinates are projections: of a pseudoinverse, if the factor leaves nothing out."""
        return self.rank_, self.factorization != PINV or self.residual_ <= negligible(len(self.positions_), 1.0)

    def _is_precomputed(self) -> bool:
        return bool(self.kernel_["name"] == "precomputed")

    def _kernel(self) -> Kernel:
        return exemplar_kernel(**self.kernel_)
