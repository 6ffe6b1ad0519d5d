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
from manyclass.runs.galleries.negatives import Negatives, draw_rows

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

_QUICK = ("slem", "lda", "whitening")  # methods whose settings are all tried in seconds

_TUNED = {"regularization", "shrinkage", "n_components", "gamma"}  # what is chosen for them

_MOST_COLUMNS = 4096  # for which the covariance is factored without being asked: 40 s on one core

_OWN = 3  # times the default lambda; with the default a network's features of Caltech-101 lost 2.2 points to cosines

_FEWEST_NEGATIVES = 100  # with 27 and 56 of a corridor, machines lost up to 11 points to cosines


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

    def tunes_itself(self, d: int) -> bool:
        """Whether settings are to be chosen by labels, where there are some, although nobody said so."""
        return self.name in (*_QUICK, "none") and d <= _MOST_COLUMNS and not _TUNED & self.settings.keys()

    @property
    def holds_gram_matrix(self) -> bool:
        """Whether memory grows with the square of the negatives."""
        way = self.settings.get("factorization", "cholesky")
        by_all = way in ("cholesky", "kpca") or (way == "nystrom" and self.settings.get("rank") is None)
        return self.name == "kernel-slem" and by_all


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
    plain: float | None = None  # what rows as they are reach where settings were tried by labels

    @property
    def best(self) -> float | None:
        """The mean average precision of the settings that were chosen, where some were tried."""
        return max((one["mAP"] for one in self.tried), default=None)

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
    plain = None
    if tuning is not None and _has_grid(encoder, negatives):
        encoder, plain = _tune(encoder, negatives, tuning, method.seed)
        tried = encoder.calibration_
    else:
        encoder.set_params(**_own_settings(method, negatives)).fit(negatives.X)
    return FittedEncoder(method.name, encoder, None, tried, time.perf_counter() - started, plain)


def _own_settings(method: ExemplarMethod, negatives: Negatives) -> dict[str, Any]:
    """A stronger lambda where nobody gave one, and negatives are of the gallery: they show the very things in it."""
    from manyclass.data.moments import Moments
    from manyclass.data.readers.as_matrix import as_matrix
    from manyclass.exemplar.encoder import auto_regularization

    if method.name != "slem" or "regularization" in method.settings or not len(negatives.own):
        return {}
    return {"regularization": _OWN * auto_regularization(Moments.of(as_matrix(negatives.X)).covariance)}


def _tune(encoder: Any, negatives: Negatives, tuning: Dataset, seed: int) -> tuple[Any, float | None]:
    """The encoder with the best of its settings; and what rows as they are reach by the same labels."""
    from manyclass.exemplar import calibrate
    from manyclass.exemplar.calibration import label_precision
    from manyclass.retrieval.encoders import CosineEncoder

    rows = draw_rows(tuning, _MOST_TUNING, seed)
    X = rows.X.rows(slice(None))
    plain = None if rows.y is None else label_precision(CosineEncoder(X.shape[1]), X, rows.y)
    return calibrate(encoder, negatives.X, X, rows.y, random_state=seed), plain


def plain_is_ahead(fitted: FittedEncoder, n_negatives: int) -> str:
    """Why rows as they are should be taken in place of a method, in words; nothing if they should not."""
    if fitted.best is not None and fitted.plain is not None:
        ahead = fitted.plain > fitted.best
        return f"by the labels they have mAP {fitted.plain:.1%}, and {fitted.name} {fitted.best:.1%}" if ahead else ""
    few = fitted.encoder is not None and n_negatives < _FEWEST_NEGATIVES
    return f"{n_negatives} negatives are too few without labels, of {_FEWEST_NEGATIVES} at least" if few else ""


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
