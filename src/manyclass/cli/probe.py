"""manyclass probe: how good are these embeddings?"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes, format_p, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    LabelFile,
    Quiet,
    Seed,
    TestFraction,
    Threads,
    check_printable,
    out_option,
    path_argument,
)

_METHODS = (
    "Some of means, knn20, knn, closed, ovr, linear, softmax, trace, with commas; or all. By default all but the last "
    "two, which take longer."
)

_ACCURACIES = ("method", "top-1", "top-5", "mean per class")

_COSTS = ("method", "to the best", "time", "to keep", "chosen")


@report_errors("nothing was changed; start again when you like")
def probe(
    data: Annotated[
        list[Path],
        path_argument("Stores, .npy, .npz, parquet, ..., with labels; several are compared.", repeated=True),
    ],
    out: Annotated[Path | None, out_option("A file for the record, which `manyclass report` shows.")] = None,
    methods: Annotated[str | None, typer.Option(help=_METHODS, show_default=False)] = None,
    labels: LabelFile = None,
    test_fraction: TestFraction = None,
    sample: Annotated[
        int | None, typer.Option(min=2, help="Learn from, and judge by, so many rows at most.", show_default="all")
    ] = None,
    shots: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Also learn from so many examples of each class, such as 1,2,5,10."),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How good are these embeddings? Learn their classes by several methods, judged by the same rows.

    means    the class whose mean is nearest
    knn20    20 neighbors vote, the protocol that papers report
    knn      neighbors vote; how many, and by which metric, is chosen
    closed   ridge regression of every class, in closed form
    ovr      one-vs-rest
    linear   softmax with a ridge, the linear probe that papers report
    softmax  softmax by stochastic descent
    trace    softmax with a trace norm, which takes long

    Settings are chosen on rows to learn from. Brackets hold intervals of 95 %.

    A split of the data is used: train and val to learn from, test to judge by.
    Of data without one, a fifth of every class is held out.
    Several files must have the same rows in the same order.
    """
    import manyclass as mc

    console = Console(quiet, json)
    check_printable(out)
    with mc.threads(threads):
        found = mc.runs.probe(
            *data,
            methods=methods,
            labels=labels,
            test_fraction=test_fraction,
            sample=sample,
            shots=shots,
            seed=seed,
            out=out,
            arguments=sys.argv[1:],
            notify=console.info,
            warn=console.warn,
            progress=console.progress,
        )
    console.json(found | {"path": None if out is None else str(out)})
    print_probe(console, found)
    if out is not None:
        console.line(f"written to {out}; manyclass report {out} shows it")


def print_probe(console: Console, found: dict[str, Any]) -> None:
    """Accuracies and costs of every file, the differences between files, and the verdict."""
    several = len(found["embeddings"]) > 1
    for one in found["embeddings"]:
        title = f"{one['name']}, {one['columns']:,} columns: accuracy in percent"
        console.columns(_ACCURACIES, [_accuracies(method) for method in one["methods"]], title, numbers=True)
        console.columns(_COSTS, [_costs(method) for method in one["methods"]])
        if one["shots"]:
            print_shots(console, one["shots"])
    if several:
        print_comparison(console, found["comparison"])
    console.line(found["verdict"])


def print_shots(console: Console, shots: list[dict[str, Any]]) -> None:
    """The learning curve: a line for each number of examples, a column for each method."""
    titles = list(dict.fromkeys(one["title"] for one in shots))
    lines: dict[int, list[str]] = {}
    for one in shots:
        lines.setdefault(one["shots"], []).append(_share(one["top_1"]))
    rows = [(f"{number:,}", *cells) for number, cells in lines.items()]
    console.columns(("examples of a class", *titles), rows, "top-1 in percent, mean of draws", numbers=True)


def print_comparison(console: Console, comparison: list[dict[str, Any]]) -> None:
    """By how much the best file is ahead of the others, by each method."""
    for first, second in dict.fromkeys((one["first"], one["second"]) for one in comparison):
        rows = [
            (one["method"], _difference(one), format_p(one["p"]))
            for one in comparison
            if (one["first"], one["second"]) == (first, second)
        ]
        title = f"{first} less {second}: top-1 in points, on the same rows"
        console.columns(("method", "difference", "p"), rows, title, numbers=True)


def _accuracies(method: dict[str, Any]) -> tuple[str, ...]:
    return method["title"], *(_share(method[key]) for key in ("top_1", "top_5", "mean_per_class"))


def _costs(method: dict[str, Any]) -> tuple[str, ...]:
    apart = "best" if method["against"] is None else _difference(method["against"])
    seconds = format_seconds(method["fit_seconds"] + method["predict_seconds"])
    chosen = ", ".join(f"{name} {_setting(value)}" for name, value in method["settings"].items())
    return method["title"], apart, seconds, format_bytes(method["bytes"]), chosen


def _setting(value: Any) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def _share(share: dict[str, float]) -> str:
    return f"{100 * share['value']:.1f} [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"


def _difference(found: dict[str, float]) -> str:
    return f"{100 * found['difference']:+.1f} [{100 * found['low']:+.1f}, {100 * found['high']:+.1f}]"
