"""Compression in the demo: what it saves and costs, whether damage is found, and how fast products on codes are."""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from manyclass._core.reading import read_file
from manyclass.cli.demo.glyph_data import write_ours
from manyclass.cli.verify import check
from manyclass.data.store.manifest import store_bytes
from manyclass.data.store.store import Store
from manyclass.runs.compression import fit_on_sample

_REPEATS = 3

_SAMPLE = 4096


def compress(path: Path, whole: Store, seed: int) -> tuple[Store, dict[str, Any]]:
    """A store of the same rows as codes, one byte for 8 columns; and what that saved and cost."""
    quantizer = mc.ProductQuantizer(block=8, sample=_SAMPLE, random_state=seed)
    fitted = fit_on_sample(quantizer, whole.X, _SAMPLE, seed)
    columns = {"y": whole.y, "classes": whole.classes, "split": whole.split, "names": whole.names}
    small = write_ours(path, whole.X, seed, **columns, quantizer=fitted.quantizer)
    summary = {
        "source": str(whole.path),
        "store": str(path),
        "rows": whole.shape[0],
        "dimensions": whole.shape[1],
        "bytes_before": store_bytes(whole.path),
        "bytes_after": store_bytes(path),
        "ratio": whole.X.nbytes / small.X.nbytes,
        "relative_error": fitted.error,
        "error_rows": fitted.error_rows,
    }
    return small, summary


def find_flipped_bit(store: Store) -> str | None:
    """Flip one bit in a copy of the store; how the check describes it, None if it finds nothing."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.store")
        copy.mkdir()
        for file in store.path.iterdir():
            shutil.copyfile(file, copy / file.name)
        largest = max(copy.glob("codes-*.npy"), key=lambda file: file.stat().st_size)
        content = bytearray(read_file(largest, "model"))
        content[len(content) // 2] ^= 1
        largest.write_bytes(content)
        damage = check(copy)["damage"]
    return "; ".join(f"{one['file']} block {one['block']} {one['reason']}" for one in damage) or None


def time_products(store: Store, k: int, seed: int) -> dict[str, Any]:
    """Seconds of X W with k columns on the codes, and by NumPy on decoded rows: the best of several, warm."""
    Xq, X = store.X, store.X.toarray()
    W = np.random.default_rng(seed).standard_normal((X.shape[1], k), dtype=np.float32)
    return {"codes": _best(lambda: Xq @ W), "numpy": _best(lambda: X @ W), "columns": k, "threads": mc.get_threads()}


def _best(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
