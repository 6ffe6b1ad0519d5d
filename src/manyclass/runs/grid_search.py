"""Settings of a stochastic classifier chosen one after another, each by whole fits judged on validation."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass._core.reading import read_file
from manyclass._core.sealed import seal, unseal
from manyclass._core.typing import Notify
from manyclass.runs.recipe import Recipe

_FILE = "tuning.json"

# Grids are not tuned: they reach around what was best where it was measured.
_STEPS = (0.25, 0.5, 2.0, 4.0)  # times the step that is found by itself, which is found to a factor of two

_BETAS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)  # 1 to 64 were chosen in docs/results/beta.md

_RIDGES = (1e-6, 1e-5, 1e-4, 1e-3)  # times the squared length of a row; docs/results/regularization.md: 1e-4 and 1e-3


class GridSearch:
    """Tries values one by one, and keeps what came of them in a file, so that nothing is tried twice."""

    def __init__(self, recipe: Recipe, X: Any, y: Any, validation: Any, folder: Path, callbacks: list[Any]):
        self.recipe, self.X, self.y, self.validation = recipe, X, y, validation
        self.folder, self.callbacks = folder, callbacks
        self.tried = _read_tried(folder / _FILE)

    def choose(self, notify: Notify) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The settings that are best, and every value that was tried with its accuracy.

        The first trial has the settings as they are. A value takes their place if it is better by more than chance:
        half a standard error of an accuracy on so many rows, as in early stopping.
        """
        from manyclass.solvers.sgd.descent import EarlyStopping

        stopping = EarlyStopping(judged=self._n_judged())
        settings: dict[str, Any] = {}
        best = self._trial(settings, notify)
        shown = []
        for name in self.recipe.tune:
            shown.append(_row(name, best["found"][name], best["accuracy"]))
            for value in self._candidates(name, best["found"]):
                trial = self._trial({**settings, name: value}, notify)
                shown.append(_row(name, trial["found"][name], trial["accuracy"]))
                if trial["accuracy"] is not None and not stopping.as_good(best["accuracy"], trial["accuracy"]):
                    best = trial
            settings = dict(best["settings"])
        return {name: self._setting(name, best["found"][name]) for name in self.recipe.tune}, shown

    def _candidates(self, name: str, found: dict[str, Any]) -> Iterator[Any]:
        if name == "step":
            yield from (found["step"] * factor for factor in _STEPS)
        elif name == "beta":
            most = self._n_classes() - 1
            betas = (*(beta for beta in _BETAS if beta < most), float(most))
            yield from (self._setting("beta", beta) for beta in betas if beta != found["beta"])
        else:
            yield from (float(f"{factor * self._square():.2e}") for factor in _RIDGES)

    def _setting(self, name: str, value: float) -> float | None:
        """What the classifier takes for a value on record, where all negatives are a number too."""
        return None if name == "beta" and value >= self._n_classes() - 1 else value

    def _trial(self, settings: dict[str, Any], notify: Notify) -> dict[str, Any]:
        known = next((trial for trial in self.tried if trial["settings"] == settings), None)
        if known is None:
            notify(
                "trying " + (", ".join(f"{name} {_shown(value)}" for name, value in settings.items()) or "the defaults")
            )
            from manyclass.solvers.sgd.checkpoint import remove_checkpoint

            known, checkpoint = {"settings": settings, **self._fit(settings)}, self._checkpoint
            self.tried.append(known)
            write_bytes(self.folder / _FILE, seal({"tried": self.tried}))
            with suppress(OSError):  # it goes with the folder at last
                remove_checkpoint(checkpoint)
        return known

    @property
    def _checkpoint(self) -> Path:
        """Of the next trial: one that a kill left of the last must not be gone on with."""
        return self.folder / f"trial-{len(self.tried)}"

    def _fit(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The accuracy of a fit on what is held out, and the step, beta and regularization that it had.

        The accuracy is None if the fit came to nothing.
        """
        more = {"refit": False, "checkpoint": self._checkpoint, "callbacks": self.callbacks}
        model = self.recipe.estimator(**{**self.recipe.settings, **settings, **more})
        model.keeps_checkpoint = True  # until the result of the trial is on disk
        try:
            model.fit(self.X, self.y, validation=self.validation)
        except FloatingPointError:  # a step that is too large
            if not settings:
                raise
            return {"accuracy": None, "found": {**settings, "step": model.step}}
        accuracy = max((record["accuracy"] for record in model.history_ if "accuracy" in record), default=0.0)
        beta = self._n_classes() - 1.0 if model.beta_ is None else model.beta_
        found = {"step": model.step_, "beta": beta, "regularization": model.regularization}
        return {"accuracy": accuracy, "found": found}

    def _n_judged(self) -> int:
        """Rows that an accuracy is of."""
        if self.validation is not None:
            return len(self.validation[1])
        return max(1, round(float(self.recipe.record["validation_fraction"]) * len(self.y)))

    def _n_classes(self) -> int:
        return len(np.unique(self.y))

    def _square(self) -> float:
        """The squared length of a row as it usually is."""
        rows = self.X.rows(np.unique(np.linspace(0, len(self.X) - 1, 512).astype(np.intp)))
        return float(np.median(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))) or 1.0


def _read_tried(file: Path) -> list[dict[str, Any]]:
    """What an earlier attempt tried; nothing if there was none."""
    if not file.exists():
        return []
    try:
        tried: list[dict[str, Any]] = unseal(read_file(file, "record"))["tried"]
        return tried
    except (StorageError, KeyError):
        raise StorageError(f"{file} is damaged; pass `overwrite=True` to begin the run again") from None


def _row(name: str, value: Any, accuracy: float | None) -> dict[str, Any]:
    return {"name": name, "value": value, "accuracy": accuracy}


def _shown(value: Any) -> str:
    return "all" if value is None else f"{value:.3g}"
