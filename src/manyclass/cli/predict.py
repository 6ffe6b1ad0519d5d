"""manyclass predict: the classes of pictures or of rows of features."""

import csv
import json as js
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from manyclass.cli.failures import FAILED, complain, reported, while_read
from manyclass.cli.output import print_columns, print_table
from manyclass.cli.paths import expanded

_SHOWN = 20
_SCORES_AT_ONCE = 1 << 22


@reported("nothing was written")
def predict(
    run: Annotated[Path, typer.Argument(callback=expanded, help="A run of manyclass train, or the file of a model.")],
    inputs: Annotated[
        list[Path], typer.Argument(help="Pictures, folders of them, or features: .npy, .npz, a store, ...")
    ],
    top: Annotated[int, typer.Option(min=1, help="Classes to tell of each row.")] = 5,
    encoder: Annotated[
        Path | None, typer.Option(help="The encoder of the pictures.", show_default="that of the run")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="A CSV file to write, for many rows.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of pictures that cannot be read.")] = False,
) -> None:
    """Tell the best classes, with probabilities where the classifier has them and scores otherwise.

    Pictures go through the encoder that made the features of the training data. Those that cannot be read are named,
    and the exit code is 1.
    """
    import manyclass as mc

    unread: list[str] = []

    def bad(name: str, why: str) -> None:
        unread.append(name)
        if not quiet:
            complain(f"{name} {why}")

    with mc.threads(threads):
        found = _predictions(run, [path.expanduser() for path in inputs], encoder, top, bad)
        if out is not None:
            _write(out.expanduser(), found)
        elif json:
            with while_read():
                for prediction in found:
                    print(js.dumps(prediction.plain()))
        else:
            _show(found)
    if unread:
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class Prediction:
    """The best classes of a row, and their scores, and probabilities if there are any."""

    name: str
    classes: list[str]
    scores: list[float]
    probabilities: list[float] | None

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return vars(self)

    def words(self) -> list[tuple[str, str]]:
        """Each class, and how likely or how high it is."""
        if self.probabilities is None:
            said = (f"{score:.3f}" for score in self.scores)
        else:
            said = (f"{probability:.1%}" for probability in self.probabilities)
        return list(zip(self.classes, said, strict=True))


def _predictions(run: Path, inputs: list[Path], encoder: Path | None, top: int, bad: Any) -> Iterator[Prediction]:
    from manyclass.cli.models import check_columns, open_classifier, open_encoder
    from manyclass.cli.rows_to_predict import feature_blocks, picture_blocks, pictures_among

    model = open_classifier(run)
    size = max(1, _SCORES_AT_ONCE // len(model.classes_))
    pictures = pictures_among(inputs)
    encodes = open_encoder(run, encoder.expanduser() if encoder else None, model) if pictures else None
    others = [path for path in inputs if path not in pictures]
    for block in picture_blocks([name for names in pictures.values() for name in names], encodes, bad):
        yield from _of_block(model, block, top)
    for path in others:
        for block in feature_blocks(path, lambda X, source: check_columns(model, run, X, source), size):
            yield from _of_block(model, block, top)


def _of_block(model: Any, block: Any, top: int) -> Iterator[Prediction]:
    import numpy as np

    S = np.asarray(model.decision_function(block.X))
    if S.ndim == 1:  # of two classes: how much the second is above the first
        S = np.stack([-S, S], axis=1)
    best = np.argsort(-S, axis=1, kind="stable")[:, :top]
    P = np.take_along_axis(model.predict_proba(block.X), best, 1) if hasattr(model, "predict_proba") else None
    for i, places in enumerate(best):
        labels = [str(label) for label in model.classes_[places].tolist()]
        yield Prediction(block.names[i], labels, S[i, places].tolist(), None if P is None else P[i].tolist())


def _show(found: Iterable[Prediction]) -> None:
    rows = iter(found)
    shown = list(islice(rows, _SHOWN))
    if len(shown) == 1:
        print_table(shown[0].name, shown[0].words())
    elif shown:
        lines = [[one.name, *map(" ".join, one.words())] for one in shown]
        print_columns(["", *map(str, range(1, len(shown[0].classes) + 1))], lines)
    left = sum(1 for _ in rows)
    if left:
        complain(f"{left:,} rows more; see them all with -o predictions.csv or --json")


def _write(path: Path, found: Iterable[Prediction]) -> None:
    """A CSV with a line per row, whole or not at all."""
    with _replacing(path) as file:
        lines = csv.writer(file, lineterminator="\n")
        for number, one in enumerate(found):
            values: dict[str, list[Any]] = {"class": one.classes, "score": one.scores}
            values |= {} if one.probabilities is None else {"probability": one.probabilities}
            places = range(len(one.classes))
            if number == 0:
                lines.writerow(["name", *(f"{name}_{i + 1}" for i in places for name in values)])
            lines.writerow([one.name, *(column[i] for i in places for column in values.values())])
    complain(f"written to {path}")


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    from manyclass import _atomic

    temporary = path.with_name(path.name + _atomic.TEMPORARY)
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            _atomic.sync(file.fileno())
        _atomic.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
