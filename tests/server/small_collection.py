"""A small collection without pictures, an application over it, and one who asks it, for tests of what HTTP answers."""

import asyncio
import contextlib
import threading

import httpx
import numpy as np

import manyclass as mc
from manyclass.server.app import ServerSettings, create_app
from manyclass.server.collection import Collection

CLASSES = ["ant", "bee", "cat"]
PER_CLASS = 30
WRONG = 7  # the number of the picture whose label is another's
COPY, ORIGINAL = 41, 40
OUTLIER = 80


def rows():
    """Features and labels: three clouds, one wrong label, one near copy, one row that is like no other."""
    rng = np.random.default_rng(0)
    y = np.repeat(CLASSES, PER_CLASS)
    X = 2 * np.repeat(np.eye(3, 12), PER_CLASS, axis=0) + 0.25 * rng.normal(size=(len(y), 12))
    X[COPY] = X[ORIGINAL] * 1.5 + 0.001
    X[OUTLIER] = 2 * np.eye(12)[9]
    y[WRONG] = "cat"
    return X.astype(np.float32), y


def names(prefix=""):
    return [f"{prefix}folder{i % 3}/{i:03}.jpg" for i in range(len(CLASSES) * PER_CLASS)]


def write_gallery(folder, labels=True, ids=None):
    """A store and a gallery of it; the path of the gallery."""
    X, y = rows()
    mc.write_store(folder / "small.store", X, y if labels else None, names=ids or names())
    mc.runs.build_gallery(folder / "small.store", folder / "small.gallery", method="none")
    return folder / "small.gallery"


def open_small(gallery, home):
    """The collection of such a gallery."""
    opened, data = mc.Gallery.open(gallery), gallery.with_name("small.store")
    return Collection(opened, gallery, home, data if data.exists() else None, settings=ServerSettings(n_workers=1))


class Asker:
    """One who asks an application over a collection, in this process; `state` is what its routes share."""

    def __init__(self, collection):
        self.app = create_app(collection)
        self.state = self.app.state.server

    def __call__(self, method, address, **values):
        return self.together([(method, address, values)])[0]

    def together(self, requests):
        """The answers to several requests that are sent at once."""
        return asyncio.run(self._together(requests))

    def get(self, address, **params):
        return self("GET", address, params=params)

    def post(self, address, **values):
        return self("POST", address, json=values)

    async def _together(self, requests):
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await asyncio.gather(*(client.request(*words, **values) for *words, values in requests))


@contextlib.contextmanager
def asking(collection):
    """An Asker, whose application ends with the block."""
    asker = Asker(collection)
    try:
        yield asker
    finally:
        asker.state.close()


def wait_for_job(asker, started, seconds=60):
    """The job of an answer, when it is over."""
    job = asker.state.jobs._jobs[started["job"]["id"]]
    assert job.finished.wait(seconds)
    return job


class Heard:
    """What was published, of which one kind can be waited for."""

    def __init__(self):
        self.events, self._more = [], threading.Condition()

    def __call__(self, kind, data, key=""):
        with self._more:
            self.events.append((kind, data))
            self._more.notify_all()

    def wait(self, wanted, seconds=20):
        with self._more:
            assert self._more.wait_for(lambda: any(wanted(data) for _, data in self.events), seconds), self.events
