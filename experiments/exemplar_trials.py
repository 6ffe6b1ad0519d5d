"""The methods of Rezende et al. (CVPR 2017), each with as many settings, and how well each setting finds.

Settings are chosen on one half of the queries and judged on the other, both ways, so that every query is judged.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.retrieval_sources import Search
from experiments.sources import unit
from experiments.verdicts import Interval, over_queries

SETTINGS = 8  # of every method that has any
STRENGTHS = np.logspace(-5, 0.25, SETTINGS)  # of the mean square of the negatives about their mean
KERNEL_STRENGTHS = np.logspace(-4.5, 0, 4)  # of k(x, x), for each gamma
MIDDLE = slice(1, 2)  # one gamma, for methods of 4 settings beside those of FEW_STRENGTHS
FEW_STRENGTHS = STRENGTHS[1::2]
STEPS = 20_000  # of an exemplar SVM, 1.33 for each negative; the paper measures time with 1.66
ALIKE = 5  # queries that follow one another and ask for the same: a cover, a class, a stretch of the corridor

Scores = NDArray[np.float32]
Method = Callable[[Search], Iterator[Scores]]


class Tried(NamedTuple):
    """Average precisions (settings, queries)."""

    precisions: Any

    def judged(self) -> Any:
        """Of every query (queries,), by the setting that is best for the other half of them.

        >>> Tried(np.array([[0.9, 0.8, 0.1, 0.2], [0.5, 0.5, 0.7, 0.7]])).judged()
        array([0.5, 0.5, 0.1, 0.2])
        """
        P = np.asarray(self.precisions)
        middle = P.shape[1] // 2
        first, second = (int(np.nanmean(half, axis=1).argmax()) for half in (P[:, :middle], P[:, middle:]))
        return np.concatenate([P[second, :middle], P[first, middle:]])

    @property
    def mean(self) -> float:
        """Over the queries, as judged."""
        return float(np.nanmean(self.judged()))


def tried(search: Search, method: Method) -> Tried:
    """What every setting of a method gives every query."""
    found = [mc.evaluation.average_precisions(S, search.truth, search.protocol) for S in method(search)]
    return Tried(np.stack(found))


def compared(a: Tried, b: Tried) -> Interval:
    """How much more precise a is than b, by bootstrap over groups of queries that ask for the same."""
    differences = a.judged() - b.judged()
    padded = np.full(-(-len(differences) // ALIKE) * ALIKE, np.nan)
    padded[: len(differences)] = differences
    groups = padded.reshape(-1, ALIKE)
    groups = groups[~np.isnan(groups).all(axis=1)]
    return over_queries(np.nanmean(groups, axis=1))


def features(search: Search) -> Iterator[Scores]:
    """Cosines of the features as they are."""
    yield search.queries @ search.database.T


def whitened(search: Search) -> Iterator[Scores]:
    """Whitened principal components, by their number: the first of all of them, made of unit length again."""
    encoder = mc.WhitenedPCA(n_components=None, n_background=1).fit(search.negatives)
    Q, D = _embedded(search, encoder)
    for p in np.unique(np.geomspace(min(32, Q.shape[1]), Q.shape[1], SETTINGS).astype(int)):
        yield unit(Q[:, :p]) @ unit(D[:, :p]).T


def lda(search: Search) -> Iterator[Scores]:
    """Discriminant analysis as published, in which there is nothing to choose."""
    yield scores(search, mc.ExemplarLDA(shrinkage=0, n_background=1).fit(search.negatives))


def svm(search: Search, strengths: Any = STRENGTHS) -> Iterator[Scores]:
    """Exemplar SVM, by the strength of its regularization."""
    encoder = mc.ExemplarSVM(n_steps=STEPS, n_background=1, random_state=0)
    yield from _by_settings(search, encoder, _times_square(search, strengths))


def slem(search: Search, strengths: Any = STRENGTHS) -> Iterator[Scores]:
    """Square-loss exemplar machines, by the strength of their regularization."""
    yield from _by_settings(search, mc.SquareLossExemplar(n_background=1), _times_square(search, strengths))


def kernel_slem(
    kernel: str, factorization: str = "cholesky", rank: int | None = None, gammas: slice = slice(0, 2)
) -> Method:
    """Kernel machines, by gamma, of which the library proposes three, and the strength of their regularization."""

    def method(search: Search) -> Iterator[Scores]:
        for trial in kernel_trials(search, kernel, factorization, rank, gammas):
            yield scores(search, trial)

    return method


def kernel_trials(search: Search, kernel: str, factorization: str, rank: int | None, gammas: slice) -> Iterator[Any]:
    """The same machines, fitted."""
    encoder = mc.KernelSquareLossExemplar(
        kernel, factorization=factorization, rank=rank, n_background=1, random_state=0
    )
    grid = encoder.default_grid(mc.as_matrix(search.negatives))
    # The last of the strengths that the library proposes is k(x, x).
    settings = [
        {"gamma": gamma, "regularization": float(strength) * grid["regularization"][-1]}
        for gamma in grid["gamma"][gammas]
        for strength in KERNEL_STRENGTHS
    ]
    return encoder.trials(search.negatives, settings)


def seconds(search: Search, encoder: Any, images: int = 200) -> tuple[float, float]:
    """Of the processor: to fit on the negatives, and for an image after that."""
    started = time.process_time()
    encoder.fit(search.negatives)
    fitted = time.process_time()
    some = search.queries[:images]
    encoder.transform(some)
    return fitted - started, (time.process_time() - fitted) / len(some)


def _times_square(search: Search, strengths: Any) -> list[dict[str, Any]]:
    square = float(search.negatives.var(axis=0, dtype=np.float64).sum())
    return [{"regularization": float(strength)} for strength in square * strengths]


def _by_settings(search: Search, encoder: Any, settings: list[dict[str, Any]]) -> Iterator[Scores]:
    for trial in encoder.trials(search.negatives, settings):
        yield scores(search, trial)


def scores(search: Search, encoder: Any) -> Scores:
    """Of all images of the database for every query (queries, images)."""
    found: Scores = encoder.similarity(*_embedded(search, encoder))
    return found


def _embedded(search: Search, encoder: Any) -> tuple[Any, Any]:
    """Embeddings of queries and database, which are made once where they are the same."""
    Q = encoder.transform(search.queries)
    return Q, Q if search.queries is search.database else encoder.transform(search.database)
