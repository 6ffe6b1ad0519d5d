"""A folder of photographs into a store of features by the command itself, with no options.

Every run is `manyclass features photos/ -o photos.store` in a process of its own, with `--threads 1` and `--threads 2`
in turn; the least of several rounds counts, for each pass alone. The times are those that the command tells: learning
reads the pictures, and learns principal components and Gaussians from them; encoding goes from opening the files to the
finished store. `fisher`, the default, is dense SIFT and local color at 5 scales, 6 pixels apart; `--kind network` is
EfficientNet-Lite0. Memory is the most that the process that writes, and the largest of those that encode, ever held.

`python -m benchmarks feature_folder images=FOLDER` measures photographs of yours. Without a folder, pictures of
640 x 520 pixels in color are drawn, whose detail falls with its frequency as that of photographs does.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from PIL import Image

import manyclass as mc
from benchmarks.features import drawn
from benchmarks.load import load
from benchmarks.page import Page
from manyclass.runs.provenance import encoder_file, recommended_kind

Run = dict[str, float]


def pictures(folder: str, number: int, room: Path) -> list[str]:
    """Paths of so many pictures at most, in a folder of the room: those of a folder, evenly picked, or drawn ones."""
    room.mkdir()
    if folder:
        paths = [path for path in mc.datasets.read_images(folder).paths if _opens(path)]
        number = min(number, len(paths))
        for i in range(number):
            path = Path(paths[i * len(paths) // number])
            shutil.copy(path, room / f"{i:05}{path.suffix}")
    else:
        for i in range(number):
            Image.fromarray(drawn(i, 520, 640)).save(room / f"{i:05}.jpg", quality=90)
    return sorted(map(str, room.iterdir()))


def _opens(path: str) -> bool:
    try:
        Image.open(path).close()
    except OSError:
        return False
    return True


def command(photos: Path, store: Path, kind: str, n_threads: int) -> Run:
    """One run of the command: what it tells."""
    shutil.rmtree(store, ignore_errors=True)
    words = ["features", str(photos), "-o", str(store), "--kind", kind, "--threads", str(n_threads), "--json"]
    program = [sys.executable, "-c", "from manyclass.cli.main import main; main()", *words]
    found: Run = json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    return found


def speed(photos: Path, store: Path, kind: str, rounds: int) -> list[str]:
    """One core and two in turn: the best of each pass, pictures per second, and how many times faster two encode."""
    runs: dict[int, list[Run]] = {1: [], 2: []}
    for _ in range(rounds):
        for n_threads, done in runs.items():
            done.append(command(photos, store, kind, n_threads))
    least = {
        what: [min(run[what] for run in runs[n]) for n in (1, 2)]
        for what in ("learning_seconds", "encoding_seconds")
        if what in runs[1][0]
    }
    learning = [f"{seconds:.2f} s" for seconds in least.get("learning_seconds", [])] or ["none", "none"]
    one, two = least["encoding_seconds"]
    n = runs[1][0]["rows"]
    return [kind, str(n), *learning, f"{one:.2f} s", f"{two:.2f} s", f"{n / two:.0f}", f"{one / two:.2f}"]


def memory(room: Path, paths: list[str], numbers: list[int]) -> list[list[str]]:
    """Peaks for more and more pictures, with two processes that encode; pictures may come again."""
    rows = []
    for number in numbers:
        (room / "paths.json").write_text(json.dumps([paths[i % len(paths)] for i in range(number)]))
        words = [sys.executable, "-m", "benchmarks.feature_run", str(room), "2"]
        found: Run = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        rows.append([str(number), f"{found['writer']:.0f} MB", f"{found['worker']:.0f} MB"])
    return rows


def run(images: str = "", number: int = 600, rounds: int = 3) -> Page:
    """Both tables."""
    with TemporaryDirectory() as name:
        room = Path(name)
        photos, store = room / "photos", room / "photos.store"
        paths = pictures(images, number, photos)
        sizes = [Image.open(path).size for path in paths]
        width, height = (median(size[axis] for size in sizes) for axis in (0, 1))
        what = "photographs" if images else "drawn pictures"
        size = f"{len(paths)} {what}, {width:.0f} x {height:.0f} pixels in the median"
        page = Page("feature_folder", "A folder of photographs", f"{__doc__}\n{load()}")
        columns = ["kind", "pictures", "learning, one core", "two cores", "encoding, one core", "two cores"]
        columns += ["encoded per second", "times"]
        kinds = sorted({"fisher", recommended_kind()})
        page.table(f"Best of {rounds}: {size}", columns, [speed(photos, store, kind, rounds) for kind in kinds])
        command(photos, store, "fisher", 2)
        shutil.copy(str(encoder_file(store)), room / "encoder")
        rows = memory(room, paths, [number // 4, number, 4 * number])
        caption = "Most memory of fisher, two cores"
        page.table(caption, ["pictures", "the process that writes", "one that encodes"], rows)
    return page
