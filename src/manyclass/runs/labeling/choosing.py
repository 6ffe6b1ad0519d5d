"""Which picture to ask for next, and why: query strategies of active learning.

    uncertain    margin sampling: the least difference of the two highest probabilities
    typical      coverage, as facility location has it: a picture stands for those near it that no label is near to
                 (typicality and coverage of TypiClust and ProbCover, without clusters or a radius)
    rare         a picture that is likely of a class with few labels
    wrong        a given label that held-out scores contradict
    random       by chance
    mixed        coverage where a picture counts by how much the model hesitates over it; one in five by chance

Each is a sequence of picks that goes on as long as anybody asks: a pick counts as labeled for those that follow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread
from manyclass._core.text import pluralize
from manyclass._core.typing import Doubles, Floats, Singles

CHOICES = ("mixed", "uncertain", "typical", "rare", "wrong")

REASONS = ("uncertain", "typical", "rare", "wrong", "random")

# How near stands for how much: exp(10 (cosine - 1)). With 20 in place of 10 Omniglot has 24.8 % in place of 26.2 after
# 500 labels, all of them chosen so, and one seed.
_NEARNESS = 10.0

_NOVEL = 0.02  # the share of pictures of classes not seen yet that is worth a look

_HESITATES = 0.5  # a difference of probabilities below which the model hesitates

COVERED = (
    3000  # pictures among which those are chosen that stand for others: of so many the nearness of all pairs is kept
)

_MOST = 100_000  # products of nearness that are looked at again at a time, of a candidate and a row each


@dataclass(frozen=True)
class Pick:
    """A candidate by its number, why it is next, and the same in words."""

    number: int
    reason: str
    words: str


@dataclass(frozen=True)
class Candidates:
    """Pictures among which to choose, and what is known of them.

    Parameters
    ----------
    Z : ndarray of shape (m, p)
        Their coordinates, of unit length.
    labeled : ndarray of shape (n, p)
        Those of pictures that have labels.
    probabilities : ndarray of shape (m, k) or None
        What the model says of the candidates; None without a model.
    classes : sequence of str
        The names of its k classes.
    counts : ndarray of shape (k,)
        How many labels each of them has.
    """

    Z: Singles
    labeled: Singles
    probabilities: Floats | None
    classes: Sequence[str]
    counts: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.Z)

    def margins(self) -> Doubles:
        """Of each the difference of the two highest probabilities; 0 without a model."""
        P = self.probabilities
        if P is None or not P.shape[1]:
            return np.zeros(len(self))
        best = np.sort(P, axis=1)[:, -2:].astype(np.float64)
        return best[:, -1] - (best[:, 0] if P.shape[1] > 1 else 0.0)


def uncertain_picks(among: Candidates) -> Iterator[Pick]:
    """The least margin first; without a model the most typical."""
    if among.probabilities is None:
        yield from typical_picks(among)
        return
    for number in np.argsort(among.margins(), kind="stable"):
        yield Pick(int(number), "uncertain", _hesitation(among, int(number)))


def typical_picks(among: Candidates) -> Iterator[Pick]:
    """The one first that is near to the most pictures that no label is near to."""
    for number in covering(among, np.ones(len(among))):
        yield Pick(number, "typical", _TYPICAL)


def learning_picks(among: Candidates) -> Iterator[Pick]:
    """The same, where pictures count by how much the model hesitates over them."""
    margins = among.margins()
    for number in covering(among, 1 - margins):
        hesitates = among.probabilities is not None and margins[number] < _HESITATES
        words = _hesitation(among, number) if hesitates else _TYPICAL
        yield Pick(number, "uncertain" if hesitates else "typical", words)


def rare_picks(among: Candidates) -> Iterator[Pick]:
    """Of classes with few labels the most likely pictures, one of each class in turn; without a model as `typical`.

    The rarest classes are those of which nothing has a label yet: while classes that were seen once tell that there are
    such, every other pick is one that is unlike all that has a label.
    """
    P = among.probabilities
    if P is None or not P.shape[1]:
        yield from typical_picks(among)
        return
    best = P.argmax(axis=1)
    sure = P[np.arange(len(P)), best]
    order = np.lexsort((-sure, best))
    sizes = np.bincount(best, minlength=P.shape[1])
    turn = np.empty(len(P), np.intp)  # of a picture among those of its class
    turn[order] = np.arange(len(P)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    known = np.lexsort((-sure, among.counts[best] + turn)).tolist()
    others = iter(covering(among, np.ones(len(among)))) if 1 - P.sum(axis=1).mean() > _NOVEL else iter(())
    taken: set[int] = set()
    for number in known:
        for one in (next((other for other in others if other not in taken), number), number):
            if one in taken:
                continue
            taken.add(one)
            count, name = int(among.counts[best[one]]), among.classes[best[one]]
            words = f"perhaps {name}: only {pluralize(count, 'picture')} of this class yet"
            yield Pick(one, "rare", words if one == number else "unlike what has a label: perhaps a class of its own")


def wrong_picks(probabilities: Floats, given: NDArray[np.intp], classes: Sequence[str]) -> Iterator[Pick]:
    """Labeled rows by what machines that have not seen their labels say (n, k), which contradicts them (n,)."""
    rows = np.arange(len(given))
    best, own = probabilities.argmax(axis=1), probabilities[rows, given]
    excess = probabilities[rows, best] - own
    for number in np.argsort(-excess, kind="stable"):
        if best[number] == given[number]:
            continue
        said, instead = classes[given[number]], classes[best[number]]
        yield Pick(int(number), "wrong", f"its label is {said}, but it looks like {instead}")


def covering(among: Candidates, weights: Doubles) -> Iterator[int]:
    """Numbers of candidates, the one first that adds most to sum_u weight_u max_x nearness(u, x), x labeled or picked.

    Of many candidates the first ones are compared with each other, and others when all of these were picked.
    """
    for start in range(0, len(among), COVERED):
        at = slice(start, start + COVERED)
        for number in _covering(among.Z[at], among.labeled, weights[at]):
            yield start + number


def _covering(Z: Singles, labeled: Singles, weights: Doubles) -> Iterator[int]:
    """What a pick adds never grows with later picks, so that only those whose last sum is high are added up again
    (lazy greedy, Minoux 1978).
    """
    m = len(Z)
    with one_blas_thread():
        N = _nearness(Z, Z)
        covered = np.zeros(m, np.float32)
        for at in range(0, len(labeled), 1024):
            np.maximum(covered, _nearness(Z, labeled[at : at + 1024]).max(axis=1), out=covered)
    h = weights.astype(np.float32)
    step = max(1, _MOST // max(1, m))
    gains = np.zeros(m, np.float32)
    for start in range(0, m, step):
        gains[start : start + step] = _gains(N, np.arange(start, min(m, start + step)), covered, h)
    left = np.ones(m, bool)
    while left.any():
        fresh = np.zeros(m, bool)
        while not fresh[best := int(np.where(left, gains, -1).argmax())]:
            again = np.argsort(np.where(left & ~fresh, -gains, 1))[:step]
            again = again[left[again] & ~fresh[again]]
            gains[again] = _gains(N, again, covered, h)
            fresh[again] = True
        left[best] = False
        np.maximum(covered, N[best], out=covered)
        yield best


def _nearness(Z: Singles, others: Singles) -> Singles:
    N: Singles = Z @ others.T
    N -= 1
    N *= np.float32(_NEARNESS)
    return np.exp(N, out=N)


def _gains(N: Singles, numbers: NDArray[np.intp], covered: Singles, h: Singles) -> Singles:
    return np.maximum(N[numbers] - covered, 0) @ h  # type: ignore[no-any-return]


_TYPICAL = "typical of many pictures without a label"


def _hesitation(among: Candidates, number: int) -> str:
    assert among.probabilities is not None
    row = among.probabilities[number]
    best = np.argsort(-row, kind="stable")[:2]
    names = [among.classes[place] for place in best]
    return f"the model hesitates between {names[0]} and {names[1]}" if len(names) > 1 else "like nothing yet labeled"
