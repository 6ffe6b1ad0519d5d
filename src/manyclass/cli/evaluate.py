"""manyclass evaluate: how often a classifier is right, on which classes, and what it takes for what."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_seconds
from manyclass.cli._console import print_json, print_table, progress
from manyclass.cli._errors import complain, report_errors
from manyclass.cli._options import expand_path
from manyclass.runs.folder import EVALUATIONS, read_run
from manyclass.runs.subsets import Subset, read_labeled, restore_splits_of_run, subset_of

_SHOWN = 5


@report_errors("nothing was changed")
def evaluate(
    run: Annotated[
        Path, typer.Argument(callback=expand_path, help="A run of manyclass train, or the file of a model.")
    ],
    data: Annotated[Path, typer.Argument(callback=expand_path, help="A store, .npy, .npz, ..., with labels.")],
    labels: Annotated[str | None, typer.Option(help="One label per row: a CSV or .npy file.")] = None,
    part: Annotated[str | None, typer.Option(help="A part of the split.", show_default="test, val, or all")] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The file to write.", show_default="RUN/evaluations/DATA-PART.json"),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Judge a classifier on data with labels, which must have its columns and classes; classes go by name.

    The result is kept with the run, where a report finds it.
    """
    import manyclass as mc

    still = quiet or json
    with mc.threads(threads):
        model, examples = _opened(run, data, labels, part)
        if not still:
            which = f" of the part {examples.part}" if examples.part != "all" else ""
            complain(f"judging {examples.X.shape[0]:,} rows{which} of {data}")
        record = run_evaluation(model, examples, still)
        _warn_of_seen_rows(run, record)
    file = out.expanduser() if out is not None else evaluation_file(run, examples)
    if file is not None:
        write_evaluation(file, record)
    if json:
        print_json({**record, "path": None if file is None else str(file)})
    else:
        print_table(f"{run} on {data}", _rows(record, file))


def _warn_of_seen_rows(run: Path, record: dict[str, Any]) -> None:
    from manyclass.runs.folder import seen_rows

    seen = seen_rows(read_run(run), record["data"]) if run.is_dir() else None
    if seen is not None:
        complain(f"{seen}: what it reaches on them says little of others")


def _opened(run: Path, data: Path, labels: str | None, part: str | None) -> tuple[Any, Subset]:
    """A classifier and examples that fit together."""
    from manyclass.runs.load_model import check_columns, check_labels, labels_for, open_classifier

    model = open_classifier(run)
    features = restore_splits_of_run(read_labeled(data, labels), run, data)
    check_columns(model, run, features.X, data)
    examples = subset_of(features, labels_for(model, features), data, part, ("test", "val"))
    if not len(examples.y):
        raise ValueError(f"{data} must have at least one row to judge; got none")
    check_labels(model, run, examples.y, data)
    return model, examples


def run_evaluation(model: Any, examples: Subset, quiet: bool) -> dict[str, Any]:
    """The record of an evaluation."""
    from manyclass.runs.evaluation import evaluate_model
    from manyclass.runs.provenance import pictures_of

    started = time.perf_counter()
    with progress("judging", "rows", quiet) as report:
        numbers = evaluate_model(model, examples, report)
    return {
        "data": examples.data("test"),
        "rows": examples.X.shape[0],
        "seconds": time.perf_counter() - started,
        **numbers,
        "pictures": pictures_of(examples.source),
    }


def evaluation_file(run: Path, examples: Subset) -> Path | None:
    """Where the result of a run goes; None for a model that is a file."""
    if run.is_file():
        return None
    name = examples.source.name if examples.source.is_dir() else examples.source.stem
    return run / EVALUATIONS / f"{name.removesuffix('.store')}-{examples.part}.json"


def write_evaluation(file: Path, record: dict[str, Any]) -> None:
    """Write it where a report finds it."""
    from manyclass.runs.records import write_record

    file.parent.mkdir(parents=True, exist_ok=True)
    write_record(file, "evaluation", record)


def _rows(record: dict[str, Any], file: Path | None) -> list[tuple[str, str]]:
    mistaken = [one for one in record["per_class"] if one["right"] < one["rows"]]
    worst = sorted(mistaken, key=lambda one: one["accuracy"])[:_SHOWN]
    return [
        ("rows", f"{record['rows']:,}, part {record['data']['part']}, {len(record['per_class']):,} classes"),
        ("top-1", f"{record['top_1']:.2%}"),
        ("top-5", f"{record['top_5']:.2%}"),
        ("mean per class", f"{record['mean_per_class']:.2%}"),
        *(("worst class", f"{one['class']}: {one['right']} of {one['rows']}") for one in worst),
        *(
            ("confused", f"{one['class']} taken for {one['predicted']}: {one['count']}")
            for one in record["confusions"][:_SHOWN]
        ),
        ("time", format_seconds(record["seconds"])),
        *([("written to", str(file))] if file is not None else []),
    ]
