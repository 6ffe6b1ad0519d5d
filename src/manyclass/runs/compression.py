"""Compressing features into a store: a quantizer is fitted on some rows, measured on others, and encodes all."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_one_of
from manyclass._core.files import expand_home
from manyclass._core.typing import Notify, ProgressFactory, no_progress
from manyclass.data.store.attachments import ENCODER
from manyclass.runs.provenance import encoder_bytes, unchanged
from manyclass.runs.sources import draw_test_subset, read_source

if TYPE_CHECKING:
    from manyclass.data.store.transaction import UnfinishedWrite

_MOST_ERROR_ROWS = 4096  # that measure an error: more would hardly move it, and they are held in memory decoded

_BLOCK = 8  # columns per byte, which is 32 times smaller than float32

_SAMPLE = 16384  # rows for a product quantizer: 64 for each of 256 centroids


def compress(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    labels: str | None = None,
    test_fraction: float | None = None,
    kind: str = "product",
    block: int | None = None,
    n_centroids: int = 256,
    rotation: str | None = None,
    bits: int = 8,
    sample: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
    resume: bool = True,
    warn: Notify | None = None,
    notify: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Compress features into a store, with the labels, names and split that go with them.

    Rows are read a block at a time. A call that was interrupted is gone on with by the same call.

    Parameters
    ----------
    source : path-like
        A .npy or .npz file, a folder of shards, a parquet file, or a store.
    out : path-like
        The store to write.
    labels : str, default=None
        A CSV or .npy file with one label per row; "none" leaves out labels that are found beside the source.
    test_fraction : float, default=None
        Keep so much of every class for testing; the source must have no split.
    kind : {"product", "scalar"}, default="product"
        One byte per block of columns, or some bits per column.
    block : int, default=None
        Columns per byte of a product quantizer; None for 8, or all if there are fewer.
    n_centroids : int, default=256
        Entries per codebook of a product quantizer.
    rotation : {"permutation", "orthogonal"}, default=None
        How a product quantizer mixes the columns first.
    bits : {4, 8}, default=8
        Bits per column of a scalar quantizer.
    sample : int, default=None
        Rows to learn from; None for 16384 of a product quantizer, and all of a scalar one.
    seed : int, default=0
        The same seed gives the same store.
    overwrite : bool, default=False
        Replace a store that is there.
    resume : bool, default=True
        Go on with an unfinished attempt; False drops it.
    warn : callable, default=None
        Called with a sentence about whatever the reader leaves out; None for warnings of Python.
    notify : callable, default=None
        Called with a sentence about what is being done.
    progress : callable, default=None
        Called as ``with progress("compressing", "rows") as report:``, after which ``report(done, total)`` is called.

    Returns
    -------
    dict
        Sizes before and after, the relative error ``||X - decoded X|| / ||X||`` on rows that were held out, and time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> X = np.random.default_rng(0).standard_normal((1000, 16), dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), X)
    ...     result = mc.runs.compress(Path(folder, "x.npy"), Path(folder, "x.store"), kind="scalar")
    ...     shape = mc.open_store(Path(folder, "x.store")).shape
    >>> shape, round(result["relative_error"], 3)
    ((1000, 16), 0.007)
    """
    import manyclass as mc

    started = time.perf_counter()
    check_one_of(kind, "kind", ("product", "scalar"))
    source, out = expand_home(source), expand_home(out)
    for value, name in ((block, "block"), (sample, "sample")):
        if value is not None:
            check_count(value, name)
    check_count(seed, "seed", least=0)
    with unchanged(source):
        rows = draw_test_subset(read_source(source, labels, warn), test_fraction, seed)
        encoder = encoder_bytes(source)
    n, d = rows.X.shape
    if kind == "product":
        coding = product_coding(d, source, block, n_centroids, rotation, sample, seed)
    else:
        coding = scalar_coding(bits, sample, seed)
    identity = coding.identity((n, d))
    kept = mc.StoreWriter.unfinished(out, identity, overwrite=overwrite, resume=resume)
    fitted = _fit_or_keep(rows.X, coding, kept, notify or (lambda message: None))
    with (progress or no_progress)("compressing", "rows") as report:
        mc.write_store(
            out,
            rows.X,
            y=rows.y,
            names=rows.names,
            classes=rows.classes,
            split=None if rows.split is None else rows.split.astype(str, copy=False),
            quantizer=fitted.quantizer,
            overwrite=overwrite,
            resume=resume,
            provenance={"made by": "manyclass compress", "source": str(source), "seed": seed},
            progress=report,
            identity=identity,
            attachments={} if encoder is None else {ENCODER: encoder},
        )
    return _result(out, rows.X, fitted, kept.rows, time.perf_counter() - started)


def _fit_or_keep(X: Any, coding: "Coding", kept: "UnfinishedWrite", notify: Notify) -> "FittedQuantizer":
    """The quantizer of an earlier attempt, or else one that learns from the rows."""
    if kept.quantizer is not None:
        if kept.rows:
            notify(f"going on after {kept.rows:,} rows that an earlier attempt finished")
        return measure_error(kept.quantizer, X, coding.sample, coding.seed)
    n, d = X.shape
    notify(f"learning from {min(n, coding.sample or n):,} of {n:,} rows of {d}")
    return fit_on_sample(coding.quantizer(), X, coding.sample, coding.seed)


