"""The page by the clock: first pictures, a search, a round of marks, and fifty people at once, over HTTP.

A gallery is drawn: rows around the mean of their class, encoded by square-loss exemplar machines. The smaller one has a
JPEG file for every row, of which there are a thousand different ones. `manyclass serve` opens it in a process of its
own, and is asked from another one on the same machine, so both share its cores. The first screen is all that a browser
asks for before it shows pictures: the page, its scripts and style, the collection, one page of pictures, and 24
thumbnails that nobody has asked for before, over six connections. Every search is by another picture; a round of marks
has five that are wanted and five that are not. Under load each client asks one thing after the other without a pause:
four of ten are thumbnails, two are pages of pictures, three are searches, one is a round of marks.
"""

import http.client
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page

PER_CLASS, DIFFERENT, SCREEN, CONNECTIONS = 100, 1000, 24, 6
ROUNDS, SCREENS = 40, 5
LEVELS = {"first screen": 1000, "search": 100, "round of marks": 150}  # milliseconds at the smaller size
LEVEL_MANY = 300


def name(i: int) -> str:
    """The id of a picture."""
    return f"folder{i // 1000:04}/photo_{i:07}.jpg"


def write_gallery(folder: Path, n: int, d: int, pictures: Path | None) -> Path:
    """A gallery of n rows of d numbers in classes of a hundred."""
    rng, k = np.random.default_rng(0), max(2, n // PER_CLASS)
    means, classes = 0.7 * rng.standard_normal((k, d), np.float32), rng.integers(0, k, n)
    world = rng.standard_normal((4000, d), np.float32) + means[rng.integers(0, k, 4000)]
    encoder = mc.SquareLossExemplar(random_state=0).fit(world)
    gallery = mc.Gallery(encoder, things="class", provenance={"pictures": [] if pictures is None else [str(pictures)]})
    for start in range(0, n, 50_000):
        at = slice(start, min(n, start + 50_000))
        X = rng.standard_normal((at.stop - start, d), np.float32) + means[classes[at]]
        words = [f"class {c}" for c in classes[at]]
        gallery.add(X, ids=[name(i) for i in range(start, at.stop)], metadata={"class": words})
    gallery.save(folder)
    return folder


def write_pictures(folder: Path, n: int) -> Path:
    """A small JPEG for every row: some different ones, each under many names."""
    from PIL import Image

    rng, first = np.random.default_rng(1), []
    for i in range(n):
        place = folder / name(i)
        if i % 1000 == 0:
            place.parent.mkdir(parents=True)
        if i < DIFFERENT:
            coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8))
            coarse.resize((640, 480), Image.Resampling.BICUBIC).save(place, quality=85)
            first.append(place)
        else:
            os.link(first[i % DIFFERENT], place)
    return folder


class Client:
    """One who asks a server, over one connection."""

    def __init__(self, port: int):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def get(self, path: str) -> bytes:
        return self._ask("GET", path, None, {})

    def post(self, path: str, values: dict[str, Any]) -> bytes:
        return self._ask("POST", path, json.dumps(values), {"Content-Type": "application/json"})

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> bytes:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:200]!r}")
        return content

    def close(self) -> None:
        self._connection.close()


