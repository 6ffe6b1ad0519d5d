"""manyclass features: a folder of pictures into a store of features."""

import time
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyclass._core.shards import Shard
from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    OutStore,
    Overwrite,
    Quiet,
    RayAddress,
    Resume,
    Seed,
    ShardNumber,
    TestFraction,
    WorkerCount,
    WorkerThreads,
    path_argument,
)

if TYPE_CHECKING:
    from manyclass.datasets import ImageSet
    from manyclass.features.extraction.write_features import FeatureRun
    from manyclass.runs.provenance import EncoderKind

_SHOWN = 5  # skipped images in the table; all are in the store

# A median cosine between rows. EfficientNet-Lite0 has 0.2 on photographs of 101 classes, 0.5 with pixels from 0 to 255
# instead of -1 to 1, and 0.98 with a mean of 100.
_ALIKE = 0.95


_LOCAL, _NETWORK, _SIZES = "Of fisher, bow and vlad", "Of networks", "Codes, and sizes of images"


class CodedFeatures(StrEnum):
    """Numbers as they are, or codes of them."""

    none = "none"
    product = "product"
    scalar = "scalar"


@report_errors("the images done so far are safe; give the same command again to go on")
def features(
    source: Annotated[
        Path, path_argument("A folder of images, one folder per class or train/ and val/ in it; or a CSV.")
    ],
    out: OutStore,
    kind: Annotated[
        str,
        typer.Option(
            help="fisher, bow or vlad; network, EfficientNet-Lite0; another one, model.onnx; or a store, to encode "
            "alike."
        ),
    ] = "fisher",
    n_words: Annotated[
        int | None, typer.Option(min=1, help="Gaussians of fisher, words of bow and vlad.", rich_help_panel=_LOCAL)
    ] = None,
    descriptors: Annotated[str | None, typer.Option(help="sift, color, or sift,color.", rich_help_panel=_LOCAL)] = None,
    n_components: Annotated[
        int | None, typer.Option(min=1, help="Numbers left of a descriptor, by PCA.", rich_help_panel=_LOCAL)
    ] = None,
    pyramid: Annotated[
        str | None, typer.Option(help="Regions with vectors of their own, such as 1x1,3x1.", rich_help_panel=_LOCAL)
    ] = None,
    step: Annotated[int | None, typer.Option(min=1, help="Pixels between descriptors.", rich_help_panel=_LOCAL)] = None,
    scales: Annotated[
        int | None, typer.Option(min=1, help="Sizes of the image, each smaller by sqrt(2).", rich_help_panel=_LOCAL)
    ] = None,
    patch: Annotated[
        int | None, typer.Option(min=4, help="Pixels of a patch, a multiple of 4.", rich_help_panel=_LOCAL)
    ] = None,
    n_samples: Annotated[
        int | None, typer.Option(min=1, help="Descriptors to learn from.", rich_help_panel=_LOCAL)
    ] = None,
    layer: Annotated[
        str | None, typer.Option(help="A layer of the network; by default its last map.", rich_help_panel=_NETWORK)
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="spoc, mean, max, gem, or none, of the network.", rich_help_panel=_NETWORK)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Images that go through the network at once.", rich_help_panel=_NETWORK)
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="How pixels go in: imagenet, clip, inception (-1 to 1), unit (0 to 1), bytes.",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option(help="Mean of the colors between 0 and 1, such as 0.5,0.5,0.5.", rich_help_panel=_NETWORK),
    ] = None,
    std: Annotated[str | None, typer.Option(help="Standard deviation of the colors.", rich_help_panel=_NETWORK)] = None,
    size: Annotated[
        str | None, typer.Option(help="Height and width that the network sees, such as 224.", rich_help_panel=_NETWORK)
    ] = None,
    crop: Annotated[
        str | None, typer.Option(help="Central part that it sees, such as 0.875; or stretch.", rich_help_panel=_NETWORK)
    ] = None,
    test_fraction: TestFraction = None,
    codes: Annotated[
        CodedFeatures,
        typer.Option(help="Write codes instead of numbers, which are never on disk.", rich_help_panel=_SIZES),
    ] = CodedFeatures.none,
    block: Annotated[int, typer.Option(min=1, help="Columns per byte of product codes.", rich_help_panel=_SIZES)] = 8,
    max_pixels: Annotated[
        int | None, typer.Option(min=1, help="Larger images are shrunk to so many pixels.", rich_help_panel=_SIZES)
    ] = None,
    max_source_pixels: Annotated[
        int, typer.Option(min=1, max=150_000_000, help="Files with more pixels are skipped.", rich_help_panel=_SIZES)
    ] = 50_000_000,
    seed: Seed = 0,
    shard: ShardNumber = None,
    ray: RayAddress = None,
    workers: WorkerCount = None,
    threads: WorkerThreads = None,
    overwrite: Overwrite = False,
    resume: Resume = True,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn images into features. Bad files are skipped, and listed with the reason in the store.

    fisher, bow and vlad learn from the images first (from those of train/, if there is one). What they learned is kept
    in the store, by which later images are encoded alike: --kind OUT. Labels come from the folders. The store is
    replaced at one instant. If it is interrupted, the same command goes on where it stopped.

    With --shard 3/16 only the third of sixteen parts of the images is encoded, into a store of its own. Parts may be
    made anywhere and in any order; each learns the same from all images, or takes it from another part: --kind PART.
    `manyclass join OUT PARTS...` makes of them, byte for byte, the store of one command without --shard.

    With --ray the nodes of a Ray cluster make such parts in OUT.parts, and the store is the same; images and OUT must
    lie on storage that all nodes share. A node that is lost costs what it had not finished.
    """
    from manyclass._core.parallel import threads as limit_threads
    from manyclass.cli.terminal.cluster_option import on_cluster
    from manyclass.runs.feature_store import features_provenance, list_pictures
    from manyclass.runs.provenance import choose_kind

    started, console = time.perf_counter(), Console(quiet, json)
    options = {
        "n_words": n_words, "descriptors": descriptors, "n_components": n_components, "pyramid": pyramid, "step": step,
        "scales": scales, "patch": patch, "n_samples": n_samples, "layer": layer, "pooling": pooling,
        "batch_size": batch_size, "preset": preset, "mean": mean, "std": std, "size": size, "crop": crop,
        "max_pixels": max_pixels,
    }  # fmt: skip
    wanted, part = choose_kind(kind, seed, options), None if shard is None else Shard.parse(shard)
    if part is not None and ray is not None:
        raise typer.BadParameter("--shard does not go with --ray, which makes parts of its own")
    with limit_threads(threads), on_cluster(ray, workers, console, threads) as cluster:
        images = list_pictures(source, out, test_fraction, seed, console.warn)
        found = time.perf_counter()
        write, about, encoder = _prepared(out, cluster, wanted, images, overwrite, resume, console)
        given = {"input": encoder.input_} if hasattr(encoder, "input_") else {}  # what a network sees, in words
        learned = time.perf_counter()
        with console.progress("encoding", "images") as report:
            run = write(
                out,
                images.paths,
                encoder,
                y=images.y,
                names=images.names,
                split=images.split,
                quantizer=None
                if codes is CodedFeatures.none
                else _quantizer(codes, block, encoder.n_features_out_, seed),
                seed=seed,
                max_source_pixels=max_source_pixels,
                overwrite=overwrite,
                resume=resume or wanted.is_learned,  # what was there is dropped, and what was learned since is kept
                provenance=features_provenance(source, kind, seed, test_fraction, encoder),
                progress=report,
                **({"about": about} if cluster else {"shard": part}),
            )
        encoded = time.perf_counter()
        if given and run.similarity > _ALIKE:
            console.warn(
                f"rows are nearly all alike (a median cosine of {run.similarity:.3f}), as happens where pixels are not "
                f"in the range that a network was trained with ({encoder.input_}); try another --preset"
            )
    given |= {} if shard is None else {"shard": shard}
    taken = {"seconds": time.perf_counter() - started, "encoding_seconds": encoded - learned}
    taken |= {"learning_seconds": learned - found} if wanted.is_learned else {}
    result = _result(out, run, run.store.nbytes, taken) | given
    rows = _rows(result)
    console.json(result)
    console.table(str(out), rows)


def _prepared(
    out: Path, cluster: Any, kind: "EncoderKind", images: "ImageSet", overwrite: bool, resume: bool, console: Console
) -> tuple[Any, dict[str, Any] | None, Any]:
    """What writes features; how the encoder was learned; and it: read, left by an earlier attempt, or learned now."""
    from manyclass.features.extraction.write_features import write_features
    from manyclass.runs.feature_store import prepared_encoder, training_paths
    from manyclass.runs.joining.spread_features import check_free, spread_features
    from manyclass.runs.joining.worker_parts import LEARNED, holding_parts, parts_folder, remove_parts

    if cluster:
        check_free(out, overwrite)
        if not resume:
            with holding_parts(parts_folder(out)):
                remove_parts(parts_folder(out))
    write = spread_features if cluster else write_features
    place = parts_folder(out) / LEARNED if cluster else out
    given = (False, True) if cluster else (overwrite, resume)
    return write, *prepared_encoder(place, kind, training_paths(images), *given, console.progress)


def _quantizer(codes: CodedFeatures, block: int, d: int, seed: int) -> Any:
    """The quantizer, which is still to learn."""
    from manyclass.runs.compression import product_coding, scalar_coding

    if codes is CodedFeatures.scalar:
        return scalar_coding(8, None, seed).quantizer()
    return product_coding(d, "the features", block, 256, None, None, seed).quantizer()


def _result(out: Path, run: "FeatureRun", n_bytes: int, taken: dict[str, float]) -> dict[str, Any]:
    n = int(run.store.provenance["images"])
    skipped = [{"name": entry.name, "reason": entry.reason} for entry in run.skipped]
    return {
        "path": str(out),
        "images": n,
        "rows": run.store.shape[0],
        "dimensions": run.store.shape[1],
        "bytes": n_bytes,
        "classes": None if run.store.classes is None else len(run.store.classes),
        "split": None if run.store.split is None else _counts(run.store.split),
        "kind": str(run.store.provenance["kind"]),
        "encoder": str(out),  # what --kind takes to encode alike
        "skipped": skipped,
        "resumed_after": run.resumed_after,
        **taken,
        "images_per_second": (n - run.resumed_after) / taken["encoding_seconds"],
    }


def _counts(split: Any) -> dict[str, int]:
    import numpy as np

    parts, counts = np.unique(np.asarray(split), return_counts=True)
    return dict(zip(map(str, parts.tolist()), counts.tolist(), strict=True))


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    skipped = result["skipped"]
    shown = [(repr(entry["name"]), entry["reason"]) for entry in skipped[:_SHOWN]]
    return [
        ("images", f"{result['images']:,}" + (f", part {result['shard']}" if "shard" in result else "")),
        ("rows", f"{result['rows']:,} of {result['dimensions']:,} numbers"),
        ("size", format_bytes(result["bytes"])),
        ("classes", f"{result['classes']:,}" if result["classes"] else "no labels"),
        *((("split", ", ".join(f"{part} {n:,}" for part, n in result["split"].items())),) if result["split"] else ()),
        ("features", f"{result['kind']}; of other pictures alike by --kind {quote(result['encoder'])}"),
        *((("input", result["input"]),) if "input" in result else ()),
        *((("learning", format_seconds(result["learning_seconds"])),) if "learning_seconds" in result else ()),
        ("encoding", f"{format_seconds(result['encoding_seconds'])}, {result['images_per_second']:,.1f} images/s"),
        ("time", format_seconds(result["seconds"])),
        ("skipped", f"{len(skipped):,}, all listed in the store" if skipped else "none"),
        *shown,
    ]
