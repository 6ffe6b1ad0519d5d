"""BLAS in one thread, and blocks shared out over ours."""

import os
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import manyclass as mc
from manyclass._core.parallel import _libraries, one_blas_thread, thread_map


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
