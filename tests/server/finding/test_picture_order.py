"""In which order pictures are shown that nobody has asked for."""

import numpy as np
import pytest

from manyclass.retrieval.vectors import GrowableArray
from manyclass.server.finding.picture_order import PictureOrder

GROUPS, EACH = 8, 30


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    means = np.eye(GROUPS, 16) * 5
    X = np.repeat(means, EACH, axis=0) + rng.normal(size=(GROUPS * EACH, 16))
    array = GrowableArray(16)
    array.append((X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32))
    return array


def group(numbers):
    return (numbers // EACH).tolist()


@pytest.mark.parametrize("labeled", [True, False])
def test_one_typical_picture_of_each_group_comes_first(rows, labeled):
    codes = np.repeat(np.arange(GROUPS, dtype=np.int32), EACH) if labeled else None
    order = PictureOrder(rows, np.arange(GROUPS * EACH), codes)
    first = group(order.typical(0)[:GROUPS]) if labeled else group(order.typical(0)[:16])
    assert set(first) == set(range(GROUPS))


def test_every_order_has_every_picture_once(rows):
    order = PictureOrder(rows, np.arange(GROUPS * EACH), None)
    for numbers in (order.gallery(), order.shuffled(3), order.typical(3)):
        assert sorted(numbers.tolist()) == list(range(GROUPS * EACH))
    assert order.gallery().tolist() == list(range(GROUPS * EACH))


def test_a_seed_gives_one_order_and_another_seed_another(rows):
    one, same = (PictureOrder(rows, np.arange(GROUPS * EACH), None) for _ in range(2))
    assert one.typical(7).tolist() == same.typical(7).tolist()
    assert one.typical(7).tolist() != one.typical(8).tolist()
    assert set(one.typical(7)[:8].tolist()) != set(one.typical(8)[:8].tolist())


def test_typical_is_near_the_middle_of_its_group(rows):
    codes = np.repeat(np.arange(GROUPS, dtype=np.int32), EACH)
    first = PictureOrder(rows, np.arange(GROUPS * EACH), codes).typical(0)[:GROUPS]
    X = rows.rows(np.arange(GROUPS * EACH))
    for number in first:
        members = X[codes == codes[number]]
        near = members @ members.mean(axis=0)
        assert X[number] @ members.mean(axis=0) > np.median(near)


def test_pictures_that_are_gone_are_in_no_order(rows):
    live = np.arange(GROUPS * EACH)[::2]
    order = PictureOrder(rows, live, None)
    assert sorted(order.typical(0).tolist()) == list(range(len(live)))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_pictures_have_an_order_too(rows, n):
    assert sorted(PictureOrder(rows, np.arange(n), None).typical(0).tolist()) == list(range(n))
