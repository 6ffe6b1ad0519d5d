"""manyclass encode: features into a gallery that can be searched; or images into and out of one."""

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import option_words, report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    LabelsOrNone,
    Overwrite,
    Quiet,
    RayAddress,
    Seed,
    ShardNumber,
    WorkerCount,
    WorkerThreads,
    out_option,
    path_argument,
    path_option,
)

_UNLABELED = ", every image its own; give --labels where several show the same, or too little is called matched"


class KernelName(StrEnum):
    """How a kernel machine compares two images."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"


class FactorizationName(StrEnum):
    """How a kernel machine factors the Gram matrix of its negatives."""

    cholesky = "cholesky"
    kpca = "kpca"
    nystrom = "nystrom"
    incomplete_cholesky = "incomplete_cholesky"
    incomplete_cholesky_pinv = "incomplete_cholesky_pinv"


class SolverName(StrEnum):
    """How an exemplar support vector machine is trained."""

    sgd = "sgd"
    exact = "exact"


@report_errors("the gallery has all of the change or none of it; give the same command again")
def encode(
    out: Annotated[Path, out_option("The gallery to write, or to change.")],
    data: Annotated[
        Path | None, path_argument("Features: a store, .npy, .npz, parquet, or a folder of shards.")
    ] = None,
    negatives: Annotated[Path | None, path_option("Features of unrelated images; by default a part of DATA.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="slem (default), kernel-slem, lda, esvm, whitening or none; with --evaluate several, a,b,c."),
    ] = None,
    regularization: Annotated[
        float | None, typer.Option(min=0, help="Of slem, kernel-slem and esvm; by default the largest variance.")
    ] = None,
    positive_weight: Annotated[float | None, typer.Option(min=0, help="Of slem, kernel-slem and esvm.")] = None,
    kernel: Annotated[KernelName | None, typer.Option(help="Of kernel-slem; by default rbf.")] = None,
    gamma: Annotated[float | None, typer.Option(min=0, help="Of the kernels rbf and poly.")] = None,
    rank: Annotated[int | None, typer.Option(min=1, help="Of kernel-slem; by default as it is found.")] = None,
    factorization: Annotated[FactorizationName | None, typer.Option(help="Of kernel-slem.")] = None,
    solver: Annotated[SolverName | None, typer.Option(help="Of esvm.")] = None,
    n_steps: Annotated[int | None, typer.Option(min=1, help="Of esvm by sgd.")] = None,
    n_components: Annotated[
        int | None, typer.Option(min=1, help="Of whitening; by default as the variances say.")
    ] = None,
    power: Annotated[float | None, typer.Option(min=0, help="Of whitening; 0 is PCA alone.")] = None,
    n_background: Annotated[int | None, typer.Option(min=1, help="Negatives that scores are judged by.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Most negatives to learn from, drawn at random.")] = None,
    false_match: Annotated[float, typer.Option(min=0, max=1, help="How often strangers may be called matched.")] = 0.05,
    tune: Annotated[
        bool | None,
        typer.Option("--tune/--no-tune", help="Choose settings by the labels of DATA; by default where that is quick."),
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Measure how well images find their class; the best method is kept.")
    ] = False,
    labels: LabelsOrNone = None,
    encoder: Annotated[Path | None, path_option("What turned pictures into DATA; by default that in DATA.")] = None,
    pictures: Annotated[Path | None, path_option("The folder of the pictures; by default that of DATA.")] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="exact (default), hnsw, ivf or pq4; without DATA, that of the gallery changes."
        ),
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add the rows of DATA to the gallery that is there.")] = False,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Take an image out of the gallery; may be repeated.")
    ] = None,
    seed: Seed = 0,
    shard: ShardNumber = None,
    ray: RayAddress = None,
    workers: WorkerCount = None,
    threads: WorkerThreads = None,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Encode features into a gallery, each image by a machine of its own against unrelated ones (the negatives).

    Images are known by the names of their rows, or by numbers. A gallery made of the features of pictures can be
    searched by pictures. With --evaluate the mean average precision of every method is kept in the gallery. The
    gallery is written at one instant: one that is interrupted leaves what was there.

    With --index a search looks at a part of the gallery only, which pays from some hundred thousand images on, and may
    miss some of the best; scores stay exact. It needs the package faiss.

    With --shard 3/16 only the third of sixteen parts of DATA is encoded, into a gallery of its own, against the same
    negatives; `manyclass join OUT PARTS...` makes of all parts, byte for byte, the gallery of one command without it.

    With --ray the nodes of a Ray cluster encode the rows, in parts that lie in OUT.parts until the gallery is whole; it
    is the same, byte for byte. DATA and OUT must lie on storage that all nodes share. The encoder is fitted here, once.
    """
    import manyclass as mc
    from manyclass.cli.terminal.cluster_option import on_cluster

    started, console = time.perf_counter(), Console(quiet, json)
    given = {
        "regularization": regularization, "positive_weight": positive_weight, "kernel": kernel, "gamma": gamma,
        "rank": rank, "factorization": factorization, "solver": solver, "n_steps": n_steps,
        "n_components": n_components, "power": power, "n_background": n_background,
    }  # fmt: skip
    making = {"negatives": negatives, "method": method, **given, "sample": sample, "encoder": encoder, "shard": shard}
    if ray is not None and shard is not None:
        raise typer.BadParameter("--shard does not go with --ray, which makes parts of its own")
    changes = add or bool(remove) or (data is None and index is not None)
    if ray is not None and changes:
        raise typer.BadParameter("--ray makes a new gallery; without it this machine adds and removes images")
    check_usage(data, add, remove, index, making | {"tune": tune, "evaluate": evaluate, "overwrite": overwrite})
    with mc.threads(threads), on_cluster(ray, workers, console, threads):
        if changes:
            result = mc.runs.update_gallery(
                out,
                data if add else None,
                remove=remove or [],
                labels=labels,
                pictures=pictures,
                index=index,
                warn=console.warn,
                progress=console.progress,
            )
        else:
            result = mc.runs.build_gallery(
                data,
                out,
                negatives=negatives,
                method=method,
                settings={name: _plain(value) for name, value in given.items() if value is not None},
                sample=sample,
                false_match=false_match,
                tune=tune,
                evaluate=evaluate,
                labels=labels,
                encoder=encoder,
                pictures=pictures,
                seed=seed,
                overwrite=overwrite,
                warn=console.warn,
                notify=console.info,
                progress=console.progress,
                shard=shard,
                index=index,
            )
            result["negatives_from"] = option_words(result["negatives_from"])
    result["seconds"] = time.perf_counter() - started
    console.json(result)
    (print_updated if changes else print_built)(console, result)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def check_usage(
    data: Path | None, add: bool, remove: list[str] | None, index: str | None, making: dict[str, Any]
) -> None:
    """Refuse options of a new gallery beside those that change one, and data that would not be used."""
    if add and data is None:
        raise typer.BadParameter("--add needs DATA: the features to add")
    if remove and data is not None and not add:
        raise typer.BadParameter(f"--remove does not use {data}; add --add to add its rows, or leave it out")
    if not add and not remove:
        if data is None and index is None:
            raise typer.BadParameter("DATA is missing: the features to encode")
        if data is not None:
            return
    change = "--add" if add else "--remove" if remove else "--index without DATA"
    for option, value in making.items():
        if value is not None and value is not False:
            word = option.replace("_", "-")
            raise typer.BadParameter(f"--{word} does not go with {change}: the gallery keeps what it was made with")


