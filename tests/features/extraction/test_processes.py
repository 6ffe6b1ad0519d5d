import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from manyclass._core import parallel as silence_module
from manyclass.features.extraction.processes import CAN_FORK, WorkerProcesses, may_fork

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="there is no safe fork here")


class Strange(Exception):  # noqa: N818
    """One that no pipe takes."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def work(task):
    time.sleep(0.01 * (task % 3 == 0))
    if task == 7:
        raise KeyError("seven")
    if task == 9:
        raise Strange(1, 2)
    if task == 11:
        os._exit(1)
    return task, os.getpid()


@pytest.mark.parametrize("n", [1, 3])
def test_results_come_in_order_from_other_processes(n):
    with WorkerProcesses(work, n) as workers:
        results = list(workers.map([0, 1, 2, 3, 4, 5, 6] * 3, lambda task: None))
    assert [task for task, _ in results] == [0, 1, 2, 3, 4, 5, 6] * 3
    pids = {pid for _, pid in results}
    assert os.getpid() not in pids
    assert len(pids) <= n


def test_what_a_task_raises_is_raised_here_with_the_place_where_it_was():
    with WorkerProcesses(work, 2) as workers, pytest.raises(KeyError, match="seven") as caught:
        list(workers.map([1, 7, 2], lambda task: None))
    assert "in work" in caught.value.__notes__[0]
    with WorkerProcesses(work, 2) as workers, pytest.raises(RuntimeError, match="Strange: 1 and 2"):
        list(workers.map([9], lambda task: None))


def test_a_task_that_ends_its_process_twice_is_lost_and_the_others_go_on():
    with WorkerProcesses(work, 2) as workers:
        results = list(workers.map([1, 11, 2, 11, 3], lambda task: (f"lost {task}", 0)))
    assert [task for task, _ in results] == [1, "lost 11", 2, "lost 11", 3]


def test_workers_end_with_the_block():
    with WorkerProcesses(work, 2) as workers:
        pids = {pid for _, pid in workers.map([1, 2, 4, 5], lambda task: None)}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


CHILD = """
import os, sys, time
from manyclass.features.extraction.processes import WorkerProcesses
with WorkerProcesses(lambda task: os.getpid(), 2) as workers:
    print(*set(workers.map(range(9), None)), flush=True)
    time.sleep(60)
"""


def test_workers_end_when_their_process_is_killed():
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in process.stdout.readline().split()]
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert pids


WITHOUT_STREAMS = """
import os, sys
from manyclass.features.extraction.processes import WorkerProcesses
with WorkerProcesses(lambda task: task, 3) as workers:
    results = list(workers.map(range(9), None))
with open(sys.argv[1], "w") as file:
    file.write(str(results))
"""


def test_workers_end_in_a_process_that_has_no_standard_streams(tmp_path):
    command = ["sh", "-c", 'exec "$0" "$@" 0<&- 1>&- 2>&-', sys.executable, "-c", WITHOUT_STREAMS, tmp_path / "out"]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == str(list(range(9)))


def test_a_daemonic_process_may_have_no_workers(monkeypatch):
    assert may_fork()
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert not may_fork()


def test_a_fork_while_another_thread_changes_the_filters_of_warnings_does_not_wait_for_it():
    with silence_module._warning_filter.lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)
            with silence_module.suppress_warnings():
                os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def alive(pid):
    """Whether a process runs still; one that nobody has asked for its end does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
