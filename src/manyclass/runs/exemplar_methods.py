"""Which exemplar machines the options of `manyclass encode` ask for.

The methods of `manyclass encode`, fitted and, if wanted, tuned.
"""

import time
from dataclasses import dataclass
from enum import StrEnum
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from numpy.typing import NDArray

from manyclass._core.text import did_you_mean
from manyclass.runs.negatives import Negatives

if TYPE_CHECKING:
    from manyclass.runs.negatives import LabeledRows

METHODS = {
    "slem": "SquareLossExemplar",
    "kernel-slem": "KernelSquareLossExemplar",
    "lda": "ExemplarLDA",
    "esvm": "ExemplarSVM",
    "whitening": "WhitenedPCA",
    "none": None,  # vectors as they are
}


class KernelName(StrEnum):
    """How a kernel machine compares two images."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"


class FactorizationName(StrEnum):
    """How a kernel machine factors the Gram matrix of its negatives."""

    cholesky = "cholesky"
    incomplete_cholesky = "incomplete_cholesky"
    kpca = "kpca"


class SolverName(StrEnum):
    """How an exemplar support vector machine is trained."""

    sgd = "sgd"
    exact = "exact"


@dataclass(frozen=True)
class ExemplarMethod:
    """A machine by its name on the command line, and the settings that were given for it."""

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
        return (
            self.name == "kernel-slem" and self.settings.get("factorization") != FactorizationName.incomplete_cholesky
        )


def choose_methods(names: str, seed: int, options: dict[str, Any]) -> list[ExemplarMethod]:
    """The methods of a list of names with commas; options that are None are left to them.

    An option goes to every method that has it, and must go to one at least.
    """
    given = {option: _plain(value) for option, value in options.items() if value is not None}
    chosen = [_known(name.strip()) for name in names.split(",")]
    if len(set(chosen)) < len(chosen):
        raise typer.BadParameter(f"--method must name every method once; got {names}")
    taken = {name: _parameters(name) & given.keys() for name in chosen}
    for option in given:
        if not any(option in options for options in taken.values()):
            raise typer.BadParameter(f"--{option.replace('_', '-')} does not go with --method {names}")
    return [ExemplarMethod(name, {key: given[key] for key in given if key in taken[name]}, seed) for name in chosen]


def _known(name: str) -> str:
    if name not in METHODS:
        hint = did_you_mean(name, METHODS)
        raise typer.BadParameter(f"--method must be some of {', '.join(METHODS)}; got {name or 'nothing'}{hint}")
    return name


def _class(name: str) -> Any:
    import manyclass as mc

    kind = METHODS[name]
    return None if kind is None else getattr(mc, kind)


def _parameters(name: str) -> set[str]:
    kind = _class(name)
    return {"n_background"} if kind is None else set(signature(kind).parameters) - {"random_state"}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


_BACKGROUND = 1024

_MOST_TUNING = 2000  # rows: every setting ranks all of them for each of them


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


def fit_method(method: ExemplarMethod, negatives: Negatives, tuning: "LabeledRows | None") -> FittedEncoder:
    """The method on these negatives; with rows to tune on, the best of the settings that its encoder proposes."""
    started = time.perf_counter()
    encoder = method.encoder()
    if encoder is None:
        size = method.settings.get("n_background", _BACKGROUND)
        background = _background(negatives, size, method.seed)
        return FittedEncoder(method.name, None, background, [], time.perf_counter() - started)
    tried: list[dict[str, Any]] = []
    if tuning is not None and _has_grid(encoder, negatives):
        encoder = _tuned(encoder, negatives, tuning, method.seed)
        tried = encoder.calibration_
    else:
        encoder.fit(negatives.X)
    return FittedEncoder(method.name, encoder, None, tried, time.perf_counter() - started)


def _tuned(encoder: Any, negatives: Negatives, tuning: "LabeledRows", seed: int) -> Any:
    from manyclass.exemplar import calibrate

    rows = tuning.some(_MOST_TUNING, seed)
    return calibrate(encoder, negatives.X, rows.vectors(), rows.y, random_state=seed)


def _has_grid(encoder: Any, negatives: Negatives) -> bool:
    """Whether there is anything to choose: LDA, for one, has no settings."""
    from manyclass.data.readers.as_matrix import as_matrix

    return bool(encoder.default_grid(as_matrix(negatives.X)))


def _background(negatives: Negatives, most: int, seed: int) -> NDArray[Any]:
    from manyclass.data.readers.as_matrix import as_matrix

    n = len(negatives)
    rows = np.random.default_rng(seed).choice(n, min(n, most), replace=False)
    found: NDArray[Any] = as_matrix(negatives.X).rows(np.sort(rows))
    return found
