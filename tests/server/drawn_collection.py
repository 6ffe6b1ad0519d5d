"""A collection of a few drawn pictures with odd names, made in a second; what asks it over HTTP within the process."""

import contextlib
import io
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import manyclass as mc
from manyclass.server.app import ServerSettings, create_app
from manyclass.server.collection import Collection

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

SIDE = 64
COLORS = {"red": (200, 40, 40), "green": (40, 180, 60), "blue": (40, 60, 210)}
ODD = [
    "red/a 'quoted' \"name\".png",
    "red/<script>alert(1)</script>.png",
    "green/ünïcode — 日本語.png",
    "green/per%cent+plus&and?what#hash.png",
    "blue/deep/er/still.png",
    "blue/back\\slash.png",
]
PER_COLOR = 12


class ColorGrid:
    """An encoder of pictures: the mean colors of 4 x 4 cells."""

    n_features_out_, max_pixels, forks = 48, 4096, True

    def encode(self, image):
        small = Image.fromarray(np.asarray(image)).resize((4, 4), Image.Resampling.BOX)
        return np.asarray(small, np.float32).ravel() / 255


def drawn(name, seed):
    """A picture of a color with a patch somewhere."""
    rng = np.random.default_rng(seed)
    pixels = np.clip(np.array(COLORS[name]) + rng.normal(0, 12, (SIDE, SIDE, 3)), 0, 255)
    x, y = rng.integers(0, SIDE - 20, 2)
    pixels[y : y + 20, x : x + 20] = rng.integers(0, 256, 3)
    return pixels.astype(np.uint8)


def as_file(pixels, kind="png"):
    """The bytes of a picture's file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def names():
    """Ids of all pictures."""
    plain = [f"{color}/{number:02}.png" for color in COLORS for number in range(PER_COLOR)]
    return [*plain, *ODD]


def draw_pictures(folder):
    """The pictures as files below a folder."""
    for seed, name in enumerate(names()):
        place = Path(folder, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(as_file(drawn(name.partition("/")[0], seed)))
    return Path(folder)


def make_gallery(folder, pictures=True):
    """A gallery of them in memory, with the encoder of their pictures and some unrelated ones."""
    encoder, ids = ColorGrid(), names()
    rows = np.stack([encoder.encode(np.asarray(Image.open(Path(folder, one)))) for one in ids])
    world = np.random.default_rng(9).random((300, rows.shape[1]), np.float32)
    gallery = mc.Gallery(
        mc.ExemplarLDA(random_state=0).fit(world),
        features=encoder if pictures else None,
        provenance={"pictures": [str(folder)], "method": "lda", "negatives": "300 drawn rows"},
    )
    gallery.add(rows, ids=ids, metadata={"class": [one.partition("/")[0] for one in ids]})
    return gallery


def make_collection(base, settings=None, pictures=True):
    """The collection, below a folder."""
    folder = draw_pictures(Path(base, "pictures"))
    return Collection(make_gallery(folder, pictures), folder, Path(base, "home"), settings=settings or ServerSettings())


@contextlib.contextmanager
def asking(source, settings=None, host="http://localhost"):
    """A client of an application over a collection, which is closed at the end; defects of the server are answers."""
    app = create_app(source, settings or ServerSettings())
    with contextlib.closing(app.state.server), TestClient(app, base_url=host, raise_server_exceptions=False) as client:
        yield client
