"""Rows to codes: speed against faiss with the same codebooks, and the memory that a large file takes."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import manyclass as mc
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of

N, D = 50_000, 512


def against_faiss(page: Page, rounds: int) -> None:
    """`compute_codes`, the same codebooks, one thread and two."""
    import faiss

    X = np.random.default_rng(0).standard_normal((N, D), dtype=np.float32)
    rows = []
    for block in (4, 8, 16):
        ours = mc.ProductQuantizer(block, random_state=0, iterations=5).fit(X)
        theirs = faiss.ProductQuantizer(D, D // block, 8)
        faiss.copy_array_to_vector(ours.codebooks_.ravel(), theirs.centroids)
        for n_threads in (1, 2):
            with all_threads(n_threads):
                faiss.omp_set_num_threads(n_threads)
                seconds = best_of(rounds, {"ours": partial(ours.encode, X), "faiss": partial(theirs.compute_codes, X)})
            different = int((ours.encode(X).codes != theirs.compute_codes(X)).sum())
            ratio = seconds["faiss"] / seconds["ours"]
            rows.append(
                [str(block), str(n_threads), *(f"{s:.3f} s" for s in seconds.values()), f"{ratio:.2f}", str(different)]
            )
    page.table(
        f"Against faiss, {N} x {D} float32",
        ["block", "threads", "encode", "faiss", "ratio", f"different codes of {N} rows"],
        rows,
    )


# VmHWM is of this program alone; ru_maxrss would remember the parent's.
PEAK = """
import re, sys, time, manyclass as mc
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
X = mc.as_matrix(sys.argv[1])
pq = mc.ProductQuantizer(8, random_state=0).fit(X)
fitted, start = peak(), time.perf_counter()
Xq = pq.encode(X)
print(fitted, peak(), Xq.nbytes / 1e6, time.perf_counter() - start)
"""


def memory(page: Page, n: int = 1_000_000, d: int = 1_024) -> None:
    """Peak of the whole process, the mapped file's pages included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        part = np.random.default_rng(0).standard_normal((10_000, d), dtype=np.float32)
        X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
        for start in range(0, n, len(part)):
            X[start : start + len(part)] = part[: n - start]
        X.flush()
        del X
        done = subprocess.run([sys.executable, "-c", PEAK, path], check=True, capture_output=True, text=True)
    fitted, peak, codes, seconds = map(float, done.stdout.split())
    rows = [
        [f"{n * d * 4 / 1e6:.0f} MB", f"{codes:.0f} MB", f"{fitted:.0f} MiB", f"{peak:.0f} MiB", f"{seconds:.1f} s"]
    ]
    page.table(
        f"Encoding a memory map of {n} x {d} float32, block 8, two threads",
        ["X", "codes", "peak of fit", "peak of encode", "encode"],
        rows,
    )


def run(rounds: int = 5) -> Page:
    """All tables."""
    page = Page("encoding", "Compressing rows", __doc__ or "")
    against_faiss(page, rounds)
    memory(page)
    return page
