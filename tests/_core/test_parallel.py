"""Threads: how many, in which order, and what BLAS does meanwhile."""

import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from estimators.problems import blobs
from threadpoolctl import threadpool_limits

import manyclass as mc
from manyclass._core.parallel import _libraries, for_each, one_blas_thread, ordered_map, suppress_warnings, thread_map


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


def blas_threads():
    # Libraries that others brought since (faiss has a BLAS of its own) are none of our business.
    return [library.num_threads for library in _libraries()]


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    with threadpool_limits(2):
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


def test_the_last_to_leave_puts_the_setting_back():
    with threadpool_limits(2):
        with one_blas_thread():
            with one_blas_thread():
                pass
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


def test_the_setting_comes_back_after_an_exception():
    with threadpool_limits(2):
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert set(blas_threads()) == {2}


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(n_threads):
    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0)
        return i

    with mc.threads(n_threads), threadpool_limits(4):
        assert list(thread_map(slow_first, range(20))) == list(range(20))


@pytest.mark.parametrize(("ours", "blas", "expected"), [(1, 4, 1), (2, 4, 2), (4, 1, 1)])
def test_as_many_threads_run_as_both_limits_allow(ours, blas, expected):
    seen, together = set(), threading.Barrier(expected)

    def work(_):
        seen.add(threading.get_ident())
        together.wait(timeout=20)

    with mc.threads(ours), threadpool_limits(blas):
        list(thread_map(work, range(2 * expected)))
    assert len(seen) == expected


def test_results_that_nobody_took_do_not_pile_up():
    started = []
    with mc.threads(2), threadpool_limits(2):
        results = thread_map(started.append, range(100))
        next(results)
        assert len(started) <= 4
        results.close()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_exception_of_the_work_comes_out(n_threads):
    with mc.threads(n_threads), threadpool_limits(4), pytest.raises(ZeroDivisionError):
        list(thread_map(lambda i: 1 // (i - 3), range(9)))
    assert list(thread_map(abs, [-1, -2])) == [1, 2]


def test_work_may_itself_ask_for_work_in_order():
    with mc.threads(2), threadpool_limits(4):
        inner = thread_map(lambda i: sum(thread_map(abs, range(i))), range(9))
        assert list(inner) == [sum(range(i)) for i in range(9)]


def test_errstate_holds_on_the_other_threads():
    with mc.threads(2), threadpool_limits(4), np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(thread_map(lambda i: np.float64(1) / np.float64(0), range(4)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_multiplies_too():
    X = mc.DenseMatrix(np.ones((30_000, 64), np.float32))
    with mc.threads(2), threadpool_limits(2):
        assert X.rmatmat(np.ones(30_000))[0] == 30_000
        child = os.fork()
        if child == 0:
            os._exit(0 if X.rmatmat(np.ones(30_000))[0] == 30_000 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_results_come_in_the_order_of_tasks_whichever_is_done_first():
    with ThreadPoolExecutor(4) as pool:
        found = list(ordered_map(lambda task: pool.submit(lambda: time.sleep(0.01 * (3 - task)) or task), range(4), 4))
    assert found == [0, 1, 2, 3]


def test_no_more_tasks_are_begun_than_are_allowed_ahead():
    begun = []
    with ThreadPoolExecutor(1) as pool:
        results = ordered_map(lambda task: begun.append(task) or pool.submit(abs, task), range(10), 2)
        next(results)
        assert begun == [0, 1, 2]
        results.close()
    assert begun == [0, 1, 2]


def test_whoever_stops_waits_for_what_is_under_way_and_begins_nothing_more():
    go, done = threading.Event(), []

    def work(task):
        if task == 1:
            go.wait(5)
        done.append(task)
        if task == 0:
            raise KeyError("zero")

    with ThreadPoolExecutor(1) as pool:
        results = ordered_map(lambda task: pool.submit(work, task), range(9), 3)
        threading.Timer(0.05, go.set).start()
        with pytest.raises(KeyError):
            next(results)
        assert set(done) <= {0, 1}
    assert done[0] == 0
    assert set(done) <= {0, 1}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_for_each_does_the_work_of_every_item(n_threads):
    done = np.zeros(50, int)
    with mc.threads(n_threads):
        for_each(lambda i: done.__setitem__(i, i + 1), range(50))
    np.testing.assert_array_equal(done, np.arange(1, 51))


def test_warnings_are_silent_until_the_last_thread_leaves():
    before = warnings.filters[:]
    outer, inner = suppress_warnings(), suppress_warnings()
    outer.__enter__(), inner.__enter__()
    outer.__exit__(None, None, None)
    warnings.warn("nobody sees it", UserWarning, stacklevel=1)
    inner.__exit__(None, None, None)
    assert warnings.filters == before
