import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from manyclass._core.parallel import ordered_map


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
