"""Codebooks of a product quantizer: k-means in every block of columns, by faiss where it is installed, else by
scikit-learn.

Entry 0 of every codebook is the zero vector, so that a block of zeros decodes to zeros. Where a block has fewer
different values than there are entries, the entries are those values and nothing is lost.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass._threads import get_threads

Vectors = NDArray[np.float32]
KMeans = Callable[[Vectors, int, int, int], Vectors]  # (points, centroids, iterations, seed) -> centroids


def fit_codebooks(X: Vectors, block: int, n_centroids: int, iterations: int, seeds: NDArray[np.int64]) -> Vectors:
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
    with one_thread(), warnings.catch_warnings(), ThreadPoolExecutor(min(get_threads(), blocks)) as pool:
        warnings.simplefilter("ignore")  # a sample need not be clustered to the end
        list(pool.map(fit_block, range(blocks)))
    return codebooks


def _centroids(points: Vectors, k: int, iterations: int, seed: int, kmeans: KMeans) -> Vectors:
    """k centroids of the points that are not zero; fewer different points are kept as they are, and zeros follow."""
    points = np.ascontiguousarray(points[points.any(axis=1)])
    different = _different(points)
    if len(different) <= k:
        return np.concatenate([different, np.zeros((k - len(different), points.shape[1]), np.float32)])
    # Centered and of size one: float32 distances lose nothing to a large offset or an odd unit.
    center = points.mean(axis=0, dtype=np.float64)
    scale = float(np.abs(points - center).max())
    unit = ((points - center) / scale).astype(np.float32)
    centroids: Vectors = (kmeans(unit, k, iterations, seed) * scale + center).astype(np.float32)
    return centroids


def _different(points: Vectors) -> Vectors:
    """The rows without repetitions, in a fixed order."""
    if not len(points):
        return points
    points = points + np.float32(0)  # -0 and 0 are one value
    rows = points.view(np.dtype((np.void, points.itemsize * points.shape[1]))).ravel()
    return points[np.sort(np.unique(rows, return_index=True)[1])]


def _kmeans() -> KMeans:
    return _faiss_kmeans if find_spec("faiss") else _sklearn_kmeans


def _faiss_kmeans(points: Vectors, k: int, iterations: int, seed: int) -> Vectors:
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
    centroids: Vectors = faiss.vector_to_array(clustering.centroids).reshape(k, -1)
    return centroids[:, :width]


def _sklearn_kmeans(points: Vectors, k: int, iterations: int, seed: int) -> Vectors:
    from sklearn.cluster import KMeans as Lloyd
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):  # of this worker only
        model: Any = Lloyd(k, init="random", n_init=1, max_iter=iterations, random_state=seed % (1 << 31))
        return np.asarray(model.fit(points).cluster_centers_, np.float32)
