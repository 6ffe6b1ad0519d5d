"""Building a gallery: an encoder is fitted on negatives, compared with others if wanted, and all rows are added."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import SettingsError
from manyclass._core.files import after_commit, expand_home
from manyclass._core.shards import SHARD, Shard, ShardRecord, library_versions
from manyclass._core.typing import Embeddings, Notify, ProgressFactory, Report, no_progress
from manyclass._core.worker_groups import current_workers
from manyclass.datasets.dataset import Dataset
from manyclass.retrieval.faiss_index import EXACT, check_index
from manyclass.runs.galleries.encoder_comparison import EncoderInputs, fit_and_compare
from manyclass.runs.galleries.exemplar_methods import (
    ExemplarMethod,
    FittedEncoder,
    choose_methods,
    fit_method,
    plain_is_ahead,
)
from manyclass.runs.provenance import encoder_file, unchanged
from manyclass.runs.records import RETRIEVAL, RETRIEVAL_FILE, write_record
from manyclass.runs.sources import retrieval_file

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery

# The rows that encoders take at once, so that embeddings have the same bits as those of all rows together.
ROWS_AT_ONCE = 1024


def build_gallery(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    negatives: str | os.PathLike[str] | None = None,
    method: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    sample: int | None = None,
    false_match: float = 0.05,
    tune: bool | None = None,
    evaluate: bool = False,
    labels: str | None = None,
    encoder: str | os.PathLike[str] | None = None,
    pictures: str | os.PathLike[str] | None = None,
    seed: int = 0,
    overwrite: bool = False,
    warn: Notify | None = None,
    notify: Notify | None = None,
    progress: ProgressFactory | None = None,
    shard: Shard | str | None = None,
    index: str | None = None,
) -> dict[str, Any]:
    """Build a gallery of features and save it; images are known by the names of their rows, or by numbers.

    The gallery is written at one instant: a call that is interrupted leaves what was there. In a `with` block of
    `manyclass.cluster.connect` rows are encoded by workers, in parts that lie in the folder `out` + ".parts" until the
    gallery is whole; the gallery is the same, to the byte, and the same call goes on with parts that were left.

    Parameters
    ----------
    data : path-like
        Features: a store, .npy, .npz, parquet, or a folder of shards.
    out : path-like
        The folder of the gallery.
    negatives : path-like, default=None
        Features of unrelated images, on which encoders are fitted; None takes rows of the data.
    method : str or sequence of str, default=None
        Of "slem", "kernel-slem", "lda", "esvm", "whitening" and "none", which compares rows as they are; several where
        `evaluate` is true, of which the best makes the gallery. None is "slem", or "none" where labels say that it is
        better, or where there are neither labels nor 100 negatives.
    settings : dict, default=None
        Arguments of the encoders, such as ``{"regularization": 0.1}``; each goes to every method that has it.
    sample : int, default=None
        Negatives at most, drawn at random.
    false_match : float, default=0.05
        How often strangers may be called matched.
    tune : bool, default=None
        Choose the settings by the labels of the data. None does so where there are labels, settings are neither given
        nor to be evaluated, and it takes seconds: for "slem", "lda" and "whitening" of at most 4,096 columns.
    evaluate : bool, default=False
        Compare the methods, and rows as they are, as `compare_encoders` does; the record becomes a part of the gallery.
    labels : str, default=None
        A CSV or .npy file with one label per row; "none" leaves out labels that are found beside the data.
    encoder : path-like, default=None
        The file of what turned pictures into the data, so that the gallery can be searched by pictures; None for the
        one that is known from the data.
    pictures : path-like, default=None
        The folder of the pictures; None for the one that the data was made of.
    seed : int, default=0
        The same seed gives the same gallery.
    overwrite : bool, default=False
        Replace a gallery that is there.
    warn : callable, default=None
        Called with a sentence about whatever the reader leaves out; None for warnings of Python.
    notify : callable, default=None
        Called with a sentence about what is being done.
    progress : callable, default=None
        Called as ``with progress("encoding", "images") as report:``, and then ``report(done, total)``.
    shard : str, default=None
        Part of the rows that becomes the gallery, such as "3/16"; encoders are fitted on the same negatives as without
        it. Of all parts `join` makes the gallery of all rows, to the byte. Not with `evaluate`.
    index : str, default=None
        Approximate index that is saved with the gallery, as `Gallery` takes it. Not with `shard`.

    Returns
    -------
    dict
        The number of images, the method with its settings, the negatives, and the comparison if there was one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> X = np.random.default_rng(0).standard_normal((200, 8), dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), X)
    ...     result = mc.runs.build_gallery(Path(folder, "x.npy"), Path(folder, "gallery"), method="lda")
    ...     found = mc.Gallery.open(Path(folder, "gallery")).search(X[:1], k=1).ids
    >>> result["images"], result["method"], result["negatives"], found.tolist()
    (200, 'lda', 100, [[0]])
    """
    out = expand_home(out)
    world, file, folder = (None if path is None else expand_home(path) for path in (negatives, encoder, pictures))
    methods = choose_methods(method or "slem", seed, settings or {})
    if len(methods) > 1 and not evaluate:
        raise SettingsError("`method` must name one method; pass `evaluate=True` to compare several")
    wanted = None if shard is None else Shard.parse(shard)
    if wanted is not None and evaluate:
        raise SettingsError("`evaluate` does not go with `shard`: compare the methods first, and name one by `method`")
    if index not in (None, EXACT):
        check_index(str(index))
    if wanted is not None and index is not None:
        raise SettingsError("`index` does not go with `shard`: join the parts, and make the index of the whole")
    named = [one.name for one in methods] if method else ["slem", "none"]
    inputs = EncoderInputs(expand_home(data), world, _with_plain(methods, evaluate), sample, labels, folder, seed, warn)
    tell = notify or (lambda message: None)
    check_free(out, overwrite)
    with unchanged(inputs.data):
        ids, image_encoder = inputs.ids, _image_encoder(inputs, file, tell)
    fitted, record = fit_and_compare(inputs, tune, evaluate, tell, progress or no_progress)
    kept = _keep(inputs, fitted, named, evaluate, tell)
    gallery, span = _empty_gallery(inputs, kept, false_match, image_encoder), range(len(ids))
    if wanted is not None:
        part = _shard_record(wanted, inputs)
        span, gallery.provenance[SHARD] = range(part.first, part.stop), part.json()
    with ExitStack() as parts:  # of workers, which are there until the gallery is
        with (progress or no_progress)("encoding", "images") as report:
            codes = _spread(out, inputs.dataset, kept.encoder, span, report, parts)
            add_rows(gallery, inputs.dataset, ids, report if codes is None else _nothing, span, codes)
        gallery.set_index(index)
        _save(out, gallery, record, overwrite)
    if wanted is None:
        warn_of_background(gallery, warn or warnings.warn)
    return _result(inputs, out, gallery, kept, record)


def _with_plain(methods: list[ExemplarMethod], evaluate: bool) -> list[ExemplarMethod]:
    """The methods, and rows as they are to be compared with."""
    known = not evaluate or any(method.name == "none" for method in methods)
    return methods if known else [*methods, ExemplarMethod("none", {}, methods[0].seed)]


def _keep(
    inputs: EncoderInputs, fitted: list[FittedEncoder], named: list[str], evaluate: bool, notify: Notify
) -> FittedEncoder:
    """The best of the methods that were named; and a loud word where rows as they are would be better."""
    kept, plain = next(one for one in fitted if one.name in named), ExemplarMethod("none", {}, inputs.seed)
    if evaluate:
        why = "by the comparison" if fitted[0].name == "none" != kept.name else ""
    else:
        why = plain_is_ahead(kept, len(inputs.negatives))
    if not why:
        return kept
    if "none" in named:
        notify(f"rows as they are make the gallery, not {kept.name}: {why}")
        return fit_method(plain, inputs.negatives, None)
    (inputs.warn or warnings.warn)(f"rows as they are would be better than {kept.name}: {why}; pass `method='none'`")
    return kept


def _empty_gallery(inputs: EncoderInputs, kept: FittedEncoder, false_match: float, image_encoder: Any) -> "Gallery":
    """The gallery without images."""
    from manyclass.retrieval.gallery import Gallery

    provenance = {
        "made by": "manyclass encode",
        "source": str(inputs.data),
        "negatives": inputs.negatives.about.partition(";")[0],
        "method": kept.name,
        "seed": inputs.seed,
        "pictures": [] if inputs.folder is None else [str(inputs.folder)],
    }
    things = None if inputs.dataset.y is None else "class"
    judged: dict[str, Any] = {"background": kept.background, "false_match": false_match, "things": things}
    judged["own_background"] = len(inputs.negatives.own) > 0
    return Gallery(kept.encoder, features=image_encoder, provenance=provenance, **judged)


def _spread(
    out: Path, dataset: Dataset, encoder: Any, span: range, report: Report, parts: ExitStack
) -> Iterator[Embeddings] | None:
    """The embeddings of rows by workers, where there are some and they have anything to do."""
    from manyclass.runs.joining.spread_embeddings import spread_embeddings

    workers = current_workers()
    if workers is None or not span:
        return None
    whole, X = {"rows": dataset.fingerprint(), "first": span.start}, dataset.X.row_slice(slice(span.start, span.stop))
    return parts.enter_context(spread_embeddings(workers, out, encoder, X, whole, ROWS_AT_ONCE, report))


def _nothing(done: int, total: int) -> None:
    pass


def _shard_record(shard: Shard, inputs: EncoderInputs) -> ShardRecord:
    """Which rows a part has, and what must be the same of all parts besides the models that they save."""
    n, d = inputs.dataset.X.shape
    labels = {"ids": inputs.ids, **metadata_of(inputs.dataset)}
    words = (f"{key} {value}\0" for key, values in labels.items() for value in values)
    whole = {"rows": inputs.dataset.fingerprint(), "columns": d, "seed": inputs.seed, "labels": sha256_digest(words)}
    return ShardRecord.of(shard, shard.span(n, ROWS_AT_ONCE), n, {**whole, "versions": library_versions(())})


def _image_encoder(inputs: EncoderInputs, given: Path | None, notify: Notify) -> Any:
    """What turns pictures into rows like those of the data; None if it is not known."""
    import manyclass as mc

    path = given or encoder_file(inputs.data)
    if path is None:
        return None
    encoder, d = mc.load(path), inputs.dataset.X.shape[1]
    width = getattr(encoder, "n_features_out_", None)
    if not hasattr(encoder, "encode") or width != d:
        words = f"{path} must be an encoder of pictures that gives {d} numbers, as {inputs.data} has"
        if given is not None:
            raise ValueError(f"{words}; it is a {type(encoder).__name__} that gives {width}")
        notify(f"{words}; it is left out, so the gallery cannot be searched by pictures")
        return None
    return encoder


def _save(out: Path, gallery: "Gallery", record: dict[str, Any] | None, overwrite: bool) -> None:
    """The gallery and its record become true at one instant; that of an older gallery says nothing of this one."""
    from manyclass.retrieval.storage.save import save_gallery

    write = None if record is None else partial(write_record, kind=RETRIEVAL, record=record)
    save_gallery(gallery, out, overwrite, write)
    with after_commit(out):
        (out / RETRIEVAL_FILE).unlink(missing_ok=True)


def warn_of_background(gallery: "Gallery", warn: Notify) -> None:
    """Say where negatives of another kind would call the gallery's own images matched, were they not in it."""
    from manyclass.retrieval.neighbors import background_check

    state = gallery.state()
    checked = background_check(state.neighbors, state.indexes[0], state.catalog, gallery.false_match)
    if checked is not None and checked[0] > checked[1]:
        warn(
            f"the negatives are of another kind than the gallery: by them alone {checked[0]:.0%} of its images would "
            f"be matched with what they show left out, not {gallery.false_match:.0%}; the gallery itself is asked too"
        )