@contextmanager
def serving(gallery: Path) -> Iterator[tuple[int, subprocess.Popen[bytes], float]]:
    """A server of its own: its port, its process, and seconds until it had answered a first search."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "manyclass", "serve", str(gallery), "--port", str(port), "--quiet"]
    started, process = time.perf_counter(), subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        while True:
            client = Client(port)
            try:
                client.get("/readyz")
                break
            except (OSError, RuntimeError):
                if process.poll() is not None:
                    raise SystemExit("the server ended") from None
                time.sleep(0.1)
            finally:
                client.close()
        client = Client(port)
        client.post("/api/search", marks([0], []))
        client.post("/api/search", marks([0, 1], [2]))
        client.close()
        yield port, process, time.perf_counter() - started
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def marks(positives: list[int], negatives: list[int]) -> dict[str, Any]:
    """A search by the numbers of pictures."""
    return {key: [{"id": name(i)} for i in some] for key, some in (("positives", positives), ("negatives", negatives))}


def milliseconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - started)


def first_screen(port: int, seed: int, files: list[str]) -> None:
    """What a browser asks for before it shows pictures."""
    clients = [Client(port) for _ in range(CONNECTIONS)]
    clients[0].get("/")
    with ThreadPoolExecutor(CONNECTIONS) as pool:

        def together(paths: list[str]) -> list[bytes]:
            shares = [paths[i::CONNECTIONS] for i in range(CONNECTIONS)]
            return [
                one
                for some in pool.map(lambda i: [clients[i].get(p) for p in shares[i]], range(CONNECTIONS))
                for one in some
            ]

        together(files)
        listed = together([f"/api/pictures?seed={seed}&count=60", "/api/collection"])
        shown = next(json.loads(one) for one in listed if b'"pictures"' in one)["pictures"][:SCREEN]
        together([one["url"] for one in shown])
    for client in clients:
        client.close()


def timed(port: int, n: int, pictures: bool) -> dict[str, list[float]]:
    """Milliseconds of everything, one after the other."""
    client, rng, taken = Client(port), random.Random(1), {}
    if pictures:
        folder = Path(mc.__file__).parent / "server" / "static"
        files = [f"/static/{file.name}" for file in sorted(folder.glob("*.js")) + sorted(folder.glob("*.css"))]
        taken["first screen"] = [milliseconds(lambda s=s: first_screen(port, s, files)) for s in range(SCREENS)]
    pages = [f"/api/pictures?seed={seed}&start={rng.randrange(n - 60)}" for seed in range(10)]
    taken["page of pictures"] = [milliseconds(lambda p=p: client.get(p)) for p in pages]
    texts = [f"/api/pictures?text=photo_{rng.randrange(n):07}" for _ in range(10)]
    taken["text of a name"] = [milliseconds(lambda p=p: client.get(p)) for p in texts]

    def search(values: dict[str, Any]) -> float:
        return milliseconds(lambda: client.post("/api/search", values))

    taken["search"] = [search(marks([rng.randrange(n)], [])) for _ in range(ROUNDS)]
    one_class = {"where": {"folder": name(rng.randrange(n)).partition("/")[0]}}
    taken["search in a folder"] = [search({**marks([rng.randrange(n)], []), **one_class}) for _ in range(ROUNDS)]
    rounds = [marks(rng.sample(range(n), 5), rng.sample(range(n), 5)) for _ in range(ROUNDS)]
    taken["round of marks"] = [search(one) for one in rounds]
    client.close()
    return taken


def hammer(port: int, n: int, clients: int, seconds: float, pictures: bool) -> dict[str, Any]:
    """Many at once: how many answers of each kind, their times, and errors."""
    end = time.monotonic() + seconds

    def ask(seed: int) -> tuple[list[tuple[str, float]], Counter[str]]:
        rng, client, taken, errors = random.Random(seed), Client(port), [], Counter[str]()
        while time.monotonic() < end:
            kind = rng.choices(("thumbnail", "page", "search", "marks"), (4 if pictures else 0, 2, 3, 1))[0]
            acts: dict[str, Callable[[], object]] = {
                "thumbnail": lambda: client.get(f"/api/pictures/{rng.randrange(n)}/thumbnail"),
                "page": lambda: client.get(f"/api/pictures?seed={rng.randrange(50)}&start={rng.randrange(1000)}"),
                "search": lambda: client.post("/api/search", marks([rng.randrange(n)], [])),
                "marks": lambda: client.post("/api/search", marks(rng.sample(range(n), 4), rng.sample(range(n), 2))),
            }
            try:
                taken.append((kind, milliseconds(acts[kind])))
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                errors[f"{type(error).__name__} {error}"[:80]] += 1
                client.close()
        client.close()
        return taken, errors

    with ThreadPoolExecutor(clients) as pool:
        answers = list(pool.map(ask, range(clients)))
    kinds: dict[str, list[float]] = {}
    for taken, _ in answers:
        for kind, ms in taken:
            kinds.setdefault(kind, []).append(ms)
    errors = sum((one for _, one in answers), Counter())
    return {"kinds": kinds, "errors": dict(errors)}


def memory(process: subprocess.Popen[bytes]) -> float:
    """What the server has in memory, in MB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def row(what: str, ms: list[float], level: float | None) -> list[str]:
    middle, high, worst = np.median(ms), np.percentile(ms, 95), max(ms)
    said = "" if level is None else f"{level:g} ms, {'kept' if middle <= level else 'NOT KEPT'}"
    return [what, str(len(ms)), f"{middle:.0f} ms", f"{high:.0f} ms", f"{worst:.0f} ms", said]


