"""From pictures to a store of features: which pictures there are, and the encoder that is read, learned, or kept."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.models import load
from manyclass._core.typing import Notify, ProgressFactory
from manyclass.runs.provenance import EncoderKind, about_encoder, encoder_file, keep_encoder, kept_encoder

if TYPE_CHECKING:
    from manyclass.datasets.image_folders import ImageSet
    from manyclass.features.extraction.earlier_rows import EarlierRows
    from manyclass.features.extraction.write_features import FeatureRun

MADE_BY = "manyclass features"

LEARNED_FROM = "learned from"  # how many pictures, in what a store knows of its encoder


def list_pictures(
    source: Path, out: Path, test_fraction: float | None = None, seed: int = 0, warn: Notify | None = None
) -> "ImageSet":
    """The pictures of a folder or a table, without what `out` is; a part of every class may be drawn for testing."""
    from manyclass.datasets.image_folders import read_images
    from manyclass.runs.sources import check_is_pictures, splits_with_test

    check_is_pictures(source)
    images = read_images(source, out)
    for notice in images.notices if warn else ():
        warn(notice)  # type: ignore[misc]
    if test_fraction is None:
        return images
    return replace(images, split=splits_with_test(images.y, images.split, test_fraction, seed, source))


def training_paths(images: "ImageSet") -> Sequence[str]:
    """The pictures that encoders learn from: those of the part train, or all."""
    train = [path for i, path in enumerate(images.paths) if images.split is None or images.split[i] == "train"]
    return train or images.paths


def prepared_encoder(
    place: Path, kind: EncoderKind, chosen: Sequence[str], overwrite: bool, resume: bool, progress: ProgressFactory
) -> tuple[dict[str, Any] | None, Any]:
    """(how it was learned, the encoder): read, left by an earlier attempt, or learned now and kept."""
    if not kind.is_learned:
        return None, kind.encoder()
    about = about_encoder(kind, chosen)
    encoder = kept_encoder(place, about, overwrite, resume)
    if encoder is None:
        with progress("learning", "images") as report:
            encoder = kind.encoder().fit(chosen, progress=report)
        keep_encoder(place, about, encoder, overwrite, resume)
    return about, encoder


def make_store(
    source: Path,
    out: Path,
    kind: EncoderKind,
    images: "ImageSet",
    *,
    overwrite: bool = False,
    resume: bool = True,
    progress: ProgressFactory,
    earlier: "EarlierRows | None" = None,
) -> "FeatureRun":
    """The features of pictures in a store, as `manyclass features` makes it; an interrupted attempt is gone on with.

    What a store of the same kind has of them is taken from it. An encoder that learns from pictures is taken too, where
    that store has most of them: what a few more would change in it is not worth encoding all again.
    """
    from manyclass.features.extraction.write_features import write_features

    encoder = None if earlier is None or not kind.is_learned else _encoder_of_most(earlier, images)
    learned = {LEARNED_FROM: len(training_paths(images))} if kind.is_learned else {}
    if encoder is None:
        encoder = prepared_encoder(out, kind, training_paths(images), overwrite, resume, progress)[1]
    elif earlier is not None:
        learned = {LEARNED_FROM: earlier.store.provenance[LEARNED_FROM]}
    with progress("encoding", "images") as report:
        return write_features(
            out,
            images.paths,
            encoder,
            y=None if images.y is None else images.y.tolist(),
            names=images.names,
            split=None if images.split is None else images.split.tolist(),
            seed=kind.seed,
            overwrite=overwrite,
            resume=resume or kind.is_learned,  # what was there is dropped, and what was learned since is kept
            provenance=features_provenance(source, kind.name, kind.seed, None, encoder) | learned,
            progress=report,
            earlier=earlier,
        )


def _encoder_of_most(earlier: "EarlierRows", images: "ImageSet") -> Any:
    """The encoder of a store, if that has at least half of the pictures and the encoder learned from as many; or None.

    So one that learned from the first few pictures does not stay for ever where a folder grows little by little.
    """
    file, learned = encoder_file(Path(earlier.store.path)), earlier.store.provenance.get(LEARNED_FROM)
    few = type(learned) is not int or learned < len(training_paths(images)) / 2
    few = few or len(earlier.unchanged(images.paths, images.names)) < len(images) / 2
    return None if few or file is None else load(file)


def features_provenance(
    source: Path, kind: str, seed: int, test_fraction: float | None, encoder: Any
) -> dict[str, Any]:
    """What a store of features says of where it is from."""
    given = {"input": encoder.input_} if hasattr(encoder, "input_") else {}  # what a network sees, in words
    about = {"made by": MADE_BY, "source": str(source), "kind": kind, "seed": seed, "test_fraction": test_fraction}
    return {**about, **given}
