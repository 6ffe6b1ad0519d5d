"""After any sequence of additions, removals and updates a gallery answers as one that is built afresh."""

import numpy as np
import pytest

import manyclass as mc

D = 12


class Told:
    """What the gallery should hold: ids and vectors in order, and nothing clever."""

    def __init__(self):
        self.images = {}

    def fresh(self, encoder):
        g = mc.Gallery(encoder)
        if self.images:
            g.add(np.array(list(self.images.values()), np.float32), ids=list(self.images))
        return g


def step(rng, told, g, names):
    """One random operation on both."""
    X = rng.standard_normal((rng.integers(1, 4), D)).astype(np.float32)
    choice = rng.random()
    if choice < 0.45 or len(told.images) < 4:
        ids = [next(names) for _ in X]
        g.add(X, ids=ids)
        told.images.update(zip(ids, X, strict=True))
        return
    ids = [list(told.images)[i] for i in rng.choice(len(told.images), min(len(X), len(told.images)), replace=False)]
    gone = {key: told.images.pop(key) for key in ids}
    if choice < 0.85:
        g.remove(ids)
    else:
        X = X[: len(gone)]
        g.update(ids, X)
        told.images.update(zip(ids, X, strict=True))


def same_answers(a, b, Q, **how):
    found, right = a.search(Q, **how), b.search(Q, **how)
    return found.ids.tolist() == right.ids.tolist() and found.scores.tobytes() == right.scores.tobytes()


@pytest.mark.parametrize("n", [3000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_operations_leave_the_same_answers_to_the_bit(tmp_path, n):
    rng, told, g = np.random.default_rng(0), Told(), mc.Gallery()
    names = (f"{i:x}" for i in range(10**6))
    for i in range(n):
        step(rng, told, g, names)
        if i % 1000 == 999:
            # Now and then through a file, which is written a little at a time.
            g.save(tmp_path / "g")
            g = mc.Gallery.open(tmp_path / "g") if i % 2000 == 1999 else g
        if i % 100 == 0:
            fresh = told.fresh(None)
            assert g.ids.tolist() == list(told.images)
            Q = rng.standard_normal((3, D)).astype(np.float32)
            assert same_answers(g, fresh, Q, k=7)
            assert same_answers(g, fresh, Q, k=5, where=rng.random(len(g)) < 0.3)


def test_removed_images_do_not_pile_up():
    g = mc.Gallery()
    for i in range(40):
        g.add(np.ones((200, D)), ids=range(200 * i, 200 * i + 200))
        g.remove(range(200 * i, 200 * i + 200))
    assert g.state().catalog.n_places < 2000
    assert len(g.state().indexes[0].embeddings) < 2000


@pytest.mark.parametrize("encoder", [mc.SquareLossExemplar, mc.ExemplarLDA])
def test_an_encoder_gives_the_same_ids_and_scores_but_for_the_last_bit(encoder):
    rng, told = np.random.default_rng(1), Told()
    made = encoder().fit(rng.standard_normal((200, D)))
    g, names = mc.Gallery(made), iter(range(10**6))
    for _ in range(300):
        step(rng, told, g, names)
    Q = rng.standard_normal((20, D))
    found, right = g.search(Q, k=9), told.fresh(made).search(Q, k=9)
    np.testing.assert_allclose(found.scores, right.scores, atol=1e-6)
    assert np.mean(found.ids == right.ids) > 0.99