def print_built(console: Console, result: dict[str, Any]) -> None:
    """A new gallery, and the methods that were compared for it."""
    console.table(result["path"], _rows(result))
    if result["evaluation"] is not None:
        methods = result["evaluation"]["methods"]
        names = ("method", "mAP", "interval", "to the best", "interval", "numbers", "time")
        title = "mean average precision in percent, with intervals of 95 %"
        console.columns(names, [_method(method) for method in methods], title, numbers=True)


def print_updated(console: Console, result: dict[str, Any]) -> None:
    """A gallery that was added to or removed from."""
    counts = [(key, f"{result[key]:,}") for key in ("added", "removed", "images")]
    console.table(result["path"], [*counts, *_index(result), ("time", format_seconds(result["seconds"]))])


def _index(result: dict[str, Any]) -> list[tuple[str, str]]:
    """What kind of index a gallery has, and what it finds."""
    found = result["index"]
    if found is None:
        return []
    if not found["bytes"]:
        return [("index", f"{found['kind']}, of which so few images have no need")]
    recall = "" if found["recall"] is None else f", finds {found['recall']:.1%} of the ten nearest"
    return [("index", f"{found['kind']} ({found['factory']}), {format_bytes(found['bytes'])}{recall}")]


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    by_pictures = "yes" if result["search_by_pictures"] else "no, as the encoder of its pictures is not known"
    rows = [
        ("images", f"{result['images']:,} of {result['columns']:,} numbers, encoded as {result['codes']:,}"),
        ("method", result["method"] + _settings(result["settings"])),
        ("things", f"{result['things']:,}" + ("" if result["labeled"] else _UNLABELED)),
        ("negatives", result["negatives_from"]),
        *_index(result),
        ("search by pictures", by_pictures),
        ("time", format_seconds(result["seconds"])),
    ]
    if result["tuned"]:
        best = max(tried["mAP"] for tried in result["tuned"])
        rows.insert(2, ("tuned", f"{len(result['tuned'])} settings tried, the best has mAP {best:.1%}"))
    if result["evaluation"] is not None:
        rows += [
            ("evaluated", result["evaluation"]["protocol"]),
            ("kept", result["method"]),
            ("record", result["record"]),
        ]
    return rows


def _settings(settings: dict[str, Any]) -> str:
    hidden = ("random_state", "n_background")
    shown = {key: value for key, value in settings.items() if key not in hidden and value is not None}
    plain = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in shown.items()}
    words = ", ".join(f"{key} {value}" for key, value in plain.items())
    return f" ({words})" if words else ""


def _method(method: dict[str, Any]) -> tuple[str, ...]:
    against = method["against"]
    difference = ("", "") if against is None else (f"{100 * against['difference']:+.1f}", _interval(against, "+"))
    mean = (f"{100 * method['map']:.1f}", _interval(method, ""))
    return (method["name"], *mean, *difference, f"{method['columns']:,}", format_seconds(method["seconds"]))


def _interval(found: dict[str, Any], sign: str) -> str:
    return f"{100 * found['low']:{sign}.1f} to {100 * found['high']:{sign}.1f}"