def _result(out: Path, X: Any, fitted: "FittedQuantizer", n_done: int, seconds: float) -> dict[str, Any]:
    from manyclass.data.store.manifest import store_bytes

    n_bytes = store_bytes(out)
    return {
        "path": str(out),
        "rows": X.shape[0],
        "dimensions": X.shape[1],
        "bytes_before": int(X.nbytes),
        "bytes_after": n_bytes,
        "ratio": X.nbytes / n_bytes,
        "code_ratio": X.nbytes / (X.shape[0] * fitted.quantizer.code_size),
        "relative_error": fitted.error,
        "error_rows": fitted.error_rows,
        "held_out": fitted.held_out,
        "resumed_after": n_done,
        "seconds": seconds,
        "rows_per_second": (X.shape[0] - n_done) / seconds,
    }


@dataclass(frozen=True)
class Coding:
    """A quantizer that is to be fitted: its kind and settings, the rows to learn from (None for all), and the seed."""

    kind: str
    settings: dict[str, Any]
    sample: int | None
    seed: int

    def quantizer(self) -> Any:
        """The quantizer, not fitted yet."""
        import manyclass as mc

        if self.kind == "scalar":
            return mc.ScalarQuantizer(**self.settings)
        return mc.ProductQuantizer(**self.settings, sample=self.sample, random_state=self.seed)

    def identity(self, shape: tuple[int, int]) -> dict[str, Any]:
        """What tells a write of so many rows and columns from others, so that it can be gone on with."""
        coding = {"kind": self.kind, **self.settings, "sample": self.sample, "seed": self.seed}
        return {"command": "compress", "coding": coding, "rows": shape[0], "columns": shape[1]}


def scalar_coding(bits: int, sample: int | None, seed: int) -> Coding:
    """Some bits for every column."""
    return Coding("scalar", {"bits": bits}, sample, seed)


def product_coding(
    d: int, source: Any, block: int | None, n_centroids: int, rotation: str | None, sample: int | None, seed: int
) -> Coding:
    """One byte for every block of the d columns of a source."""
    if block is not None and block > d:
        raise ValueError(f"`block` must be at most {d}, the columns of {source}; got {block}")
    settings = {"block": block or max(1, min(_BLOCK, d)), "n_centroids": n_centroids, "rotation": rotation}
    return Coding("product", settings, sample or _SAMPLE, seed)


@dataclass(frozen=True)
class FittedQuantizer:
    """A quantizer, and ||X - decoded X|| / ||X|| over rows that were held out, unless there were too few."""

    quantizer: Any
    fit_rows: int
    error: float
    error_rows: int
    held_out: bool


def fit_on_sample(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> FittedQuantizer:
    """Fit on n_sample rows of X, or on all; measure on a tenth of the rows, at most 4096, that the fit has not seen."""
    sample = _Sample.draw(X.shape[0], n_sample, seed)
    quantizer.fit(X if sample.fit is None else _finite_rows(X, sample.fit))
    return _measure(quantizer, X, sample)


def measure_error(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> FittedQuantizer:
    """What `fit_on_sample` gave when it fitted this quantizer."""
    return _measure(quantizer, X, _Sample.draw(X.shape[0], n_sample, seed))


def relative_error(quantizer: Any, rows: NDArray[Any], index: NDArray[np.intp] | None = None) -> float:
    """||X - decoded X||_F / ||X||_F, and 0 where X is nothing but zeros; index has the numbers of the rows."""
    exact = rows.astype(np.float64)
    decoded = quantizer.matrix(_encode(quantizer, rows, np.arange(len(rows)) if index is None else index)).toarray()
    length = float(np.linalg.norm(exact))
    return float(np.linalg.norm(exact - decoded)) / length if length else 0.0


class _Sample(NamedTuple):
    """Numbers of the rows that fit, None for all, and of those that measure, which may have been held out."""

    fit: NDArray[np.intp] | None
    measure: NDArray[np.intp]
    held_out: bool

    @classmethod
    def draw(cls, n: int, n_sample: int | None, seed: int) -> Self:
        if n == 0:
            raise ValueError("the source must have at least one row; got none")
        order = np.random.default_rng(seed).permutation(n)
        apart = np.sort(order[: min(_MOST_ERROR_ROWS, max(1, n // 10))])
        rest = np.sort(order[len(apart) :][:n_sample])
        if n_sample is None:
            return cls(None, apart, held_out=False)
        return cls(rest if len(rest) else apart, apart, held_out=len(rest) > 0)


def _measure(quantizer: Any, X: Any, sample: _Sample) -> FittedQuantizer:
    error = relative_error(quantizer, _finite_rows(X, sample.measure), sample.measure)
    fit_rows = X.shape[0] if sample.fit is None else len(sample.fit)
    return FittedQuantizer(quantizer, fit_rows, error, len(sample.measure), sample.held_out)


def _finite_rows(X: Any, index: NDArray[np.intp]) -> NDArray[Any]:
    rows: NDArray[Any] = X.rows(index)
    with np.errstate(over="ignore"):
        bad = index[~np.isfinite(rows.astype(np.float32, copy=False)).all(axis=1)]
    if len(bad):
        rule = "the source must hold finite numbers within float32"
        raise ValueError(f"{rule}; row {bad[0]} has NaN, infinity or a larger one")
    return rows


def _encode(quantizer: Any, rows: NDArray[Any], index: NDArray[np.intp]) -> Any:
    try:
        return quantizer.encode_rows(rows)
    except ValueError:
        for number, row in zip(index.tolist(), rows, strict=True):
            quantizer.encode_rows(row[None], number)  # complains of the row by its number in the source
        raise
