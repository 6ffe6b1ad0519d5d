"""The pictures of the README, the first page and the guides: what the commands write, looked at in a browser.

    pip install -e ".[all]" playwright
    manyclass demo -o demo
    python docs/images/draw.py demo

It draws characters (`mc.datasets.glyphs`), gives the commands that the pages give, and takes pictures of the pages and
sheets that they write, with the Chromium of this machine. The report is that of the demo. Some minutes.
"""

import io
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import manyclass as mc

HERE = Path(__file__).parent
PORT = 8765


def main(demo: Path) -> None:
    """Write all pictures beside this file."""
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        base = Path(folder)
        draw_folders(base)
        report(chromium, demo.resolve() / "report.html")
        learned(chromium, base)
        probed(chromium, base)
        searched(base)
        served(chromium, base)
        overview(chromium)


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def draw_folders(base: Path) -> None:
    """`photos`, 40 characters with a folder each; `world`, others; the same as features; two embeddings of others."""
    drawn = mc.datasets.glyphs(160, 16, size=96, random_state=0, cache=False)
    letters = [c for c, name in enumerate(drawn.classes) if "LETTER" in name]
    rows, features = np.isin(drawn.y, letters[:40]), mc.datasets.glyph_features(shrunk(drawn.images))
    names = [
        f"{drawn.classes[c].lower().removeprefix('latin ').replace(' letter ', '-')}/{i % 16:02d}.png"
        for i, c in enumerate(drawn.y)
    ]
    for picture, name, label in zip(drawn.images, names, drawn.y, strict=True):
        if label in letters[:100]:
            path = base / ("photos" if label in letters[:40] else "world") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(path)
    mc.write_store(
        base / "letters.store", features[rows], names=[name for name, kept in zip(names, rows, strict=True) if kept]
    )
    mc.write_store(base / "others.store", features[~rows])
    small = mc.datasets.glyphs(60, 20, random_state=0, cache=False)
    labels = np.array(small.classes)[small.y]
    np.savez(base / "gradients.npz", X=mc.datasets.glyph_features(small.images), y=labels)
    np.savez(base / "pixels.npz", X=small.images.reshape(len(small), -1) / np.float32(255), y=labels)


def shrunk(images: np.ndarray) -> np.ndarray:
    """Pictures of 96 pixels as those of 32 that `glyph_features` are made for."""
    n = len(images)
    return images.reshape(n, 32, 3, 32, 3).mean(axis=(2, 4)).astype(np.uint8)


def command(base: Path, *words: str) -> None:
    """Give a command in the folder."""
    print("manyclass", *words, flush=True)
    subprocess.run([sys.executable, "-m", "manyclass", *words], cwd=base, check=True, stdout=subprocess.DEVNULL)


def report(chromium: Browser, page: Path) -> None:
    """The report of the demo: what comes first."""
    take(chromium, page, "report.png", width=860, height=1180)


def learned(chromium: Browser, base: Path) -> None:
    """The report of `learn`: the beginning, with the pictures that it got wrong."""
    command(base, "learn", "photos", "-o", "out", "--kind", "fisher")
    take(chromium, base / "out" / "report.html", "learned.png", width=860, height=1180)


def probed(chromium: Browser, base: Path) -> None:
    """The report of `probe`: two files of embeddings, compared."""
    command(base, "probe", "gradients.npz", "pixels.npz", "-o", "probe.json")
    command(base, "report", "probe.json", "-o", "probe.html")
    take(chromium, base / "probe.html", "probed.png", width=860, height=1180)


def searched(base: Path) -> None:
    """The sheet of `search`: a query in each row, and what it found."""
    command(base, "encode", "letters.store", "--negatives", "others.store", "-o", "letters.gallery")
    asked = [f"{name}/00.png" for name in sorted(path.name for path in (base / "photos").iterdir())[5:40:7]]
    ids = [word for one in asked for word in ("--id", one)]
    command(base, "search", "letters.gallery", *ids, "-k", "7", "--sheet", "found.png", "--pictures", "photos")
    sheet = Image.open(base / "found.png")
    save(sheet.resize((800, round(800 * sheet.height / sheet.width)), Image.Resampling.LANCZOS), "found.png", colors=16)


def served(chromium: Browser, base: Path) -> None:
    """The page of `serve`: a query with marks."""
    command(base, "features", "photos", "-o", "photos.store", "--kind", "fisher")
    command(base, "features", "world", "-o", "world.store", "--kind", "photos.store")
    command(base, "encode", "photos.store", "--negatives", "world.store", "-o", "photos.gallery")
    name = sorted(path.name for path in (base / "photos").iterdir())[7]
    words = ["serve", "photos.gallery", "--port", str(PORT), "-o", "home"]
    server = subprocess.Popen([sys.executable, "-m", "manyclass", *words], cwd=base, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{PORT}/readyz")
        where = f"#/find?q=id:{name}/00.png&like=id:{name}/03.png&like=id:{name}/07.png"
        tab = chromium.new_page(viewport={"width": 1240, "height": 800})
        tab.goto(f"http://127.0.0.1:{PORT}/{where}")
        tab.get_by_text("more alike than chance").first.wait_for(timeout=120_000)
        tab.wait_for_load_state("networkidle", timeout=120_000)
        shoot(tab, "page.png", colors=32)
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str) -> None:
    """Until a server answers."""
    for _ in range(240):
        try:
            urllib.request.urlopen(address, timeout=5)
            return
        except OSError:  # not yet
            time.sleep(0.5)
    raise TimeoutError(address)


def overview(chromium: Browser) -> None:
    """The picture of the README: a report, a search and the page, side by side."""
    tab = chromium.new_page(viewport={"width": 1280, "height": 624})
    tab.goto((HERE / "overview.html").as_uri())
    shoot(tab, "overview.png", colors=40)


def take(chromium: Browser, page: Path, name: str, width: int, height: int) -> None:
    """A picture of the beginning of a page."""
    tab = chromium.new_page(viewport={"width": width, "height": height})
    tab.goto(page.as_uri())
    shoot(tab, name)


def shoot(tab: Page, name: str, colors: int = 64) -> None:
    """What the tab shows."""
    save(Image.open(io.BytesIO(tab.screenshot())), name, colors)
    tab.close()


def save(picture: Image.Image, name: str, colors: int) -> None:
    """A file of few colors, as drawings and text need no more."""
    path = HERE / name
    picture.convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {picture.width} x {picture.height}, {path.stat().st_size // 1000} kB", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
