"""Which exemplar machines the options of `manyclass encode` ask for."""

from dataclasses import dataclass
from enum import StrEnum
from inspect import signature
from typing import Any

import typer

from manyclass.cli.suggestions import did_you_mean

METHODS = {
    "slem": "SquareLossExemplar",
    "kernel-slem": "KernelSquareLossExemplar",
    "lda": "ExemplarLDA",
    "esvm": "ExemplarSVM",
    "whitening": "WhitenedPCA",
    "none": None,  # vectors as they are
}


class Kernel(StrEnum):
    """How a kernel machine compares two images."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"


class Factorization(StrEnum):
    """How a kernel machine factors the Gram matrix of its negatives."""

    cholesky = "cholesky"
    incomplete_cholesky = "incomplete_cholesky"
    kpca = "kpca"


class Solver(StrEnum):
    """How an exemplar support vector machine is trained."""

    sgd = "sgd"
    exact = "exact"


@dataclass(frozen=True)
class Method:
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
        return self.name == "kernel-slem" and self.settings.get("factorization") != Factorization.incomplete_cholesky


def chosen_methods(names: str, seed: int, options: dict[str, Any]) -> list[Method]:
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
    return [Method(name, {key: given[key] for key in given if key in taken[name]}, seed) for name in chosen]


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
