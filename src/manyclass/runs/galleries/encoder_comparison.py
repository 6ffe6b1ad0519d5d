"""Which encoder finds images of the same class best: every image looks for the others of its class."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.files import expand_home
from manyclass._core.typing import Notify, ProgressFactory, Report, no_progress
from manyclass.datasets.dataset import Dataset
from manyclass.evaluation import Truth, average_precisions, paired_bootstrap
from manyclass.runs.galleries.exemplar_methods import ExemplarMethod, FittedEncoder, choose_methods, fit_method
from manyclass.runs.galleries.negatives import Negatives, choose_negatives, deal_out, draw_rows, other_rows
from manyclass.runs.provenance import picture_folder, pictures_of
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import read_source

_MOST_ROWS, _MOST_QUERIES = 20_000, 5000  # of a comparison, which ranks all rows for every query

_TILE = 256  # queries that are ranked at once

_SHOWN_QUERIES, _SHOWN_RESULTS = 12, 8  # that a record keeps for a report


def compare_encoders(
    data: str | os.PathLike[str],
    methods: str | Sequence[str],
    *,
    negatives: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    sample: int | None = None,
    tune: bool = False,
    labels: str | None = None,
    pictures: str | os.PathLike[str] | None = None,
    seed: int = 0,
    warn: Notify | None = None,
    notify: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Fit encoders on negatives, and measure how well they find images of the same class.

    Every image that is no negative and is not alone in its class looks for the others of its class, by mean average
    precision; 95 % intervals are those of the paired bootstrap over classes.

    Parameters
    ----------
    data : path-like
        Features with labels: a store, .npy, .npz, parquet, or a folder of shards.
    methods : str or sequence of str
        Some of "slem", "kernel-slem", "lda", "esvm", "whitening" and "none", which compares rows as they are.
    negatives : path-like, default=None
        Features of unrelated images; None takes rows of the data, which are not judged by then.
    settings : dict, default=None
        Arguments of the encoders, such as ``{"regularization": 0.1}``; each goes to every method that has it.
    sample : int, default=None
        Negatives at most, drawn at random.
    tune : bool, default=False
        Choose the settings on half of the classes first, and judge by the others.
    labels : str, default=None
        A CSV or .npy file with one label per row; None for those that are found beside the data.
    pictures : path-like, default=None
        The folder of the pictures, for a report; None for the one that the data was made of.
    seed : int, default=0
        The same seed gives the same numbers.
    warn : callable, default=None
        Called with a sentence about whatever the reader leaves out; None for warnings of Python.
    notify : callable, default=None
        Called with a sentence about what is being done.
    progress : callable, default=None
        Called as ``with progress("evaluating lda", "queries") as report:``, and then ``report(done, total)``.

    Returns
    -------
    dict
        The protocol in words, ``methods`` with ``map``, ``low``, ``high`` and the difference ``against`` the first,
        which is the best, some ``queries`` with what it finds, and what the ``data`` was; a report shows it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> rng, y = np.random.default_rng(0), np.arange(200) % 20
    >>> X = rng.standard_normal((20, 8))[y] + 0.5 * rng.standard_normal((200, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "x.npz"), X=X.astype(np.float32), y=y)
    ...     record = mc.runs.compare_encoders(Path(folder, "x.npz"), "lda,none")
    >>> [one["name"] for one in record["methods"]]
    ['none', 'lda']
    >>> all(one["low"] <= one["map"] <= one["high"] for one in record["methods"])
    True
    """
    chosen = choose_methods(methods, seed, settings or {})
    world, folder = (None if path is None else expand_home(path) for path in (negatives, pictures))
    inputs = EncoderInputs(expand_home(data), world, chosen, sample, labels, folder, seed, warn)
    _, record = fit_and_compare(inputs, tune, True, notify or _nobody, progress or no_progress)
    return record or {}


def _nobody(message: str) -> None:
    pass


@dataclass(frozen=True)
class EncoderInputs:
    """What encoders are fitted and compared on: the rows of the data, and negatives of a world or of the data."""

    data: Path
    world: Path | None
    methods: list[ExemplarMethod]
    sample: int | None
    labels: str | None
    pictures: Path | None
    seed: int
    warn: Notify | None = None

    @cached_property
    def dataset(self) -> Dataset:
        """The rows."""
        return read_source(self.data, self.labels, self.warn)

    @cached_property
    def ids(self) -> list[Any]:
        """What the rows are known by."""
        return row_ids(self.dataset)

    @cached_property
    def negatives(self) -> Negatives:
        """The rows to fit on."""
        gram = any(method.holds_gram_matrix for method in self.methods)
        return choose_negatives(self.dataset, self.world, self.sample, gram, self.seed, self.warn)

    @cached_property
    def folder(self) -> Path | None:
        """Where the pictures are."""
        return picture_folder(self.data) if self.pictures is None else self.pictures.resolve()

    @property
    def picture_source(self) -> dict[str, str] | None:
        """The same for a report, which can do with an array of pictures too."""
        return pictures_of(self.data) if self.folder is None else {"folder": str(self.folder)}