def run(
    n: int = 100_000, d: int = 512, many: int = 1_000_000, narrow: int = 256, clients: int = 50, seconds: int = 60
) -> Page:
    """Both sizes, and the load at the smaller one."""
    page = Page("page_speed", "The page by the clock", __doc__.replace("\n", " ").partition("  ")[2] + " " + load())
    columns = ["what", "times", "median", "95 %", "worst", "level"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        gallery = write_gallery(folder / "photos.gallery", n, d, write_pictures(folder / "photos", n))
        with serving(gallery) as (port, process, ready):
            rows = [row(what, ms, LEVELS.get(what)) for what, ms in timed(port, n, True).items()]
            page.table(f"{n:,} pictures of {d} numbers, ready after {ready:.1f} s", columns, rows)
            _load_table(page, port, process, n, clients, seconds)
        gallery = write_gallery(folder / "many.gallery", many, narrow, None)
        with serving(gallery) as (port, process, ready):
            levels = {"search": LEVEL_MANY, "round of marks": LEVEL_MANY}
            rows = [row(what, ms, levels.get(what)) for what, ms in timed(port, many, False).items()]
            page.table(
                f"{many:,} rows of {narrow} numbers, ready after {ready:.1f} s, {memory(process):,.0f} MB",
                columns,
                rows,
            )
    return page


def _load_table(page: Page, port: int, process: subprocess.Popen[bytes], n: int, clients: int, seconds: int) -> None:
    words = [sys.executable, "-m", "benchmarks.page_speed", *map(str, (port, n, clients))]
    subprocess.run([*words, "5"], stdout=subprocess.DEVNULL, check=True)  # threads and caches are there from now on
    before = memory(process)
    done = subprocess.run([*words, str(seconds)], stdout=subprocess.PIPE, check=True)
    after, told = memory(process), json.loads(done.stdout)
    rows = []
    for kind, ms in sorted(told["kinds"].items()):
        p50, p95, p99 = np.percentile(ms, [50, 95, 99])
        rows.append(
            [kind, f"{len(ms):,}", f"{len(ms) / seconds:.1f}", f"{p50:.0f} ms", f"{p95:.0f} ms", f"{p99:.0f} ms"]
        )
    errors = sum(told["errors"].values())
    words_of = f"{errors} errors" + (f" ({next(iter(told['errors']))})" if errors else "")
    page.table(
        f"{clients} clients for {seconds} s: {words_of}, memory {before:,.0f} MB before and {after:,.0f} MB after",
        ["what", "answers", "per second", "median", "95 %", "99 %"],
        rows,
    )


if __name__ == "__main__":
    wanted = [int(word) for word in sys.argv[1:]]
    file = io.StringIO()
    json.dump(hammer(*wanted, pictures=True), file)
    print(file.getvalue())
