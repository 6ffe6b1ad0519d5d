"""What a command takes before and beside its work: Python itself, `import manyclass`, and one query from the shell.

Each is a process of its own, and all of them take turns; the best of several counts, by the clock and by the time
of the processor, which alone means something where others use the machine. The gallery has 10,000 images of 512 random
numbers, encoded by `manyclass encode` without options; the query is a file of one row.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page


def spent(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock and of the processor, of one process with one thread."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once, as where the package is installed
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(n: int = 10_000, d: int = 512, rounds: int = 7) -> Page:
    """The table."""
    page = Page("startup", "From the shell", f"{__doc__}\n{load()}")
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng(0)
        np.save(folder / "x.npy", rng.standard_normal((n, d), dtype=np.float32))
        np.save(folder / "q.npy", rng.standard_normal((1, d), dtype=np.float32))
        mc.runs.build_gallery(folder / "x.npy", folder / "gallery")
        python, search = [sys.executable], ["-m", "manyclass", "search", str(folder / "gallery"), str(folder / "q.npy")]
        commands = {
            "Python, nothing else": [*python, "-c", "pass"],
            "import manyclass": [*python, "-c", "import manyclass"],
            "manyclass --version": [*python, "-m", "manyclass", "--version"],
            "manyclass search, one query": [*python, *search],
        }
        turns = [{what: spent(command) for what, command in commands.items()} for _ in range(rounds)]
    rows = [[what, *(f"{1e3 * min(turn[what][i] for turn in turns):.0f} ms" for i in range(2))] for what in commands]
    page.table(f"A gallery of {n} x {d}", ["what", "clock", "processor"], rows)
    return page
