"""ProductQuantizer: one byte for every block of columns.

The codebooks are found by k-means in every block, by faiss where it is installed, else by scikit-learn. Entry 0 of
every codebook is the zero vector, so that a block of zeros decodes to zeros. Where a block has fewer different values
than there are entries, the entries are those values and nothing is lost.
"""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import as_native, check_count, check_finite
from manyclass._core.parallel import get_threads, one_blas_thread
from manyclass._core.typing import Floats, Singles
from manyclass.data.matrix import Matrix
from manyclass.data.quantized import QuantizedMatrix
from manyclass.data.quantizer import Codes, Quantizer
from manyclass.data.rotation import ROTATIONS, MixedColumns, Permutation, Rotation

# Bytes of the sample that are held in memory at a time while codebooks are fitted.
_SAMPLE_BYTES = 256 << 20


class ProductQuantizer(Quantizer):
    """Replace every block of columns by the number of its nearest centroid.

    A row of d numbers becomes ceil(d / block) bytes: 32 times smaller than float32 with blocks of 8. Blocks of zeros
    decode to exact zeros.

    Parameters
    ----------
    block : int, default=8
        Columns per byte.
    n_centroids : int, default=256
        Entries of each codebook, from 2 to 256; the first is the zero vector.
    rotation : {None, "permutation", "orthogonal"}, default=None
        "permutation" deals out the columns so that all blocks vary alike; "orthogonal" applies a fixed random rotation,
        at a cost linear in d.
    sample : int, default=16384
        The largest number of rows on which codebooks are fitted.
    iterations : int, default=20
        Iterations of k-means.
    random_state : None, int or numpy.random.Generator, default=None
        The source of the sample, the rotation and the first centroids.

    Attributes
    ----------
    codebooks_ : ndarray of float32 of shape (n_blocks, n_centroids, block)
        The centroids.
    rotation_ : object or None
        The fitted rotation.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((1000, 64), dtype=np.float32)
    >>> pq = ProductQuantizer(block=4, random_state=0).fit(X)
    >>> Xq = pq.encode(X)
    >>> Xq.shape, Xq.codes.shape, pq.codebooks_.shape
    ((1000, 64), (1000, 16), (16, 256, 4))
    """

    kind = "product"

    def __init__(
        self,
        block: int = 8,
        n_centroids: int = 256,
        rotation: str | None = None,
        sample: int = 1 << 14,
        iterations: int = 20,
        random_state: Any = None,
    ):
        self.block = check_count(block, "block")
        self.n_centroids = check_count(n_centroids, "n_centroids", 2, 256)
        self.sample = check_count(sample, "sample")
        self.iterations = check_count(iterations, "iterations")
        if rotation is not None and rotation not in ROTATIONS:
            raise ValueError(f"rotation must be None, {' or '.join(map(repr, ROTATIONS))}; got {rotation!r}")
        self.rotation = rotation
        self.random_state = random_state

    codebooks_: NDArray[np.float32]  # (blocks, n_centroids, block)
    _n_features: int
    rotation_: Rotation | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the codebooks on a sample of the rows of X.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        ProductQuantizer
            The quantizer itself.
        """
        from manyclass.data.readers.as_matrix import as_matrix

        X = as_matrix(X)
        n, d = X.shape
        if not n or not d:
            raise ValueError(f"X must have at least one row and one column; got shape {X.shape}")
        rng = np.random.default_rng(self.random_state)
        index = np.sort(rng.choice(n, min(n, self.sample), replace=False))
        rotation = self._fit_rotation(X, index, rng)
        seeds = rng.integers(1 << 31, size=-(-d // self.block))
        codebooks = [
            fit_codebooks(columns, self.block, self.n_centroids, self.iterations, seeds[q : q + blocks])
            for q, blocks, columns in self._panels(X, index, rotation)
        ]
        self._set(np.concatenate(codebooks), rotation, int(d))
        return self

    def _set(self, codebooks: NDArray[np.float32], rotation: Rotation | None, d: int) -> None:
        # Matrices and stores share the codebooks.
        codebooks.flags.writeable = False
        self.codebooks_, self.rotation_, self._n_features = codebooks, rotation, d

    def _fit_rotation(self, X: Matrix, index: NDArray[np.intp], rng: np.random.Generator) -> Rotation | None:
        if self.rotation == "permutation":
            return Permutation.fitted(_variances(X, index), self.block)
        return MixedColumns.random(X.shape[1], rng) if self.rotation == "orthogonal" else None

    def _panels(self, X: Matrix, index: NDArray[np.intp], rotation: Rotation | None) -> Iterator[Any]:
        """(first block, blocks, sample) a group of columns at a time: a sample of long rows does not fit in memory."""
        d = X.shape[1]
        width = max(1, _SAMPLE_BYTES // (4 * len(index) * self.block)) * self.block
        for j in range(0, d, width):
            columns = np.empty((len(index), min(width, d - j)), np.float32)
            for at, rows in _sampled(X, index):
                columns[at] = _rotated(rows, rotation)[:, j : j + width]
            yield j // self.block, -(-columns.shape[1] // self.block), columns

    @property
    def n_features(self) -> int:
        self._check_fitted()
        return self._n_features

    @property
    def code_size(self) -> int:
        self._check_fitted()
        return len(self.codebooks_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "codebooks_"):
            raise ValueError("this ProductQuantizer has no codebooks yet; call fit first")

    def encode_rows(self, rows: Floats, first: int = 0) -> Codes:
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, as in fit; got shape {rows.shape}")
        x = as_native(_rotated(_as_float32(rows), self.rotation_))
        codes = np.empty((len(x), self.code_size), np.uint8)
        bad = _native.pq_encode(x, self.codebooks_, codes, get_threads())
        if bad < len(x):
            raise ValueError(
                f"X must hold finite numbers below 1e18; row {first + bad} has NaN, infinity or a larger one"
            )
        return codes

    def matrix(self, codes: Codes) -> QuantizedMatrix:
        return QuantizedMatrix(codes, self)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        self._check_fitted()
        settings = {
            "block": self.block,
            "n_centroids": self.n_centroids,
            "n_features": self.n_features,
            "rotation": self.rotation,
        }
        return settings, {"codebooks": self.codebooks_, **(self.rotation_.arrays() if self.rotation_ else {})}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        self = cls(settings["block"], settings["n_centroids"], settings["rotation"])
        d = check_count(settings["n_features"], "n_features")
        codebooks = arrays["codebooks"]
        shape = (-(-d // self.block), self.n_centroids, self.block)
        if codebooks.shape != shape or codebooks.dtype != np.float32:
            raise ValueError(f"codebooks must be float32 of shape {shape}; got {codebooks.dtype} of {codebooks.shape}")
        check_finite(codebooks, "codebooks")
        rotation = ROTATIONS[self.rotation].from_arrays(arrays, d) if self.rotation else None
        self._set(np.array(codebooks, order="C"), rotation, d)
        return self

    def __repr__(self) -> str:
        return f"ProductQuantizer(block={self.block}, n_centroids={self.n_centroids}, rotation={self.rotation!r})"


def _sampled(X: Matrix, index: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """(places in the sample, rows) of the sampled rows, some megabytes at a time."""
    size = max(1, (32 << 20) // (8 * X.shape[1]))
    for i in range(0, len(index), size):
        at = slice(i, min(len(index), i + size))
        rows = _as_float32(X.rows(index[at]))
        check_finite(rows, "X", index[at])
        X.release()
        yield at, rows


def _as_float32(rows: Floats) -> NDArray[np.float32]:
    """Numbers beyond float32 become infinity, which is refused where it is met."""
    with np.errstate(over="ignore"):
        return rows.astype(np.float32, copy=False)


def _rotated(rows: NDArray[np.float32], rotation: Rotation | None) -> Floats:
    return rows if rotation is None else rotation.forward(rows)


def _variances(X: Matrix, index: NDArray[np.intp]) -> NDArray[np.float64]:
    """The variance of every column of the sample, from sums of what is left when the first row is taken away."""
    sums, squares, first = np.zeros(X.shape[1]), np.zeros(X.shape[1]), X.rows(index[:1])[0]
    for _, rows in _sampled(X, index):
        for start in range(0, len(rows), 256):
            shifted = rows[start : start + 256].astype(np.float64) - first
            sums += shifted.sum(axis=0)
            squares += np.einsum("ij,ij->j", shifted, shifted)
    return np.maximum(squares / len(index) - (sums / len(index)) ** 2, 0)


KMeans = Callable[[Singles, int, int, int], Singles]  # (points, centroids, iterations, seed) -> centroids


def fit_codebooks(X: Singles, block: int, n_centroids: int, iterations: int, seeds: NDArray[np.int64]) -> Singles:
    """Codebooks (blocks, n_centroids, block) for a sample X (m, d); the last block is padded with zeros.

    One seed per block; each block is fitted by one thread, so that the threads do not change the result.
    """
    d = X.shape[1]
    blocks = len(seeds)
    codebooks = np.zeros((blocks, n_centroids, block), np.float32)
    kmeans = _kmeans()

    def fit_block(q: int) -> None:
        points = X[:, q * block : min(d, (q + 1) * block)]
        codebooks[q, 1:, : points.shape[1]] = _centroids(points, n_centroids - 1, iterations, int(seeds[q]), kmeans)

    # The settings of BLAS and of warnings belong to the whole process, so they are made here and not by the workers.
    with one_blas_thread(), warnings.catch_warnings(), ThreadPoolExecutor(min(get_threads(), blocks)) as pool:
        warnings.simplefilter("ignore")  # a sample need not be clustered to the end
        list(pool.map(fit_block, range(blocks)))
    return codebooks


def _centroids(points: Singles, k: int, iterations: int, seed: int, kmeans: KMeans) -> Singles:
    """k centroids of the points that are not zero; fewer different points are kept as they are, and zeros follow."""
    points = np.ascontiguousarray(points[points.any(axis=1)])
    different = _different(points)
    if len(different) <= k:
        return np.concatenate([different, np.zeros((k - len(different), points.shape[1]), np.float32)])
    # Centered and of size one: float32 distances lose nothing to a large offset or an odd unit.
    center = points.mean(axis=0, dtype=np.float64)
    scale = float(np.abs(points - center).max())
    unit = ((points - center) / scale).astype(np.float32)
    centroids: Singles = (kmeans(unit, k, iterations, seed) * scale + center).astype(np.float32)
    return centroids


def _different(points: Singles) -> Singles:
    """The rows without repetitions, in a fixed order."""
    if not len(points):
        return points
    points = points + np.float32(0)  # -0 and 0 are one value
    rows = points.view(np.dtype((np.void, points.itemsize * points.shape[1]))).ravel()
    return points[np.sort(np.unique(rows, return_index=True)[1])]


def _kmeans() -> KMeans:
    # Not that of visual vocabularies: 255 centroids of 65,536 x 8 take faiss 0.28 s of one thread, that 0.81 s and
    # scikit-learn 2.1 s. So codebooks of one seed differ between a machine that has faiss and one that has not.
    return _faiss_kmeans if find_spec("faiss") else _sklearn_kmeans


def _faiss_kmeans(points: Singles, k: int, iterations: int, seed: int) -> Singles:
    import faiss

    faiss.omp_set_num_threads(1)  # of this worker only
    width = points.shape[1]
    # faiss is about ten times slower below eight columns; columns of zeros change no distance.
    padded = np.zeros((len(points), max(width, 8)), np.float32)
    padded[:, :width] = points
    settings = faiss.ClusteringParameters()
    settings.niter, settings.seed = iterations, seed % (1 << 31)
    settings.min_points_per_centroid, settings.max_points_per_centroid = 1, len(points)
    clustering = faiss.Clustering(padded.shape[1], k, settings)
    clustering.train(padded, faiss.IndexFlatL2(padded.shape[1]))
    centroids: Singles = faiss.vector_to_array(clustering.centroids).reshape(k, -1)
    return centroids[:, :width]


def _sklearn_kmeans(points: Singles, k: int, iterations: int, seed: int) -> Singles:
    from sklearn.cluster import KMeans as Lloyd
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):  # of this worker only
        model: Any = Lloyd(k, init="random", n_init=1, max_iter=iterations, random_state=seed % (1 << 31))
        return np.asarray(model.fit(points).cluster_centers_, np.float32)
