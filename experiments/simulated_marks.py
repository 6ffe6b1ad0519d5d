"""People who search by marks, simulated: each round they mark the best images that they have not marked yet.

Ways to learn from marks are functions of a search and its marks that score all images of a gallery.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.sources import Labels, Rows
from manyclass.evaluation import Truth, average_precisions

PER_ROUND = 5  # images that are marked before the next ranking
OF_WORLD = 1000  # negatives that a support vector machine gets beside the marks

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class MarkedSearch:
    """A gallery (n, d) of unit rows with labels, of which some may be marked, a world (m, d), and queries.

    Average precision is of the images that are never marked. `queries` are rows of the gallery that may be marked.
    """

    X: Rows
    y: Labels
    markable: NDArray[np.bool_]
    world: Rows
    queries: NDArray[np.intp]
    feedback: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feedback", mc.RelevanceFeedback().fit(self.world))

    def average_precision(self, scores: Scores, label: int) -> float:
        """In percent, of the images that are never marked."""
        kept = ~self.markable
        truth = Truth.from_labels(np.array([label]), self.y[kept])
        return 100 * float(average_precisions(scores[None, kept], truth, "revisited")[0])


@dataclass(frozen=True)
class Marks:
    """Rows of the gallery that are marked as wanted, the query first, and as unwanted."""

    wanted: list[int]
    unwanted: list[int]

    def more(self, search: MarkedSearch, scores: Scores, label: int) -> "Marks":
        """With the best images that are not marked yet, as somebody marks them who looks for a label."""
        rest = search.markable.copy()
        rest[[*self.wanted, *self.unwanted]] = False
        best = np.flatnonzero(rest)[np.argsort(-scores[rest], kind="stable")][:PER_ROUND].tolist()
        right = [i for i in best if search.y[i] == label]
        return Marks([*self.wanted, *right], [*self.unwanted, *(i for i in best if i not in right)])


Way = Callable[[MarkedSearch, Marks], Scores]


def query_alone(search: MarkedSearch, marks: Marks) -> Scores:
    """Similarity to the query, whatever is marked."""
    return search.X @ search.X[marks.wanted[0]]


def mean_of_positives(search: MarkedSearch, marks: Marks) -> Scores:
    """Similarity to the mean of what is wanted."""
    return search.X @ search.X[marks.wanted].mean(axis=0)


def twice_the_mean(search: MarkedSearch, marks: Marks) -> Scores:
    """The mean of what is wanted twice, less that of what is not: `average_vector` of qdrant."""
    mean = search.X[marks.wanted].mean(axis=0)
    away = search.X[marks.unwanted].mean(axis=0) if marks.unwanted else mean
    return search.X @ (2 * mean - away)


def best_score(search: MarkedSearch, marks: Marks) -> Scores:
    """The best similarity to one that is wanted, or minus the square of that to one that is not: `best_score`."""
    wanted = (search.X @ search.X[marks.wanted].T).max(axis=1)
    if not marks.unwanted:
        return wanted
    unwanted = (search.X @ search.X[marks.unwanted].T).max(axis=1)
    return np.where(wanted > unwanted, wanted, -np.square(unwanted))


def svm_of_marks(search: MarkedSearch, marks: Marks) -> Scores:
    """scikit-learn's LinearSVC of the marks; the mean of what is wanted while nothing is unwanted."""
    return _svm(search, marks, search.X[marks.unwanted]) if marks.unwanted else mean_of_positives(search, marks)


def svm_with_world(search: MarkedSearch, marks: Marks) -> Scores:
    """The same, with images of the world as further negatives."""
    drawn = np.random.default_rng(0).permutation(len(search.world))[:OF_WORLD]
    return _svm(search, marks, np.vstack([search.X[marks.unwanted], search.world[drawn]]))


def _svm(search: MarkedSearch, marks: Marks, negatives: Rows) -> Scores:
    from sklearn.svm import LinearSVC

    wanted = search.X[marks.wanted]
    y = np.repeat([1, 0], [len(wanted), len(negatives)])
    machine = LinearSVC(class_weight="balanced", random_state=0).fit(np.vstack([wanted, negatives]), y)
    return search.X @ machine.coef_[0].astype(np.float32)


def square_loss(search: MarkedSearch, marks: Marks) -> Scores:
    """`RelevanceFeedback` against the world."""
    return search.X @ search.feedback.query(search.X[marks.wanted], search.X[marks.unwanted]).direction


OURS = "square loss against the world"
WAYS: dict[str, Way] = {
    "query alone": query_alone,
    "mean of positives": mean_of_positives,
    "2 positives - negatives": twice_the_mean,
    "best score": best_score,
    "SVM on marks": svm_of_marks,
    f"SVM on marks and {OF_WORLD:,} of the world": svm_with_world,
    OURS: square_loss,
}


def simulate(search: MarkedSearch, way: Way, after: Sequence[int]) -> tuple[NDArray[np.float64], list[float]]:
    """Average precisions (queries, len(after)) after so many marks, and milliseconds of a core of every round."""
    found, times = np.full((len(search.queries), len(after)), np.nan), []
    for i, query in enumerate(search.queries.tolist()):
        marks, label = Marks([query], []), int(search.y[query])
        for given in range(0, max(after) + 1, PER_ROUND):
            began = process_time()
            scores = way(search, marks)
            times.append(1000 * (process_time() - began))
            if given in after:
                found[i, after.index(given)] = search.average_precision(scores, label)
            marks = marks.more(search, scores, label)
    return found, times


def split_search(
    X: Rows, y: Labels, searched: NDArray[np.bool_], world: Rows | None, per_label: int, seed: int = 0
) -> MarkedSearch:
    """Half of the images of every label that is searched may be marked, and some of these ask; the world is the rest.

    Labels of fewer than four images are left out.
    """
    rng = np.random.default_rng(seed)
    rows, markable, queries = [], [], []
    for label in np.unique(y[searched]):
        some = rng.permutation(np.flatnonzero(searched & (y == label)))
        if len(some) < 4:
            continue
        half = (len(some) + 1) // 2
        queries += [len(rows) + i for i in range(min(per_label, half))]
        rows += some.tolist()
        markable += [True] * half + [False] * (len(some) - half)
    others = X[~searched] if world is None else world
    return MarkedSearch(X[rows], y[rows], np.array(markable), others, np.array(queries, np.intp))
