"""The methods that turn rows into images of a gallery, by name: exemplar machines, whitening, or rows as they are."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import SettingsError
from manyclass._core.lazy import find_public
from manyclass._core.text import did_you_mean
from manyclass.datasets.dataset import Dataset
from manyclass.runs.negatives import Negatives, draw_rows

METHODS = {
    "slem": "SquareLossExemplar",
    "kernel-slem": "KernelSquareLossExemplar",
    "lda": "ExemplarLDA",
    "esvm": "ExemplarSVM",
    "whitening": "WhitenedPCA",
    "none": None,  # vectors as they are
}


_BACKGROUND = 1024  # of rows as they are; as many as exemplar machines take by default

_MOST_TUNING = 2000  # rows: every setting ranks all of them for each of them


@dataclass(frozen=True)
class ExemplarMethod:
    """A method by its name, and the settings that were given for it."""

    name: str
    settings: dict[str, Any]
    seed: int

    def encoder(self) -> Any:
        """The encoder, not fitted yet; None compares vectors as they are."""
        kind = _class(self.name)
        return None if kind is None else kind(**self.settings, random_state=self.seed)

    @property
    def holds_gram_matrix(self) -> bool:
        """Whether memory grows with the square of the negatives."""
        return self.name == "kernel-slem" and self.settings.get("factorization") != "incomplete_cholesky"


def choose_methods(names: str | Sequence[str], seed: int, settings: Mapping[str, Any]) -> list[ExemplarMethod]:
    """The methods of these names, or of a list of names with commas.

    A setting goes to every method that has it, and must go to one at least.

    >>> [(one.name, one.settings) for one in choose_methods("slem,none", 0, {"regularization": 0.1})]
    [('slem', {'regularization': 0.1}), ('none', {})]
    """
    chosen = [_known(name.strip()) for name in (names.split(",") if isinstance(names, str) else names)]
    words = ",".join(chosen)
    if not chosen:
        raise SettingsError(f"`method` must be some of {', '.join(METHODS)}; got none")
    if len(set(chosen)) < len(chosen):
        raise SettingsError(f"`method` must name every method once; got {words}")
    taken = {name: _parameters(name) & settings.keys() for name in chosen}
    for setting in settings:
        if not any(setting in names for names in taken.values()):
            raise SettingsError(f"`{setting}` does not go with `method={words!r}`")
    return [
        ExemplarMethod(name, {key: settings[key] for key in settings if key in taken[name]}, seed) for name in chosen
    ]


def _known(name: str) -> str:
    if name not in METHODS:
        hint = did_you_mean(name, METHODS)
        raise SettingsError(f"`method` must be some of {', '.join(METHODS)}; got {name or 'nothing'}{hint}")
    return name


def _class(name: str) -> Any:
    kind = METHODS[name]
    return None if kind is None else find_public(kind)


def _parameters(name: str) -> set[str]:
    kind = _class(name)
    return {"n_background"} if kind is None else set(signature(kind).parameters) - {"random_state"}


@dataclass(frozen=True)
class FittedEncoder:
    """A method whose encoder is fitted (None for vectors as they are), the settings that were tried, and the time."""

    name: str
    encoder: Any
    background: NDArray[Any] | None
    tried: list[dict[str, Any]]
    seconds: float

    def space(self, d: int) -> Any:
        """What encodes and compares rows of d numbers."""
        from manyclass.retrieval.encoders import CosineEncoder

        return CosineEncoder(d) if self.encoder is None else self.encoder

    def settings(self) -> dict[str, Any]:
        """All parameters of the encoder."""
        return {} if self.encoder is None else dict(self.encoder.get_params(deep=False))


def fit_method(method: ExemplarMethod, negatives: Negatives, tuning: Dataset | None) -> FittedEncoder:
    """The method on these negatives; with rows to tune on, the best of the settings that its encoder proposes."""
    started = time.perf_counter()
    encoder = method.encoder()
    if encoder is None:
        size = method.settings.get("n_background", _BACKGROUND)
        background = _draw_background(negatives, size, method.seed)
        return FittedEncoder(method.name, None, background, [], time.perf_counter() - started)
    tried: list[dict[str, Any]] = []
    if tuning is not None and _has_grid(encoder, negatives):
        encoder = _tune(encoder, negatives, tuning, method.seed)
        tried = encoder.calibration_
    else:
        encoder.fit(negatives.X)
    return FittedEncoder(method.name, encoder, None, tried, time.perf_counter() - started)


def _tune(encoder: Any, negatives: Negatives, tuning: Dataset, seed: int) -> Any:
    from manyclass.exemplar import calibrate

    rows = draw_rows(tuning, _MOST_TUNING, seed)
    return calibrate(encoder, negatives.X, rows.X.rows(slice(None)), rows.y, random_state=seed)


def _has_grid(encoder: Any, negatives: Negatives) -> bool:
    """Whether there is anything to choose: LDA, for one, has no settings."""
    from manyclass.data.readers.as_matrix import as_matrix

    return bool(encoder.default_grid(as_matrix(negatives.X)))


def _draw_background(negatives: Negatives, most: int, seed: int) -> NDArray[Any]:
    from manyclass.data.readers.as_matrix import as_matrix

    n = len(negatives)
    rows = np.random.default_rng(seed).choice(n, min(n, most), replace=False)
    found: NDArray[Any] = as_matrix(negatives.X).rows(np.sort(rows))
    return found
