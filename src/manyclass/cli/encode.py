"""manyclass encode: features into a gallery that can be searched."""

import time
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.encode_usage import check_usage
from manyclass.cli.encoding_methods import Factorization, Kernel, Solver, chosen_methods
from manyclass.cli.failures import complain, reported
from manyclass.cli.output import print_json
from manyclass.cli.paths import expanded, maybe_expanded


@reported("the gallery is as it was before; give the same command again to start over")
def encode(
    out: Annotated[Path, typer.Option("-o", "--out", callback=expanded, help="The gallery to write, or to change.")],
    data: Annotated[
        Path | None,
        typer.Argument(callback=maybe_expanded, help="Features: a store, .npy, .npz, parquet, or a folder of shards."),
    ] = None,
    negatives: Annotated[
        Path | None,
        typer.Option(callback=maybe_expanded, help="Features of unrelated images; by default a part of DATA."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="slem (default), kernel-slem, lda, esvm, whitening or none; with --evaluate several: a,b,c."),
    ] = None,
    regularization: Annotated[float | None, typer.Option(min=0, help="Of slem, kernel-slem and esvm.")] = None,
    positive_weight: Annotated[float | None, typer.Option(min=0, help="Of slem, kernel-slem and esvm.")] = None,
    kernel: Annotated[Kernel | None, typer.Option(help="Of kernel-slem; by default rbf.")] = None,
    gamma: Annotated[float | None, typer.Option(min=0, help="Of the kernels rbf and poly.")] = None,
    rank: Annotated[int | None, typer.Option(min=1, help="Of kernel-slem; by default as it is found.")] = None,
    factorization: Annotated[Factorization | None, typer.Option(help="Of kernel-slem.")] = None,
    solver: Annotated[Solver | None, typer.Option(help="Of esvm.")] = None,
    n_steps: Annotated[int | None, typer.Option(min=1, help="Of esvm by sgd.")] = None,
    n_components: Annotated[int | None, typer.Option(min=1, help="Of whitening; by default all.")] = None,
    power: Annotated[float | None, typer.Option(min=0, help="Of whitening; 0 is PCA alone.")] = None,
    n_background: Annotated[int | None, typer.Option(min=1, help="Negatives that scores are judged by.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Most negatives to learn from, drawn at random.")] = None,
    false_match: Annotated[float, typer.Option(min=0, max=1, help="How often strangers may be called matched.")] = 0.05,
    tune: Annotated[bool, typer.Option("--tune", help="Choose the settings by the labels of DATA.")] = False,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Measure how well images find their class; the first method is kept.")
    ] = False,
    labels: Annotated[
        str | None, typer.Option(help="One label per row: a CSV or .npy file; or none, to leave out those found.")
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(callback=maybe_expanded, help="What turned pictures into DATA; by default DATA.encoder."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(callback=maybe_expanded, help="The folder of the pictures; by default that of DATA.")
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add the rows of DATA to the gallery that is there.")] = False,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Take an image out of the gallery; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same gallery.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a gallery that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Encode features into a gallery, each image by a machine of its own against unrelated ones (the negatives).

    Images are known by the names of their rows, or by numbers. A gallery made of the features of pictures can be
    searched by pictures. With --evaluate the mean average precision of every method goes to OUT/retrieval.json. The
    gallery is written at one instant: one that is interrupted leaves what was there.
    """
    import manyclass as mc
    from manyclass.cli.gallery_changes import changed
    from manyclass.cli.gallery_plan import Plan, built
    from manyclass.cli.gallery_tables import print_built, print_changed

    started = time.perf_counter()
    options = {
        "regularization": regularization, "positive_weight": positive_weight, "kernel": kernel, "gamma": gamma,
        "rank": rank, "factorization": factorization, "solver": solver, "n_steps": n_steps,
        "n_components": n_components, "power": power, "n_background": n_background,
    }  # fmt: skip
    making = {"negatives": negatives, "method": method, **options, "sample": sample, "encoder": encoder}
    check_usage(data, add, remove, making | {"tune": tune, "evaluate": evaluate, "overwrite": overwrite})
    tell = (lambda message: None) if quiet or json else complain
    with mc.threads(threads):
        if add or remove:
            result = changed(out, data if add else None, remove or [], labels, pictures, quiet or json)
            show = print_changed
        else:
            methods = chosen_methods(method or "slem", seed, options)
            plan = Plan(_given(data), out, negatives, methods, sample, false_match, labels, encoder, pictures, seed)
            result = built(plan, tune, evaluate, overwrite, tell, quiet or json)
            show = print_built
    result["seconds"] = time.perf_counter() - started
    if json:
        print_json(result)
    else:
        show(result)


def _given(data: Path | None) -> Path:
    if data is None:
        raise typer.BadParameter("DATA is missing: the features to encode")
    return data
