"""The steps of the demo, each a few calls of the library."""

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from manyclass.cli.demo_folder import MADE, SHEET, SMALL, WHOLE
from manyclass.cli.progress import Report
from manyclass.cli.quantizing import fit_on_sample
from manyclass.cli.verify import check
from manyclass.data.store import Store, write_store
from manyclass.data.store.manifest_file import store_bytes
from manyclass.datasets import glyph_features, glyphs
from manyclass.datasets.contact_sheet import contact_sheet

_REPEATS = 5
_PICTURES = (18, 27)  # rows and columns of them on the sheet


@dataclass(frozen=True)
class Compressed:
    """The store of codes, and what compressing did."""

    store: Store
    summary: dict[str, Any]


def draw(out: Path, n_classes: int, n_per_class: int, seed: int, report: Report) -> tuple[Store, Path]:
    """A store with the features of drawn characters, and a picture with some of them."""
    drawn = glyphs(n_classes, n_per_class, random_state=seed, progress=report)
    columns = {"y": drawn.y, "classes": drawn.classes, "split": drawn.split}
    store = _write(out / WHOLE, glyph_features(drawn.images), seed, **columns)
    _save_sheet(out / SHEET, drawn.images.reshape(n_classes, n_per_class, *drawn.images.shape[1:])[:, 0])
    return store, out / SHEET


def _save_sheet(path: Path, pictures: NDArray[Any]) -> None:
    from PIL import Image

    rows, columns = _PICTURES
    page = Image.fromarray(contact_sheet(pictures[: rows * columns], columns))
    page.resize((2 * page.width, 2 * page.height), Image.Resampling.NEAREST).save(path)


def _write(path: Path, X: Any, seed: int, **given: Any) -> Store:
    """Write a store that tells who made it, in the place of what an earlier demo left there."""
    provenance = {**MADE, "drawn by": "manyclass.datasets.glyphs", "seed": seed}
    return write_store(path, X, **given, provenance=provenance, identity=MADE, overwrite=True, resume=False)


def compress(out: Path, whole: Store, seed: int) -> Compressed:
    """The same rows as codes, with what that saved and what it cost."""
    quantizer = mc.ProductQuantizer(block=8, sample=whole.shape[0], random_state=seed)
    fitted = fit_on_sample(quantizer, whole.X, whole.shape[0], seed)
    columns = {"y": whole.y, "classes": whole.classes, "split": whole.split}
    store = _write(out / SMALL, whole.X, seed, **columns, quantizer=fitted.quantizer)
    before, after = store_bytes(whole.path), store_bytes(store.path)
    summary = {
        "source": str(whole.path),
        "store": str(store.path),
        "rows": whole.shape[0],
        "dimensions": whole.shape[1],
        "bytes_before": before,
        "bytes_after": after,
        "ratio": before / after,
        "relative_error": fitted.error,
        "error_rows": fitted.error_rows,
        "good": check(whole.path, quiet=True)["good"] and check(store.path, quiet=True)["good"],
    }
    return Compressed(store, summary)


def find_flipped_bit(store: Store) -> dict[str, Any]:
    """Flip one bit in a copy of the store and say how the check describes it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.store")
        copy.mkdir()
        for file in store.path.iterdir():
            shutil.copyfile(file, copy / file.name)
        largest = max(copy.glob("codes-*.npy"), key=lambda file: file.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 1
        largest.write_bytes(content)
        damage = check(copy, quiet=True)["damage"]
    return {"found": "; ".join(f"{one['file']} block {one['block']} {one['reason']}" for one in damage) or None}


def compare_products(store: Store, k: int, seed: int) -> dict[str, Any]:
    """Seconds of X W and X' R with k columns, on the codes and by NumPy on decoded rows: best of several, warm."""
    from threadpoolctl import threadpool_info

    Xq, X = store.X, store.X.toarray()
    rng = np.random.default_rng(seed)
    W, R = (rng.standard_normal((length, k), dtype=np.float32) for length in reversed(X.shape))
    times = {
        "matmat": {"codes": _best(lambda: Xq @ W), "numpy": _best(lambda: X @ W), "columns": k},
        "rmatmat": {"codes": _best(lambda: Xq.rmatmat(R)), "numpy": _best(lambda: X.T @ R), "columns": k},
    }
    blas = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    return {**times, "threads": mc.get_threads(), "blas_threads": max(blas, default=1)}


def recognize(whole: Store, small: Store) -> dict[str, float]:
    """Share of the test part whose nearest class mean is its own, with numbers and with codes, by products alone."""
    return {"accuracy": _nearest_mean(whole), "code_accuracy": _nearest_mean(small)}


def _nearest_mean(store: Store) -> float:
    y, train = np.asarray(store.y), np.asarray(store.split) == "train"
    members = np.zeros((len(y), int(y.max()) + 1), np.float32)
    members[train, y[train]] = 1
    means = store.X.rmatmat(members)
    means /= np.linalg.norm(means, axis=0)
    return float(((store.X @ means).argmax(axis=1) == y)[~train].mean())


def _best(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