def _result(
    inputs: EncoderInputs, out: Path, gallery: "Gallery", kept: FittedEncoder, record: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "path": str(out),
        "images": len(gallery),
        "columns": gallery.n_features_in_,
        "method": kept.name,
        "settings": kept.settings(),
        "codes": int(kept.space(inputs.dataset.X.shape[1]).n_features_out_),
        "things": gallery.state().neighbors.n_things(gallery.state().catalog),
        "labeled": gallery.state().neighbors.things is not None,
        "negatives": len(inputs.negatives),
        "negatives_from": inputs.negatives.about,
        "tuned": kept.tried,
        "index": index_summary(gallery),
        "search_by_pictures": gallery.features is not None,
        "pictures": None if inputs.folder is None else str(inputs.folder),
        "evaluation": None if record is None else {key: record[key] for key in ("protocol", "methods")},
        "record": None if record is None else str(retrieval_file(out)),
    }


def index_summary(gallery: "Gallery") -> dict[str, Any] | None:
    """The kind of the index, how many of the ten nearest it finds, and its size; None without one."""
    index = gallery.state().approximate
    if index is None:
        return None
    made, file = gallery.state().saved, (index.saved or {}).get("file")
    size = (made.path / file["name"]).stat().st_size if made is not None and file else 0
    return {"kind": index.kind, **{key: index.about.get(key) for key in ("factory", "recall")}, "bytes": size}


