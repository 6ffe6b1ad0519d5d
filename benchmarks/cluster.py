"""One-vs-rest by actors of a Ray cluster of this machine: two of one core each against one, what Ray adds, and memory.

Rows are generated classes, as codes of one byte for 8 columns. Every run is a process of its own; step and negatives
are given. A rate is the examples of all epochs by their seconds; the seconds of a fit begin before the cluster does,
and end after it. Memory of an actor is the most that it held until the last epoch; codes are shared by the actors of a
machine. Ray itself takes a store of objects and some processes beside.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import manyclass as mc
from benchmarks.contender import peak
from benchmarks.imagenet_shape import read_codes, write_codes
from benchmarks.load import load
from benchmarks.page import Page
from manyclass._core.digest import sha256_digest
from manyclass.cluster.connection import import_ray

_SETTINGS = {"objective": "ovr", "step": 0.2, "beta": 64.0, "random_state": 0}


def one_vs_rest(folder: Path, workers: int, n_threads: int, epochs: int) -> dict[str, Any]:
    """A fit by so many actors with so many threads each, or in this process if there are none."""
    X, y, *_ = read_codes(folder)
    held: list[float] = []
    settings = {**_SETTINGS, "early_stopping": False, "max_epochs": epochs, "n_threads": n_threads}
    watch = [lambda record: held.__setitem__(slice(None), actor_peaks())]
    started = time.perf_counter()
    with cluster(workers, n_threads) if workers else nullcontext():
        model = mc.StochasticClassifier(**settings, callbacks=watch).fit(X, y)
    seconds = time.perf_counter() - started
    training, examples = (sum(record[key] for record in model.history_) for key in ("seconds", "examples"))
    return {
        "seconds": seconds, "rate": examples / training, "held": held, "driver": peak(), "codes": X.nbytes / 2**20,
        "W": model.coef_.nbytes / 2**20, "bits": sha256_digest([model.coef_, model.intercept_]),
    }  # fmt: skip


@contextmanager
def cluster(workers: int, n_threads: int) -> Iterator[None]:
    """A cluster of this machine for so many actors with so many threads each."""
    ray = import_ray()
    ray.init(
        address="local",
        num_cpus=workers * n_threads,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    try:
        with mc.cluster.connect("auto", workers=workers):
            yield
    finally:
        ray.shutdown()


def actor_peaks() -> list[float]:
    """The most memory, in MiB, that each actor among the children of this process has held."""
    parents, peaks = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            known = dict(re.findall(r"^(\w+):\s+(\S+)", status.read_text(), re.MULTILINE))
            words = status.with_name("cmdline").read_bytes()
        except OSError:  # it is gone
            continue
        parents[known["Pid"]] = known["PPid"]
        if words.startswith(b"ray::_Host"):
            peaks[known["Pid"]] = int(known["VmHWM"]) / 1024
    return [held for process, held in peaks.items() if _descends(process, parents)]


def _descends(process: str, parents: dict[str, str]) -> bool:
    while process in parents and process != str(os.getpid()):
        process = parents[process]
    return process == str(os.getpid())


def run(n: int = 200_000, d: int = 4096, k: int = 10_184, epochs: int = 1, long: int = 8) -> Page:
    """Both tables; `long` epochs are a fit of about a minute."""
    page = Page("cluster", "A cluster", f"{__doc__}\n{load()}")
    with tempfile.TemporaryDirectory() as name:
        write_codes(Path(name), n, d, k, noise=0.1, n_test=1)
        measure(page, Path(name), (n, d, k), epochs, long)
    return page


def measure(page: Page, folder: Path, shape: tuple[int, int, int], epochs: int, long: int) -> None:
    """Both tables of the rows in a folder."""
    n, d, k = shape
    one, two = (_child(folder, workers, 1, epochs) for workers in (1, 2))
    rows = []
    for actors, found in ((1, one), (2, two)):
        # The weights and their mean; the best are not kept without validation.
        share = 2 * found["W"] / actors + found["codes"]
        same = "yes" if found["bits"] == one["bits"] else "no"
        times = f"{found['rate'] / one['rate']:.2f}"
        held = f"{max(found['held']):.0f} MiB"
        rows.append([str(actors), f"{found['rate']:.0f}", times, held, f"{share:.0f} MiB", same])
    columns = ["actors of one core", "examples a second", "times one", "most memory of an actor"]
    columns += ["two copies of its W, and codes", "same bits"]
    page.table(f"One-vs-rest, {n} x {d} codes, {k} classes, {_SETTINGS['beta']:.0f} negatives", columns, rows)
    alone, actor = (_child(folder, workers, 2, long) for workers in (0, 1))
    ratio, same = actor["seconds"] / alone["seconds"] - 1, "yes" if actor["bits"] == alone["bits"] else "no"
    rows = [[f"{alone['seconds']:.1f} s", f"{actor['seconds']:.1f} s", f"{ratio:.1%}", same]]
    columns = ["without Ray", "by one actor, with the start of Ray", "more", "same bits"]
    page.table(f"A fit of {long} epochs, two threads", columns, rows)


def _child(folder: Path, *numbers: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.cluster", str(folder), *map(str, numbers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    print(json.dumps(one_vs_rest(Path(sys.argv[1]), *map(int, sys.argv[2:]))))
