"""A folder of photographs into a store of Fisher vectors of 64 Gaussians: two cores against one, and memory.

Seconds are those of `write_features`, from opening the files to the finished store: decoding, shrinking, dense SIFT at
5 scales 6 pixels apart, PCA to 64 numbers, and the vector. Every run has a process of its own; one core and two take
turns, and the best of several rounds counts. Memory is the most that the process that writes, and the largest of those
that encode, ever held. `images=FOLDER` names pictures to use instead of drawn ones.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

import manyclass as mc
from benchmarks.features import drawn
from benchmarks.load import load
from benchmarks.page import Page

Run = dict[str, float]


def pictures(folder: str, number: int, room: Path) -> list[str]:
    """Paths of so many pictures at most: those of a folder, evenly picked, or drawn ones."""
    if folder:
        paths = mc.datasets.read_images(folder).paths
        number = min(number, len(paths))
        return [paths[i * len(paths) // number] for i in range(number)]
    for i in range(number):
        Image.fromarray(drawn(i)).save(room / f"{i:05}.jpg", quality=90)
    return [str(room / f"{i:05}.jpg") for i in range(number)]


def once(room: Path, paths: list[str], n_threads: int) -> Run:
    """One run in a process of its own."""
    (room / "paths.json").write_text(json.dumps(paths))
    command = [sys.executable, "-m", "benchmarks.feature_run", str(room), str(n_threads)]
    found: Run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def speed(room: Path, paths: list[str], rounds: int) -> list[list[str]]:
    """One core and two in turn: the best of each, and how many times faster two are."""
    found: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for n_threads, seconds in found.items():
            seconds.append(once(room, paths, n_threads)["seconds"])
    one, two = (min(found[n]) for n in (1, 2))
    return [
        [str(len(paths)), *(f"{best:.2f} s" for best in (one, two)), f"{len(paths) / two:.0f}", f"{one / two:.2f}"],
    ]


def memory(room: Path, paths: list[str], numbers: list[int]) -> list[list[str]]:
    """Peaks for more and more pictures, with two processes that encode."""
    rows = []
    for number in sorted({min(number, len(paths)) for number in numbers}):
        found = once(room, [paths[i * len(paths) // number] for i in range(number)], 2)
        rows.append([str(number), f"{found['writer']:.0f} MB", f"{found['worker']:.0f} MB"])
    return rows


def run(images: str = "", number: int = 400, rounds: int = 3, gaussians: int = 64) -> Page:
    """Both tables."""
    page = Page("feature_folder", "A folder of photographs", f"{__doc__}\n{load()}")
    with TemporaryDirectory() as name:
        room = Path(name)
        paths = pictures(images, 4 * number, room)
        some = paths[:: max(1, len(paths) // number)][:number]
        encoder: Any = mc.FisherVectors(gaussians, ("sift",), n_samples=100_000, random_state=0)
        encoder.fit(some[:100]).save(room / "encoder")
        columns = ["pictures", "one core", "two cores", "pictures per second", "times"]
        page.table(f"Best of {rounds}", columns, speed(room, some, rounds))
        rows = memory(room, paths, [number // 4, number, 4 * number])
        page.table("Most memory, two cores", ["pictures", "the process that writes", "one that encodes"], rows)
    return page
