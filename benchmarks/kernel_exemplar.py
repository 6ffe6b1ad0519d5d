"""Kernel exemplar machines: the negatives are factored once, offline; then images are encoded and compared, online.

Every row is a process of its own, whose peak of memory is the most that the whole process ever held, the mapped file of
negatives included. An image is encoded against all negatives, and compared with 10,000 codes (1,000 at full rank).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.contender import peak
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads


def write_rows(path: Path, n: int, d: int) -> None:
    """Unit rows whose variance falls along the coordinates, as that of embeddings does."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    for start in range(0, n, 4096):
        rows = rng.standard_normal((min(n, start + 4096) - start, d), np.float32) / np.sqrt(1 + np.arange(d))
        X[start : start + len(rows)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    X.flush()


def measure(folder: Path, n: int, rank: int, factorization: str, n_threads: int) -> dict[str, Any]:
    """Seconds and peaks of memory, offline and online, on the first n negatives."""
    negatives, images = mc.as_matrix(folder / "negatives.npy").row_slice(slice(0, n)), np.load(folder / "images.npy")
    settings = {"rank": rank or None, "factorization": factorization, "random_state": 0}
    images = images if rank else images[:1000]
    with all_threads(n_threads):
        # Threads and libraries start with the first call, and are not counted.
        mc.KernelSquareLossExemplar().fit(images[:100]).transform(images[:100])
        started = time.perf_counter()
        encoder = mc.KernelSquareLossExemplar("rbf", 1.0, **settings).fit(negatives)
        offline, after_fit = time.perf_counter() - started, peak()
        started = time.perf_counter()
        codes = encoder.transform(images)
        encoding = (time.perf_counter() - started) / len(images)
        started = time.perf_counter()
        encoder.similarity(codes[:100], codes)
        comparing = (time.perf_counter() - started) / 100
    return {
        "offline": offline, "peak of fit": after_fit, "encoding": encoding, "comparing": comparing, "peak": peak(),
        "residual": encoder.residual_, "codes": encoder.n_features_out_,
    }  # fmt: skip


def _in_a_process(folder: str, *settings: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.kernel_exemplar", folder, *map(str, settings)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(n: int = 100_000, d: int = 512, rank: int = 64, full: int = 5_000, n_threads: int = 2) -> Page:
    """All tables: `n` negatives at a low rank, which only one factorization is made for, and `full` at any rank."""
    page = Page("kernel_exemplar", "Kernel exemplar machines", f"{__doc__}\n{load()}")
    cases = [
        (n, rank, "incomplete_cholesky"),
        *((full, rank, name) for name in ("incomplete_cholesky", "kpca")),
        (full, 0, "cholesky"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / "negatives.npy", max(n, full), d)
        write_rows(Path(folder) / "images.npy", 10_000, d)
        rows = [_row(case, _in_a_process(folder, *case, n_threads)) for case in cases]
    page.table(
        f"Gaussian kernel, {d} dimensions, {n_threads} threads",
        [
            "negatives", "factorization", "rank", "trace left out", "offline", "peak of fit", "numbers per image",
            "encoding an image", "comparing it with all codes", "peak of the process",
        ],
        rows,
    )  # fmt: skip
    return page


def _row(case: tuple[int, int, str], found: dict[str, Any]) -> list[str]:
    n, rank, factorization = case
    return [
        str(n), factorization, str(rank) if rank else "full", f"{found['residual']:.2f}", f"{found['offline']:.1f} s",
        f"{found['peak of fit']:.0f} MiB", str(found["codes"]), f"{1e6 * found['encoding']:.0f} us",
        f"{1e3 * found['comparing']:.2f} ms", f"{found['peak']:.0f} MiB",
    ]  # fmt: skip


if __name__ == "__main__":
    folder, n, rank, factorization, n_threads = sys.argv[1:]
    print(json.dumps(measure(Path(folder), int(n), int(rank), factorization, int(n_threads))))
