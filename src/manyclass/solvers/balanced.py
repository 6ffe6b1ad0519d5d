"""Examples drawn such that every class comes equally often."""

import numpy as np
from numpy.typing import NDArray


def balanced_places(y: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.intp]:
    """As many places in y as it has, in random order: every class that occurs as often as any other, but for one.

    An example comes again only after all others of its class; which are left out of a large class, and which classes
    come once more if the draws cannot be shared out evenly, is random.

    >>> y = np.array([0, 0, 0, 0, 0, 0, 1, 2])
    >>> sorted(y[balanced_places(y, np.random.default_rng(0))].tolist())
    [0, 0, 1, 1, 1, 2, 2, 2]
    """
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    _, counts = np.unique(y, return_counts=True)
    share, over = divmod(len(y), max(1, len(counts)))
    draws = np.full(len(counts), share)
    draws[rng.permutation(len(counts))[:over]] += 1
    turn = np.arange(len(y)) - np.repeat(np.cumsum(draws) - draws, draws)
    places = np.repeat(np.cumsum(counts) - counts, draws) + turn % np.repeat(counts, draws)
    return by_class[rng.permutation(places)]
