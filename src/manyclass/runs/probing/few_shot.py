"""Few shots: how accurate classes of so many examples are, over several draws of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import SettingsError
from manyclass._core.typing import Labels
from manyclass.runs.probing.probe_data import ProbeTask
from manyclass.runs.probing.probe_methods import METHODS

SHOT_METHODS = ("means", "closed")  # which learn in one pass

DRAWS = 5


def check_shots(shots: str | Sequence[int] | None) -> list[int]:
    """Numbers of examples, ascending and each once; none for None.

    >>> check_shots("10,1,2,2")
    [1, 2, 10]
    """
    if shots is None:
        return []
    words = shots.split(",") if isinstance(shots, str) else list(shots)
    try:
        numbers = sorted({int(word) for word in words})
    except (TypeError, ValueError):
        numbers = [0]
    if not numbers or numbers[0] < 1:
        raise SettingsError(f"`shots` must be whole numbers from 1 on, such as 1,2,5,10; got {shots}")
    return numbers


def draw_shots(y: Labels, shots: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """So many rows of every class, or all it has, in ascending order.

    >>> draw_shots(np.array([0, 0, 0, 1]), 2, np.random.default_rng(0)).tolist() in ([0, 1, 3], [0, 2, 3], [1, 2, 3])
    True
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    counts = np.bincount(y)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < shots])


def learn_from_shots(
    task: ProbeTask, y_test: Labels, shots: Sequence[int], report: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Top-1 of each method by the number of examples of a class: the mean of several draws, and its 95 % interval.

    The interval is Student's, over the draws; the rows to judge by are the same in all of them.
    """
    methods = [one for one in METHODS if one.name in SHOT_METHODS]
    found: list[dict[str, Any]] = []
    for number in shots:
        shares = np.empty((len(methods), DRAWS))
        for draw in range(DRAWS):
            part = task.taking(draw_shots(task.y, number, np.random.default_rng([task.seed, draw])))
            for i, method in enumerate(methods):
                shares[i, draw] = float(np.mean(method.answer(part).top[:, 0] == y_test))
            report(len(found) // len(methods) * DRAWS + draw + 1, len(shots) * DRAWS)
        found += [
            {"shots": number, "name": one.name, "title": one.title, "top_1": mean_of_draws(values)}
            for one, values in zip(methods, shares, strict=True)
        ]
    return found


def mean_of_draws(shares: NDArray[np.float64]) -> dict[str, float]:
    """The mean with its interval by Student's t, within 0 and 1.

    >>> found = mean_of_draws(np.array([0.5, 0.6, 0.7]))
    >>> [round(found[key], 2) for key in ("value", "low", "high")]
    [0.6, 0.35, 0.85]
    """
    from scipy.special import stdtrit

    mean, n = float(shares.mean()), len(shares)
    half = float(stdtrit(n - 1, 0.975) * shares.std(ddof=1) / np.sqrt(n))
    return {"value": mean, "low": max(0.0, mean - half), "high": min(1.0, mean + half)}
