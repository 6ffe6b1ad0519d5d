"""spread_features: the features of many images by the workers of a cluster, part by part, joined in the end.

What is learned is learned here, once. Parts are stores in a folder beside the output; each is continued where its
worker was lost, and the same call again goes on with all of them. The store has the bytes of `write_features`.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from manyclass._core.errors import SettingsError, StorageError
from manyclass._core.files import expand_home
from manyclass._core.shards import SHARD, Shard
from manyclass._core.typing import Report
from manyclass._core.worker_groups import Workers, current_workers
from manyclass.data.archives.packed_file import PackedFile
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.manifest import MANIFEST, read_manifest
from manyclass.data.store.store import open_store
from manyclass.features.extraction.encoding import PartSequence
from manyclass.features.extraction.skip_log import read_skipped
from manyclass.features.extraction.write_features import FeatureRun, FeatureTask
from manyclass.runs.joining.join_parts import join
from manyclass.runs.joining.worker_parts import (
    PARTS_PER_CORE,
    holding_parts,
    part_count,
    part_path,
    parts_folder,
    remove_parts,
    write_alone,
)

_MOST_IMAGES = 2000  # of a part: some minutes of a core, after which progress is told

_LOOKED_FOR = 8  # images of a part that must be where they were


def spread_features(
    path: str | os.PathLike[str],
    images: Sequence[Any],
    encoder: Any,
    *,
    y: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    split: Sequence[str] | None = None,
    quantizer: Quantizer | None = None,
    overwrite: bool = False,
    resume: bool = True,
    progress: Report | None = None,
    about: dict[str, Any] | None = None,
    **settings: Any,
) -> FeatureRun:
    """Encode images by the workers of `manyclass.cluster.connect`, and write their vectors to a store.

    The store has the same bytes as that of `manyclass.write_features`, which takes the same arguments, for any number
    of workers, and whichever of them are lost on the way. Parts of it are written to the folder `path` + ".parts",
    which all nodes must see at the same place, as they must see the images; it is removed in the end.

    Parameters
    ----------
    path : path-like
        Folder of the store.
    images : sequence of path or array
        Images, as `read_image` takes them.
    encoder : ImageEncoder
        Fitted encoder, which is sent to all nodes.
    y : sequence of length n_images, default=None
        Labels.
    names : sequence of str, default=None
        Names; by default the paths.
    classes : sequence of str, default=None
        Names of the classes, if labels are integers.
    split : sequence of str, default=None
        Subset of each image, such as "train" or "test".
    quantizer : Quantizer, default=None
        Quantizer whose codes are written in place of the vectors. One that is not fitted learns here first.
    overwrite : bool, default=False
        Whether a store at `path` is replaced.
    resume : bool, default=True
        Whether unfinished parts are continued; otherwise they are discarded.
    progress : callable, default=None
        Function that is called with (images done, images in total) whenever a part is done.
    about : dict, default=None
        How the encoder was learned, for the store to tell.
    **settings : dict
        `sample`, `seed`, `max_pixels`, `max_source_pixels` and `provenance` of `manyclass.write_features`.

    Returns
    -------
    FeatureRun
        `store` that was written, images `skipped`, and the number of rows `resumed_after`.

    Raises
    ------
    SettingsError
        Outside of a block of `manyclass.cluster.connect`.
    StorageError
        If a node does not see the images or the folder of the parts, or if parts of something else are there.

    Examples
    --------
    >>> import manyclass as mc
    >>> with mc.cluster.connect("local"):  # doctest: +SKIP
    ...     run = mc.runs.spread_features("photos.store", paths, encoder)
    """
    workers, out = current_workers(), expand_home(path).absolute()
    if workers is None:
        raise SettingsError("spread_features must be called in a `with` block of manyclass.cluster.connect")
    columns = {"y": y, "names": names, "split": split}
    task = FeatureTask.of(images, encoder, columns=columns, classes=classes, quantizer=quantizer, **settings)
    check_free(out, overwrite)
    folder = parts_folder(out)
    with holding_parts(folder):
        if not resume:
            remove_parts(folder)
        return _write_and_join(workers, task, out, folder, overwrite, progress, about)


def _write_and_join(
    workers: Workers,
    task: FeatureTask,
    out: Path,
    folder: Path,
    overwrite: bool,
    progress: Report | None,
    about: dict[str, Any] | None,
) -> FeatureRun:
    count, encoder = _count(folder, task, workers), task.encoding.encoder
    parts = task.parts([Shard(number, count) for number in range(1, count + 1)])
    places = {part_path(folder, part.shard.shard): part for part in parts if part.shard is not None}
    todo = {place: part for place, part in places.items() if not _is_done(place, part)}
    kept = [part.unfinished(place) for place, part in todo.items()]
    if task.quantizer is not None and todo:
        fitted = next((one.quantizer for one in kept if one.quantizer is not None), None) or _of_done(places, todo)
        fitted = fitted or task.fit_quantizer()[0]
        todo = {place: replace(part, quantizer=fitted) for place, part in todo.items()}
    if about is not None:
        _keep_about(next(iter(places)), todo, about, encoder)
    done_before = sum(read_manifest(place).n_rows for place in places if place not in todo)
    _write_parts(workers, encoder, todo, len(task.encoding.images), progress)
    join(out, list(places), overwrite=overwrite)
    remove_parts(folder)
    return FeatureRun(open_store(out), read_skipped(out), done_before + sum(one.rows for one in kept))


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse to replace a store without being told to."""
    if (out / MANIFEST).exists() and not overwrite:
        raise StorageError(f"{out} is there already; pass overwrite=True to replace it, or choose another name")


