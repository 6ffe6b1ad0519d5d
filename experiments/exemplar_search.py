"""How well an encoder finds: average precision, with the settings that are best on half of the queries."""

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import manyclass as mc
from experiments.retrieval_sources import Search

NEGATIVES = 2000  # of those that there are, unless an experiment says otherwise


class Method(NamedTuple):
    """An encoder, or None for the features as they are, and the settings to choose from; None for its own grid."""

    encoder: Any
    grid: dict[str, Any] | None = None


class Found(NamedTuple):
    """Average precisions of the queries to report, the encoder that was chosen, and what encoding took."""

    precisions: Any
    encoder: Any
    offline: float  # seconds of fit
    online: float  # seconds for an image

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.precisions))


def with_negatives(search: Search, n: int) -> Search:
    """With so many negatives at most; they come shuffled."""
    return search._replace(negatives=search.negatives[:n])


def precisions(search: Search, encoder: Any) -> Any:
    """The average precision of every query."""
    if encoder is None:
        scores = search.queries @ search.database.T
    else:
        scores = encoder.similarity(encoder.transform(search.queries), encoder.transform(search.database))
    return mc.evaluation.average_precisions(scores, search.truth, search.protocol)


def found(search: Search, method: Method) -> Found:
    """Settings chosen on the first half of the queries, precision on the second."""
    first, second = search.halves()
    encoder = method.encoder
    if encoder is None:
        return Found(precisions(second, None), None, 0.0, 0.0)
    started = time.process_time()
    encoder.fit(search.negatives)
    if method.grid != {}:
        encoder = _best(first, encoder, method.grid)
        started = time.process_time()
        encoder.fit(search.negatives)
    fitted = time.process_time()
    encoder.transform(search.queries)
    online = (time.process_time() - fitted) / len(search.queries)
    return Found(precisions(second, encoder), encoder, fitted - started, online)


def _best(search: Search, encoder: Any, grid: dict[str, Any] | None) -> Any:
    from manyclass.exemplar.calibration import combinations

    matrix = mc.as_matrix(search.negatives)
    settings = combinations(encoder.default_grid(matrix) if grid is None else grid)
    scores = [float(np.nanmean(precisions(search, trial))) for trial in encoder.trials(matrix, settings)]
    return encoder.set_params(**settings[int(np.argmax(scores))])


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what it gave."""
    started = time.process_time()
    done = run()
    return time.process_time() - started, done


def shown(values: Iterable[float]) -> list[str]:
    """Percent, with one decimal."""
    return [f"{100 * value:.1f}" for value in values]