def row_ids(dataset: Dataset) -> list[Any]:
    """The names of the rows, which must be distinct, or their numbers."""
    if dataset.names is None:
        return list(range(len(dataset)))
    seen: set[str] = set()
    for name in (ids := [str(name) for name in dataset.names]):
        if name in seen:
            raise ValueError(f"{dataset.path} must name every row once, so that it is found by it; got {name!r} twice")
        seen.add(name)
    return ids


def fit_and_compare(
    inputs: EncoderInputs, tune: bool | None, evaluate: bool, notify: Notify, progress: ProgressFactory
) -> tuple[list[FittedEncoder], dict[str, Any] | None]:
    """The methods on their negatives; or, best first, with the record of a comparison if that is wanted."""
    d, ids = inputs.dataset.X.shape[1], inputs.ids
    tuning, judging = _rows_apart(inputs, tune, evaluate, notify)
    notify(f"negatives: {inputs.negatives.about}")
    fitted = []
    for method in inputs.methods:
        if method.name != "none":
            notify(f"learning {method.name} from {len(inputs.negatives):,} negatives of {d:,} numbers")
        fitted.append(fit_method(method, inputs.negatives, tuning))
    if judging is None:
        return fitted, None
    trial, outcomes = RetrievalTrial.of(judging, inputs.seed), []
    for one in fitted:
        with progress(f"evaluating {one.name}", "queries") as report:
            outcomes.append(run_trial(trial, one, report))
    outcomes.sort(key=lambda outcome: -float(outcome.precisions.mean()))
    fitted = [outcome.method for outcome in outcomes]
    data = [describe_data("gallery", inputs.dataset), inputs.negatives.record()]
    return fitted, retrieval_record(trial, outcomes, ids, data, inputs.picture_source)


def _rows_apart(
    inputs: EncoderInputs, tune: bool | None, evaluate: bool, notify: Notify
) -> tuple[Dataset | None, Dataset | None]:
    """The rows to choose settings by, and the rows to judge methods by."""
    if evaluate and inputs.dataset.y is None:
        raise ValueError(f"`evaluate` needs labels, and {inputs.data} has none; give them with `labels`")
    if tune is None and not evaluate:
        return _rows_with_pairs(inputs), None
    if not tune and not evaluate:
        return None, None
    rows = other_rows(inputs.dataset, inputs.negatives.own)
    if tune and evaluate:
        return deal_out(rows, inputs.seed)
    if tune and rows.y is None:
        notify(f"{inputs.data} has no labels: settings are chosen by how well rows are found by damaged copies of them")
    return (rows, None) if tune else (None, rows)


def _rows_with_pairs(inputs: EncoderInputs) -> Dataset | None:
    """The rows to choose settings by where nobody said how: those with labels, if two of them have the same."""
    d = inputs.dataset.X.shape[1]
    if inputs.dataset.y is None or not all(method.tunes_itself(d) for method in inputs.methods):
        return None
    if len(inputs.negatives.own) == len(inputs.dataset):
        return None
    rows = other_rows(inputs.dataset, inputs.negatives.own)
    return rows if len(np.unique(np.asarray(rows.y))) < len(rows) else None


