"""What pictures are compared with."""

import threading

import numpy as np
import pytest

import manyclass as mc
from manyclass.server.collection import Collection
from manyclass.server.finding.worlds import World


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    base, rng = tmp_path_factory.mktemp("worlds"), np.random.default_rng(0)
    gallery = mc.Gallery(mc.ExemplarLDA(random_state=0).fit(rng.random((60, 5))))
    gallery.add(rng.random((5000, 5)), ids=[f"{'large' if i < 4800 else f'small{i % 9}'}/{i}" for i in range(5000)])
    made = Collection(gallery, base, base / "home")
    yield made
    made.close()


def test_the_default_is_what_the_encoder_knows_of_unrelated_pictures(collection):
    assert list(collection.worlds) == ["negatives", "gallery", "folder:large"]
    np.testing.assert_array_equal(collection.worlds["negatives"].embeddings(), collection.index.encoder.background_)


def test_samples_are_of_the_right_pictures_and_the_same_each_time(collection):
    world = collection.worlds["gallery"]
    assert (world.size, world.embeddings().shape) == (4000, (4000, 5))
    assert world.embeddings() is world.embeddings()
    rows = {row.tobytes() for row in collection.embeddings(np.arange(4800))}
    assert {row.tobytes() for row in collection.worlds["folder:large"].embeddings()} <= rows


def test_without_unrelated_pictures_the_archive_is_the_world(tmp_path):
    gallery = mc.Gallery()
    gallery.add(np.random.default_rng(0).random((50, 4)))
    made = Collection(gallery, tmp_path, tmp_path / "home")
    assert (list(made.worlds), made.default_world) == (["gallery"], "gallery")
    assert made.worlds["gallery"].name == "all of these pictures"
    made.close()


def test_a_machine_is_fitted_once_for_all_who_ask(collection):
    asked, barrier = [], threading.Barrier(4)
    world = World("x", "x", 60, lambda: asked.append(1) or collection.index.encoder.background_)

    def ask():
        barrier.wait()
        machines.add(id(world.machine()))

    machines = set()
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(machines), len(asked)) == (1, 1)
