"""Search by workers finds what one process finds, to the bit."""

from dataclasses import fields

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.worker_groups import LocalWorkers, using_workers

RNG = np.random.default_rng(0)
X, Q = (RNG.standard_normal((n, 24), np.float32) for n in (5000, 9))
X[4000:4050] = X[7]  # equals, on several workers
Q[3] = X[7]


def gallery(n=5000):
    made = mc.Gallery(background=X[:50] - 1)
    made.add(X[: n // 2], metadata={"even": [i % 2 == 0 for i in range(n // 2)]})
    made.add(X[n // 2 : n], metadata={"even": [i % 2 == 0 for i in range(n // 2, n)]})
    return made


def assert_same(a, b):
    for field in fields(mc.retrieval.Hits):
        x, y = getattr(a, field.name), getattr(b, field.name)
        assert type(x) is type(y)
        assert (x.tobytes() == y.tobytes()) if isinstance(x, np.ndarray) else (x == y), field.name


@pytest.fixture(params=[1, 2, 3, 7])
def workers(request):
    with using_workers(LocalWorkers(request.param)) as nothing:
        yield nothing


@pytest.mark.parametrize("k", [1, 10, 60, 6000])
def test_hits_have_the_bits_of_one_process(workers, k):
    one = gallery(1200 if k == 6000 else 5000)
    expected = one.search(Q, k)
    with mc.cluster.spread(one) as spread:
        assert_same(spread.search(Q, k), expected)
    assert_same(one.search(Q, k), expected)


def test_filters_and_ids_are_searched_alike(workers):
    one = gallery()
    expected = one.search(Q, 5, {"even": True}), one.search(Q, 5, [3, 4999, 7]), one.search_ids([7, 4001], 60)
    with mc.cluster.spread(one):
        assert_same(one.search(Q, 5, {"even": True}), expected[0])
        assert_same(one.search(Q, 5, [3, 4999, 7]), expected[1])
        assert_same(one.search_ids([7, 4001], 60), expected[2])


def test_images_come_and_go_while_it_is_searched(workers):
    one, other = gallery(1000), gallery(1000)
    with mc.cluster.spread(one):
        for change in (
            lambda g: g.remove([7, 8, 999]),
            lambda g: g.add(X[1000:1100]),
            lambda g: g.add(X[2000:2001], ids=[77_777]),
            lambda g: g.update([3], X[3:4] + 1),
            lambda g: g.remove(g.ids[: len(g) - 20].tolist()),
            lambda g: g.add(X[3000:4500]),
            lambda g: g.remove(g.ids[:-10].tolist()),  # so many that what is left is closed up
            lambda g: g.add(X[100:130]),
        ):
            change(one)
            change(other)
            assert_same(one.search(Q, 12), other.search(Q, 12))
    assert_same(one.search(Q, 12), other.search(Q, 12))


def test_rerankers_and_expansions_go_on_from_there(workers):
    expansion = mc.retrieval.QueryExpansion(5)
    one = gallery()
    expected = one.search(Q, 10, expansion=expansion)
    with mc.cluster.spread(one):
        assert_same(one.search(Q, 10, expansion=expansion), expected)


def test_a_gallery_is_saved_as_it_is(workers, tmp_path):
    one = gallery(500)
    with mc.cluster.spread(one):
        one.add(X[500:600])
        one.save(tmp_path / "g")
    assert_same(mc.Gallery.open(tmp_path / "g").search(Q), one.search(Q))


def test_similarities_that_are_no_products_are_refused(workers):
    encoder = mc.KernelSquareLossExemplar().fit(X[:60])
    one = mc.Gallery(encoder)
    one.add(X[60:90])
    with pytest.raises(ValueError, match="product; that of KernelSquareLossExemplar is not"), mc.cluster.spread(one):
        pass
