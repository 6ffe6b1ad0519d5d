"""How many threads our loops use."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from estimators.problems import blobs
from threadpoolctl import threadpool_limits

import manyclass as mc
from manyclass._core.parallel import thread_map


@pytest.fixture(autouse=True)
def three_for_the_process():
    before = mc.get_threads()
    mc.set_threads(3)
    yield
    mc.set_threads(before)


def test_a_block_has_its_own_number_and_gives_it_back():
    with mc.threads(2):
        with mc.threads(1):
            assert mc.get_threads() == 1
        assert mc.get_threads() == 2
    assert mc.get_threads() == 3


def test_the_number_comes_back_after_an_exception():
    with pytest.raises(KeyError), mc.threads(1):
        raise KeyError
    assert mc.get_threads() == 3


def test_blocks_of_python_threads_that_overlap_know_nothing_of_each_other():
    entered, seen, left = Barrier(2), Barrier(2), Barrier(2)

    def block(n_threads):
        with mc.threads(n_threads):
            entered.wait(timeout=20)
            inside = mc.get_threads()
            seen.wait(timeout=20)
        left.wait(timeout=20)
        return inside, mc.get_threads()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(block, (1, 2))) == [(1, 3), (2, 3)]
    assert mc.get_threads() == 3


def test_the_number_of_the_process_is_that_of_all_python_threads_without_a_block():
    mc.set_threads(2)
    with mc.threads(1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(mc.get_threads).result() == 2


def test_inside_a_block_the_number_of_the_block_counts():
    with mc.threads(1):
        mc.set_threads(2)
        assert mc.get_threads() == 1
    assert mc.get_threads() == 2


def test_work_in_order_has_the_number_of_who_asked_for_it():
    with mc.threads(2), threadpool_limits(4):
        assert list(thread_map(lambda _: mc.get_threads(), range(6))) == [2] * 6


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, True])
def test_no_other_number_will_do(n_threads):
    with pytest.raises(ValueError, match="n_threads must be a whole number, at least 1"), mc.threads(n_threads):
        pass
    with pytest.raises(ValueError, match="n_threads must be a whole number, at least 1"):
        mc.set_threads(n_threads)


def test_fits_at_the_same_time_leave_the_number_as_it_was_and_give_the_same_bits():
    X, y = blobs()
    both = Barrier(2)

    def fit(n_threads):
        seen = []

        def meet(record):
            both.wait(timeout=20)
            seen.append(mc.get_threads())

        settings = {"step": 0.1, "beta": 2, "max_epochs": 5, "early_stopping": False, "random_state": 0}
        fitted = mc.StochasticClassifier(**settings, n_threads=n_threads, callbacks=[meet]).fit(X, y)
        return set(seen), fitted.coef_

    with ThreadPoolExecutor(2) as pool:
        (one, coef), (two, other) = pool.map(fit, (1, 2))
    assert (one, two, mc.get_threads()) == ({1}, {2}, 3)
    np.testing.assert_array_equal(coef, other)