def add_rows(
    gallery: "Gallery",
    dataset: Dataset,
    ids: list[Any] | None,
    report: Report,
    span: range | None = None,
    embeddings: Iterator[Embeddings] | None = None,
) -> None:
    """Add all rows, or a span of them that begins at a multiple of those at once, with class and split where they are
    known; without ids they are numbers that count on. Embeddings that are given are of so many rows at a time."""
    span, metadata = range(len(dataset)) if span is None else span, metadata_of(dataset)
    for start in range(span.start, span.stop, ROWS_AT_ONCE):
        at = slice(start, min(span.stop, start + ROWS_AT_ONCE))
        columns = {key: values[at] for key, values in metadata.items()}
        keys = None if ids is None else ids[at]
        if embeddings is None:
            gallery.add(dataset.X.rows(at), ids=keys, metadata=columns)
        else:
            add_embeddings(gallery, next(embeddings), keys, columns)
        report(at.stop - span.start, len(span))


def add_embeddings(
    gallery: "Gallery", codes: Embeddings, ids: list[Any] | None, metadata: dict[str, list[str]]
) -> None:
    """Add images by what the encoder of a gallery without a reranker made of them elsewhere; see `Gallery.add`."""
    from manyclass.retrieval.catalog import as_ids
    from manyclass.retrieval.encoders import CosineEncoder
    from manyclass.retrieval.search import FlatIndex

    state = gallery.state()
    keys = state.catalog.free_ids(len(codes)) if ids is None else as_ids(ids)
    state.catalog.check_new(keys, len(codes))
    state.indexes = state.indexes or [FlatIndex(CosineEncoder(codes.shape[1]))]
    state.append([codes], keys, metadata)


def metadata_of(dataset: Dataset) -> dict[str, list[str]]:
    """Class and split of the rows, where they are known."""
    known = {"class": dataset.label_names(), "split": dataset.split}
    return {key: values.astype(str).tolist() for key, values in known.items() if values is not None}


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse a place that cannot be written to before anything is learned for it."""
    from manyclass.retrieval.storage.save import tidy_gallery
    from manyclass.retrieval.storage.segments import GALLERY_MANIFEST, is_gallery, only_ours

    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, and a gallery is a folder; choose another name")
    if is_gallery(out):
        tidy_gallery(out)
        if not overwrite:
            raise ValueError(
                f"{out} is there already; pass `overwrite=True` to replace it, or use update_gallery to add to it"
            )
    elif out.is_dir() and ((out / GALLERY_MANIFEST).exists() or not only_ours(out)):
        raise ValueError(f"{out} is a folder with other content; choose another name")
