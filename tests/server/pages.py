"""A server in a process of its own over a gallery of drawn pictures, and a browser that looks at its page.

Six classes of shapes; two files lie in the folder of another class, two are drawn twice with small changes, one shows
nothing of the kind. The world that a query is compared with is made of other drawings.
"""

import contextlib
import io
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

CLASSES = ["circle", "cross", "ring", "square", "stripes", "triangle"]
COLORS = [(196, 48, 43), (214, 138, 24), (24, 148, 160), (43, 92, 196), (126, 58, 162), (48, 150, 74)]
PER_CLASS = 16
WRONG = {"circle/circle_15.png": "square", "ring/ring_15.png": "triangle"}  # what they show, in the wrong folder
TWINS = [("cross/cross_00.png", "cross/cross_00_copy.png"), ("stripes/stripes_00.png", "stripes/stripes_00_small.png")]
OUTLIER = "square/scan.png"
SIZE = 96


def draw(kind, seed, size=SIZE):
    """A picture of a shape: place, size and tone differ from seed to seed, and nothing is quite even."""
    rng = np.random.default_rng([CLASSES.index(kind), seed])
    ground = tuple(int(v) for v in rng.integers(205, 250, 3))
    color = tuple(int(v) for v in np.clip(np.array(COLORS[CLASSES.index(kind)]) + rng.integers(-22, 23, 3), 0, 255))
    picture = Image.new("RGB", (4 * size, 4 * size), ground)
    pen = ImageDraw.Draw(picture)
    r = int(size * rng.uniform(1.05, 1.5))
    x, y = (int(v) for v in rng.integers(r + 4, 4 * size - r - 4, 2))
    box = [x - r, y - r, x + r, y + r]
    if kind == "circle":
        pen.ellipse(box, fill=color)
    elif kind == "ring":
        pen.ellipse(box, outline=color, width=r // 3)
    elif kind == "square":
        pen.rectangle(box, fill=color)
    elif kind == "triangle":
        pen.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=color)
    elif kind == "cross":
        pen.line([x - r, y, x + r, y], fill=color, width=r // 2)
        pen.line([x, y - r, x, y + r], fill=color, width=r // 2)
    else:
        for offset in range(-r, r, r // 3):
            pen.line([x - r, y + offset, x + r, y + offset], fill=color, width=r // 8)
    return _grained(picture.resize((size, size)), rng)


def unrelated(seed, size=SIZE):
    """A picture of many pieces in any color: one of the world that queries are compared with."""
    rng = np.random.default_rng([99, seed])
    picture = Image.new("RGB", (size, size), tuple(int(v) for v in rng.integers(60, 255, 3)))
    pen = ImageDraw.Draw(picture)
    for _ in range(rng.integers(2, 7)):
        corners = [tuple(int(v) for v in rng.integers(0, size, 2)) for _ in range(rng.integers(2, 6))]
        color = tuple(int(v) for v in rng.integers(0, 255, 3))
        if len(corners) > 2:
            pen.polygon(corners, fill=color)
        else:
            pen.line(corners, fill=color, width=int(rng.integers(1, 14)))
    return _grained(picture, rng)


def noise(seed=0, size=SIZE):
    """A picture that is like nothing in the gallery."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (size, size, 3), np.uint8))


def as_png(picture):
    """The bytes of a picture's file."""
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _grained(picture, rng):
    pixels = np.asarray(picture, np.int16) + rng.integers(-6, 7, (*picture.size, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def draw_folder(folder):
    """The pictures of the gallery, one folder per class."""
    for kind in CLASSES:
        (folder / kind).mkdir(parents=True)
        for number in range(PER_CLASS):
            name = f"{kind}/{kind}_{number:02}.png"
            draw(WRONG.get(name, kind), number).save(folder / name)
    (_, copy), (second, small) = TWINS
    draw("cross", 0).filter(ImageFilter.GaussianBlur(0.4)).save(folder / copy)
    Image.open(folder / second).resize((SIZE - 8, SIZE - 8)).resize((SIZE, SIZE)).save(folder / small)
    unrelated(5000).filter(ImageFilter.FIND_EDGES).save(folder / OUTLIER)
    return folder


def build_gallery(base):
    """Pictures, features and gallery below a folder, by the commands a person would use; gives its path."""
    pictures, world = draw_folder(base / "pictures"), base / "world"
    world.mkdir()
    for number in range(200):
        unrelated(number).save(world / f"{number:03}.png")
    few = [
        "--n-words",
        "8",
        "--descriptors",
        "sift,color",
        "--n-samples",
        "4000",
        "--n-components",
        "16",
        "--scales",
        "2",
    ]
    command("features", pictures, "-o", base / "shapes.store", *few)
    command("features", world, "-o", base / "world.store", "--kind", base / "shapes.store")
    command("encode", base / "shapes.store", "-o", base / "shapes.gallery", "--negatives", base / "world.store")
    return base / "shapes.gallery"


def command(*words):
    """Run a command of the library."""
    done = subprocess.run(
        [sys.executable, "-m", "manyclass", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def free_port():
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def served(path, *options, ready=True, log=None):
    """The address of a server over a path, in a process that ends with the block; `ready`: it answers searches."""
    port = free_port()
    words = [sys.executable, "-m", "manyclass", "serve", str(path), "--port", str(port), *map(str, options)]
    with open(log, "wb") if log else contextlib.nullcontext(subprocess.DEVNULL) as out:
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/{'readyz' if ready else 'healthz'}", process)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def wait_for(address, process, seconds=60):
    """Ask again and again until an address answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise TimeoutError(address)


def ask(address, values=None):
    """What the server says at an address, as JSON; a POST where there are values."""
    body = None if values is None else json.dumps(values).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def watched(context, address):
    """A new tab, and a list of all that it complains of and asks elsewhere for."""
    tab, events = context.new_page(), []
    tab.on("console", lambda message: events.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: events.append(f"error: {error}"))
    tab.on("request", lambda request: events.append(request.url) if not _own(request.url, address) else None)
    return tab, events


def _own(url, address):
    return url.startswith((f"{address}/", "data:", f"blob:{address}"))