def _count(folder: Path, task: FeatureTask, workers: Workers) -> int:
    n = len(task.encoding.images)
    wanted = max(PARTS_PER_CORE * workers.n_cores, -(-n // _MOST_IMAGES))
    return part_count(folder, max(1, min(wanted, n // task.encoding.chunk_size)))


def _is_done(place: Path, part: FeatureTask) -> bool:
    """Whether a part is there, whole; one of something else is refused."""
    if not (place / MANIFEST).exists():
        return False
    assert part.shard is not None
    if read_manifest(place).provenance.get(SHARD) != part.shard.json():
        raise StorageError(
            f"{place.parent} holds parts of other images or settings; pass resume=False to drop them, or choose "
            "another name"
        )
    return True


def _of_done(places: dict[Path, FeatureTask], todo: dict[Path, FeatureTask]) -> Quantizer | None:
    done = next((place for place in places if place not in todo), None)
    return None if done is None else open_store(done).quantizer


def _keep_about(first: Path, todo: dict[Path, FeatureTask], about: dict[str, Any], encoder: Any) -> None:
    """Let the first part tell how the encoder was learned, as one run would."""
    from manyclass.runs.provenance import keep_encoder, kept_encoder

    if first in todo and kept_encoder(first, about, False, True) is None:
        keep_encoder(first, about, encoder, False, True)


def _write_parts(
    workers: Workers, encoder: Any, todo: dict[Path, FeatureTask], total: int, progress: Report | None
) -> None:
    done = total - sum(len(part.span) for part in todo.values())
    if progress:
        progress(done, total)
    sent = [(place, _sent(part)) for place, part in todo.items()]
    for i, _ in workers.run(write_part, [encoder], sent):
        done += len(sent[i][1].span)
        if progress:
            progress(done, total)


def _sent(part: FeatureTask) -> FeatureTask:
    """A part as it travels: its own images and labels, by paths that hold anywhere, and not the encoder."""
    images = [part.encoding.images[i] for i in part.span]
    there = PartSequence([_anywhere(image) for image in images], part.span.start, len(part.encoding.images))
    columns: dict[str, Sequence[Any] | None] = {
        key: None if values is None else PartSequence.of(values, part.span) for key, values in part.columns.items()
    }
    return replace(part, encoding=replace(part.encoding, images=there, encoder=None), columns=columns)


def _anywhere(image: Any) -> Any:
    if isinstance(image, PackedFile):
        return image.moved(os.path.abspath(image.archive))
    return os.path.abspath(image) if isinstance(image, str | os.PathLike) else image


def write_part(encoder: Any, place: Path, part: FeatureTask) -> int:
    """Write a part, on the node that has it to do; how many rows it has."""
    for i in part.span[:: max(1, len(part.span) // _LOOKED_FOR)]:
        image = part.encoding.images[i]
        image = image.archive if isinstance(image, PackedFile) else image
        if isinstance(image, str) and not os.path.lexists(image):
            raise StorageError(f"{image} is not on this machine; put the images on storage that all nodes share")
    whole = replace(part, encoding=replace(part.encoding, encoder=encoder))

    def write() -> int:
        if _is_done(place, part):  # by a worker that was lost before it could say so
            return read_manifest(place).n_rows
        return whole.write(place, False, True, None).store.shape[0]

    return write_alone(place, write)