@dataclass(frozen=True)
class RetrievalTrial:
    """A database of labeled rows, and the places in it that ask."""

    rows: Dataset
    queries: NDArray[np.intp]
    truth: Truth
    seed: int

    @classmethod
    def of(cls, rows: Dataset, seed: int) -> "RetrievalTrial":
        """At most about 20,000 rows, of whole classes; all that have something to find ask, or 5,000 of them."""
        rows = draw_rows(rows, _MOST_ROWS, seed)
        y = np.asarray(rows.y)
        _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
        asking = np.flatnonzero(counts[numbers] > 1)
        if not len(asking):
            raise ValueError("`evaluate` needs two images of one class at least, beside the negatives; got none")
        if len(asking) > _MOST_QUERIES:
            asking = np.sort(np.random.default_rng(seed).choice(asking, _MOST_QUERIES, replace=False))
        return cls(rows, asking, Truth.from_labels(y[asking], y, asking.tolist()), seed)

    @property
    def protocol(self) -> str:
        """In words."""
        q, n = len(self.queries), len(self.rows)
        return (
            f"leave-one-out: {q:,} queries against {n:,} images, of which those of the query's class are right and the "
            "query itself does not count; mean average precision by trapezoids, 95 % intervals by the paired bootstrap "
            "over classes"
        )

    def precisions(self, space: Any, Z: NDArray[np.float32], report: Report) -> NDArray[np.float64]:
        """The average precision of every query by embeddings (n, p) of the rows."""
        found = [np.zeros(0)]
        for start in range(0, len(self.queries), _TILE):
            at = np.arange(start, min(len(self.queries), start + _TILE))
            scores = space.similarity(Z[self.queries[at]], Z)
            found.append(average_precisions(scores, self.truth.take(at), "holidays"))
            report(int(at[-1]) + 1, len(self.queries))
        return np.concatenate(found)


@dataclass(frozen=True)
class TrialOutcome:
    """What one method reached: average precisions per query, and its embeddings of all rows."""

    method: FittedEncoder
    precisions: NDArray[np.float64]
    embeddings: NDArray[np.float32]
    seconds: float


def run_trial(trial: RetrievalTrial, method: FittedEncoder, report: Report) -> TrialOutcome:
    """Encode the rows and rank them for every query."""
    started = time.perf_counter()
    X = trial.rows.X.rows(slice(None))
    space = method.space(X.shape[1])
    embeddings = space.transform(X)
    precisions = trial.precisions(space, embeddings, report)
    return TrialOutcome(method, precisions, embeddings, method.seconds + time.perf_counter() - started)


def trial_summary(trial: RetrievalTrial, outcome: TrialOutcome, first: TrialOutcome) -> dict[str, Any]:
    """Mean average precision with its interval, and the difference to the first method with its own."""
    drawn: dict[str, Any] = {"random_state": trial.seed, "groups": np.asarray(trial.rows.y)[trial.queries]}
    mean = paired_bootstrap(outcome.precisions, np.zeros_like(outcome.precisions), **drawn)
    difference = paired_bootstrap(outcome.precisions, first.precisions, **drawn)
    return {
        "name": outcome.method.name,
        "map": min(1.0, mean.difference),
        "low": max(0.0, mean.low),
        "high": min(1.0, mean.high),
        "columns": int(outcome.embeddings.shape[1]),
        "seconds": outcome.seconds,
        "settings": outcome.method.settings(),
        "tried": outcome.method.tried,
        "against": None if outcome is first else {"method": first.method.name, **difference._asdict()},
    }


def retrieval_record(
    trial: RetrievalTrial,
    outcomes: list[TrialOutcome],
    ids: list[Any],
    data: list[dict[str, Any]],
    pictures: dict[str, str] | None,
) -> dict[str, Any]:
    """The record of a trial; queries are those of the first outcome, drawn at random. ids name the rows of the data."""
    return {
        "data": data,
        "protocol": trial.protocol,
        "methods": [trial_summary(trial, outcome, outcomes[0]) for outcome in outcomes],
        "queries": _shown(trial, outcomes[0], [str(ids[row]) for row in np.asarray(trial.rows.rows)]),
        "pictures": pictures,
    }


def _shown(trial: RetrievalTrial, outcome: TrialOutcome, names: list[str]) -> list[dict[str, Any]]:
    n = min(_SHOWN_QUERIES, len(trial.queries))
    drawn = np.sort(np.random.default_rng(trial.seed).choice(trial.queries, n, replace=False))
    space = outcome.method.space(trial.rows.X.shape[1])
    scores = space.similarity(outcome.embeddings[drawn], outcome.embeddings)
    return [_strip(trial, names, int(query), row) for query, row in zip(drawn, scores, strict=True)]


def _strip(trial: RetrievalTrial, names: list[str], query: int, scores: Any) -> dict[str, Any]:
    """A query and what it found."""
    y = np.asarray(trial.rows.y)
    order = np.argsort(-scores, kind="stable")
    found = order[order != query][:_SHOWN_RESULTS].tolist()
    results = [
        {"name": names[i], "class": str(y[i]), "score": float(scores[i]), "right": bool(y[i] == y[query])}
        for i in found
    ]
    return {"name": names[query], "class": str(y[query]), "results": results}
