"""The methods of `manyclass encode`, fitted and, if wanted, tuned."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass.cli.encoding_methods import Method
from manyclass.cli.negatives import Negatives

if TYPE_CHECKING:
    from manyclass.cli.labeled_rows import LabeledRows

_BACKGROUND = 1024
_MOST_TUNING = 2000  # rows: every setting ranks all of them for each of them


@dataclass(frozen=True)
class Fitted:
    """A method whose encoder is fitted (None for vectors as they are), the settings that were tried, and the time."""

    name: str
    encoder: Any
    background: NDArray[Any] | None
    tried: list[dict[str, Any]]
    seconds: float

    def space(self, d: int) -> Any:
        """What encodes and compares rows of d numbers."""
        from manyclass.retrieval.spaces import UnitVectors

        return UnitVectors(d) if self.encoder is None else self.encoder

    def settings(self) -> dict[str, Any]:
        """All parameters of the encoder."""
        return {} if self.encoder is None else dict(self.encoder.get_params(deep=False))


def fitted(method: Method, negatives: Negatives, tuning: "LabeledRows | None") -> Fitted:
    """The method on these negatives; with rows to tune on, the best of the settings that its encoder proposes."""
    started = time.perf_counter()
    encoder = method.encoder()
    if encoder is None:
        size = method.settings.get("n_background", _BACKGROUND)
        background = _background(negatives, size, method.seed)
        return Fitted(method.name, None, background, [], time.perf_counter() - started)
    tried: list[dict[str, Any]] = []
    if tuning is not None and _has_grid(encoder, negatives):
        encoder = _tuned(encoder, negatives, tuning, method.seed)
        tried = encoder.calibration_
    else:
        encoder.fit(negatives.X)
    return Fitted(method.name, encoder, None, tried, time.perf_counter() - started)


def _tuned(encoder: Any, negatives: Negatives, tuning: "LabeledRows", seed: int) -> Any:
    from manyclass.exemplar import calibrate

    rows = tuning.some(_MOST_TUNING, seed)
    return calibrate(encoder, negatives.X, rows.vectors(), rows.y, random_state=seed)


def _has_grid(encoder: Any, negatives: Negatives) -> bool:
    """Whether there is anything to choose: LDA, for one, has no settings."""
    from manyclass.data.opening import as_matrix

    return bool(encoder.default_grid(as_matrix(negatives.X)))


def _background(negatives: Negatives, most: int, seed: int) -> NDArray[Any]:
    from manyclass.data.opening import as_matrix

    n = len(negatives)
    rows = np.random.default_rng(seed).choice(n, min(n, most), replace=False)
    found: NDArray[Any] = as_matrix(negatives.X).rows(np.sort(rows))
    return found
