"""manyclass predict: the classes of pictures or of rows of features, from files or folders of either."""

import csv
import json as js
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from manyclass._core.errors import SettingsError
from manyclass.cli.terminal.command_errors import FAILED, report_errors, while_read
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    PriorOption,
    Run,
    Threads,
    check_printable,
    out_option,
    path_argument,
    path_option,
)

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset

_SHOWN = 20

_SCORES_AT_ONCE = 1 << 22  # 32 MB of float64

_SURE = 0.5  # a probability of the best class


@report_errors("nothing was written")
def predict(
    run: Run,
    inputs: Annotated[
        list[Path], path_argument("Pictures, folders of them, or features: .npy, .npz, a store, ...", repeated=True)
    ],
    top: Annotated[int, typer.Option(min=1, help="Classes to tell of each row.")] = 5,
    prior: PriorOption = None,
    coverage: Annotated[
        float | None, typer.Option(help="Tell, of each row, a set that holds the right class so often, such as 0.95.")
    ] = None,
    unknown: Annotated[
        float | None, typer.Option(help="Say 'none of these' of rows like the strangest 0.05 of known classes.")
    ] = None,
    taxonomy: Annotated[
        Path | None, path_option("A tree above the classes: a CSV file with the columns child and parent.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="With --taxonomy: tell the deepest node of at least this probability.", show_default="0.8"),
    ] = None,
    encoder: Annotated[
        Path | None, path_option("The encoder of the pictures, or the store it made.", show_default="that of the run")
    ] = None,
    out: Annotated[Path | None, out_option("A CSV file to write, for many rows.")] = None,
    threads: Threads = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of pictures that cannot be read.")] = False,
) -> None:
    """Tell the best classes, with probabilities where the classifier has them and scores otherwise.

    A best class whose probability is below a half is called unsure. A classifier without probabilities gets them by
    `manyclass calibrate`. Of a classifier of several labels per row all labels above their thresholds are told.

    With --coverage 0.95 each row is told a set of classes, as many as it takes to hold the right one in 95 of 100
    rows. With --unknown 0.05 rows are said to be none of these if only 5 of 100 rows of known classes look as strange.
    Both go by rows that training held out.

    With --taxonomy, probabilities are summed up the tree, and the deepest node that is sure enough is told too.

    Pictures go through the encoder that made the features of the training data. Those that cannot be read are named,
    and the exit code is 1.
    """
    import manyclass as mc

    check_printable(out)
    if confidence is not None and taxonomy is None:
        raise SettingsError("`confidence` is for a tree of classes; give one with `taxonomy`")
    asked = Asked(top, coverage, unknown, prior, _read_taxonomy(taxonomy), 0.8 if confidence is None else confidence)
    console = Console()
    unread: list[str] = []

    def bad(name: str, why: str) -> None:
        unread.append(name)
        if not quiet:
            console.warn(f"{name} {why}")

    with mc.threads(threads):
        found = _predictions(run, inputs, encoder, asked, bad, console)
        if out is not None:
            _write(out, found, sets=coverage is not None)
            console.info(f"written to {out}")
        elif json:
            with while_read():
                for prediction in found:
                    print(js.dumps(prediction.plain()))
        else:
            _show(found, console)
    if unread:
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class Asked:
    """What is to be told of each row: classes, a set of them, whether it is none of these, and what it surely is."""

    top: int
    coverage: float | None
    unknown: float | None
    prior: str | None = None
    taxonomy: Any = None
    confidence: float = 0.8

    def __post_init__(self) -> None:
        for name in ("coverage", "unknown"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise ValueError(f"`{name}` must be a number between 0 and 1; got {value:g}")

    def check(self, model: Any, run: Path) -> None:
        """Refuse a classifier that cannot tell it."""
        from manyclass.estimators.uncertainty.unknowns import check_unknown

        needs = [name for name in ("coverage", "unknown") if getattr(self, name) is not None]
        alone = needs if self.taxonomy is None else [*needs, "taxonomy"]
        if alone and getattr(model, "has_several_labels", False):
            raise ValueError(f"`{alone[0]}` is for one label per row, and {run} has several, which may be none")
        if needs and not hasattr(model, "predict_set"):
            raise ValueError(
                f"`{needs[0]}` needs rows that training has held out, and {run} knows of none; give it some with "
                f"`manyclass calibrate {quote(str(run))} DATA`"
            )
        if self.unknown is not None:
            check_unknown(self.unknown, len(model.held_out_["losses"]))
        if self.taxonomy is not None and not hasattr(model, "predict_proba"):
            raise ValueError(
                f"`taxonomy` needs probabilities, and {run} has none; give it some with "
                f"`manyclass calibrate {quote(str(run))} DATA`"
            )

    def taxa(self, model: Any, P: Any) -> list[dict[str, Any]]:
        """What each row is by the tree, as far as it is sure; nothing without a tree."""
        if self.taxonomy is None:
            return []
        names, probabilities, _ = self.taxonomy.deepest(P, model.classes_, self.confidence)
        both = zip(names.tolist(), probabilities.tolist(), strict=True)
        return [{"taxon": name, "taxon_probability": probability} for name, probability in both]


def _read_taxonomy(path: Path | None) -> Any:
    from manyclass.estimators.heads.taxonomy import Taxonomy

    return None if path is None else Taxonomy.read(path)


@dataclass(frozen=True)
class Prediction:
    """The best classes of a row, and their scores, and probabilities if there are any.

    `p_value` is how likely a row of a known class looks as strange, and `none` whether that is too little. `taxon` is
    the deepest node of a tree that is sure enough.
    """

    name: str
    classes: list[str]
    scores: list[float]
    probabilities: list[float] | None
    p_value: float | None = None
    none: bool | None = None
    taxon: str | None = None
    taxon_probability: float | None = None
    several: bool = False  # whether these are all labels of the row, any number of them

    @property
    def unsure(self) -> bool | None:
        """Whether the best class is more likely wrong than right; None where nobody knows."""
        return None if self.probabilities is None or self.several else self.probabilities[0] < _SURE

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        kept = {name: value for name, value in vars(self).items() if name != "several"}
        about = {name: value for name, value in kept.items() if value is not None or name == "probabilities"}
        return about if self.several else {**about, "unsure": self.unsure}

    def words(self) -> list[tuple[str, str]]:
        """Each class, and how likely or how high it is; of a best one that is more often wrong than right, that too."""
        if self.probabilities is None:
            said = [f"{score:.3f}" for score in self.scores]
        else:
            said = [f"{probability:.1%}" for probability in self.probabilities]
            said[:1] = [f"{one}, unsure" if self.unsure else one for one in said[:1]]
        return list(zip(self.classes, said, strict=True))

    def remarks(self) -> list[tuple[str, str]]:
        """What is said of the row beside its classes: that it is none of these, and what it surely is; or nothing."""
        strange = ("none of these,", f"p = {self.p_value:.2g}") if self.none else ("", "")
        sure = ("", "") if self.taxon is None else (f"surely {self.taxon},", f"{self.taxon_probability:.1%}")
        return [strange, sure]


def _predictions(
    run: Path, inputs: list[Path], encoder: Path | None, asked: Asked, bad: Callable[[str, str], None], console: Console
) -> Iterator[Prediction]:
    from manyclass.runs.evaluating.priors import set_prior
    from manyclass.runs.load_model import check_columns, open_classifier, open_encoder
    from manyclass.runs.pictures import picture_blocks, pictures_among
    from manyclass.runs.sources import read_source

    opened = open_classifier(run)
    model = opened.model
    set_prior(model, asked.prior)
    asked.check(model, run)
    size = max(1, _SCORES_AT_ONCE // len(model.classes_))
    pictures = pictures_among(inputs)
    encodes = open_encoder(run, encoder, opened) if pictures else None
    others = [path for path in inputs if path not in pictures]
    for block in picture_blocks([name for names in pictures.values() for name in names], encodes, bad):
        yield from _of_block(model, block, asked)
    for path in others:
        dataset = read_source(path, "none", console.warn)
        check_columns(model, run, dataset.X, path)
        for start in range(0, len(dataset), size):
            yield from _of_block(model, dataset.take(slice(start, start + size)), asked)


def _of_block(model: Any, block: "Dataset", asked: Asked) -> Iterator[Prediction]:
    import numpy as np

    S = np.asarray(model.decision_function(block.X))
    if S.ndim == 1:  # of two classes: how much the second is above the first
        S = np.stack([-S, S], axis=1)
    P = model.predict_proba(block.X) if hasattr(model, "predict_proba") else None
    if getattr(model, "has_several_labels", False):
        yield from _several_of_block(model, block, S, P)
        return
    p_values = None if asked.unknown is None else model.unknown_p_values(block.X).tolist()
    taxa = asked.taxa(model, P)
    for i, places in enumerate(_told(model, block, S, asked)):
        labels = [str(label) for label in model.classes_[places].tolist()]
        chances = None if P is None else P[i, places].tolist()
        sure = taxa[i] if taxa else {}
        found = Prediction(block.row_name(i), labels, S[i, places].tolist(), chances, **sure)
        yield found if p_values is None else replace(found, p_value=p_values[i], none=p_values[i] <= asked.unknown)


def _told(model: Any, block: "Dataset", S: Any, asked: Asked) -> Iterable[Any]:
    """The places of the classes that are told of each row, those of the highest scores first."""
    if asked.coverage is None:
        yield from (-S).argsort(axis=1, kind="stable")[:, : asked.top]
        return
    # With a prior, these need not be the classes of the highest scores.
    place_of = {label: place for place, label in enumerate(model.classes_.tolist())}
    for scores, own in zip(S, model.predict_set(block.X, asked.coverage), strict=True):
        yield sorted((place_of[label] for label in own.tolist()), key=lambda place: (-scores[place], place))


def _several_of_block(model: Any, block: "Dataset", S: Any, P: Any) -> Iterator[Prediction]:
    """All labels above their thresholds, the most likely first."""
    ranked = S - model.thresholds_ if P is None else P
    for i, own in enumerate(model.thresholds_ < S):
        places = own.nonzero()[0]
        places = places[(-ranked[i, places]).argsort(kind="stable")]
        labels = [str(label) for label in model.classes_[places].tolist()]
        chances = None if P is None else P[i, places].tolist()
        yield Prediction(block.row_name(i), labels, S[i, places].tolist(), chances, several=True)


def _show(found: Iterable[Prediction], console: Console) -> None:
    rows = iter(found)
    shown = list(islice(rows, _SHOWN))
    if shown and shown[0].several:
        words = [", ".join(map(" ".join, one.words())) or "no label" for one in shown]
        console.table("labels", list(zip((one.name for one in shown), words, strict=True)))
    elif len(shown) == 1:
        console.table(shown[0].name, [*filter(any, shown[0].remarks()), *shown[0].words()])
    elif shown:
        remarks = [column for column in zip(*(one.remarks() for one in shown), strict=True) if any(map(any, column))]
        beside = 1 + len(remarks)  # columns that are no classes
        cells = [list(map(" ".join, one.words())) for one in shown]
        asked = max(map(len, cells))
        lines = [
            [one.name, *(" ".join(column[i]) for column in remarks), *line, *[""] * (asked - len(line))]
            for i, (one, line) in enumerate(zip(shown, cells, strict=True))
        ]
        told = console.columns([*[""] * beside, *map(str, range(1, asked + 1))], lines, least=beside + 1) - beside
        if told < asked:
            console.info(f"of {asked} classes {told} fit on a line; see all with -o predictions.csv or --json")
    left = sum(1 for _ in rows)
    if left:
        console.info(f"{left:,} rows more; see them all with -o predictions.csv or --json")


def _write(path: Path, found: Iterable[Prediction], sets: bool) -> None:
    """A CSV with a line per row, whole or not at all."""
    with _replacing(path) as file:
        lines = csv.writer(file, lineterminator="\n")
        for number, one in enumerate(found):
            cells = _label_cells(one) if one.several else _set_cells(one) if sets else _class_cells(one)
            if number == 0:
                lines.writerow(cells)
            lines.writerow(cells.values())


def _class_cells(one: Prediction) -> dict[str, Any]:
    """Cells by the names of their columns, some for each class."""
    values: dict[str, list[Any]] = {"class": one.classes, "score": one.scores}
    values |= {} if one.probabilities is None else {"probability": one.probabilities}
    numbered = {f"{name}_{i + 1}": values[name][i] for i in range(len(one.classes)) for name in values}
    return {"name": one.name, **_strangeness(one), **numbered}


def _set_cells(one: Prediction) -> dict[str, Any]:
    """The same of a set, whose classes are a list in one cell, as JSON, as rows have more or fewer of them."""
    lists = {"classes": js.dumps(one.classes), "probabilities": js.dumps(one.probabilities)}
    return {"name": one.name, **_strangeness(one), "size": len(one.classes), **lists}


def _label_cells(one: Prediction) -> dict[str, Any]:
    """All labels of a row that may have several, in one cell, and another with a number for each."""
    name = "scores" if one.probabilities is None else "probabilities"
    numbers = one.scores if one.probabilities is None else one.probabilities
    return {"name": one.name, "labels": ";".join(one.classes), name: ";".join(f"{value:.6g}" for value in numbers)}


def _strangeness(one: Prediction) -> dict[str, Any]:
    strange = {} if one.p_value is None else {"p_value": one.p_value, "none_of_these": one.none}
    sure = {} if one.taxon is None else {"taxon": one.taxon, "taxon_probability": one.taxon_probability}
    return strange | sure


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    from manyclass._core.files import TEMPORARY_SUFFIX, create_file, replace_file, sync_file

    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with os.fdopen(create_file(temporary), "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            sync_file(file.fileno())
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
