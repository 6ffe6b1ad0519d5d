"""The line between what is alike and what chance explains, where a collection is its own world."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.server.app import ServerSettings
from manyclass.server.collection import Collection
from manyclass.server.finding.marked_search import MarkedQuery, MarkedSearch
from manyclass.server.finding.picture_filter import Condition

CLASSES, PER_CLASS, COLUMNS = 16, 25, 256


@pytest.fixture(scope="module", params=[True, False], ids=["own negatives", "negatives of another kind"])
def served(request, tmp_path_factory):
    """Pictures of sixteen classes, a half of which are the negatives; or negatives that are none of them."""
    folder, rng = tmp_path_factory.mktemp("own"), np.random.default_rng(0)
    means = rng.normal(size=(CLASSES, COLUMNS))
    X = np.repeat(means, PER_CLASS, axis=0) + 0.5 * rng.normal(size=(CLASSES * PER_CLASS, COLUMNS))
    mc.write_store(folder / "x.store", X.astype(np.float32), names=[f"{i}.jpg" for i in range(len(X))])
    world = None
    if not request.param:
        world = folder / "world.npy"
        np.save(world, rng.normal(size=(400, COLUMNS)).astype(np.float32))
    mc.runs.build_gallery(folder / "x.store", folder / "x.gallery", negatives=world, warn=print)
    opened = mc.Gallery.open(folder / "x.gallery")
    collection = Collection(opened, folder / "x.gallery", folder / "home", settings=ServerSettings(n_workers=1))
    yield collection, request.param
    collection.close()


def asked(*numbers, world="negatives"):
    return MarkedQuery(numbers, (), world, Condition(), True)


@pytest.mark.parametrize("world", ["negatives", "gallery"])
def test_pictures_of_the_same_kind_are_above_the_line(served, world):
    collection, is_own = served
    search = MarkedSearch(collection)
    assert collection.worlds["gallery"].is_own
    assert collection.worlds["negatives"].is_own is is_own
    above, right = [], []
    for first in range(0, CLASSES * PER_CLASS, 10):
        found = search.find(asked(first, world=world), None, 0, 60)
        kinds = np.array(found.numbers[: found.line]) // PER_CLASS
        above.append(found.line)
        right.append(np.count_nonzero(kinds == first // PER_CLASS))
    assert np.mean(np.array(above) > 0) > 0.8
    assert sum(right) > 0.95 * sum(above) > 3 * len(above)


def test_marks_draw_the_line_too(served):
    collection, _ = served
    for kind in range(0, CLASSES, 5):
        marks = [kind * PER_CLASS + i for i in range(3)]
        found = MarkedSearch(collection).find(asked(*marks), None, 0, 60)
        assert found.line >= 3
        assert np.mean(np.array(found.numbers[: found.line]) // PER_CLASS == kind) > 0.9


def test_what_is_like_nothing_has_nothing_above_the_line(served):
    collection, _ = served
    lines = []
    for first in range(0, CLASSES * PER_CLASS, 25):
        mask = np.arange(CLASSES * PER_CLASS) // PER_CLASS != first // PER_CLASS
        lines.append(MarkedSearch(collection).find(asked(first), mask, 0, 60).line)
    assert np.mean(np.array(lines) > 0) <= 0.2
