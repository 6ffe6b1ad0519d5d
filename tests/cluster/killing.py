"""Actors that die at calls that a seed draws: before they are asked, or a moment after."""

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from manyclass.cluster.actor_groups import RayGroup


class Killer:
    """Kills one actor in some of the calls; always in the first one, and before it is asked, so that it is missed."""

    def __init__(self, ray, seed, most):
        self._ray, self._rng, self._most = ray, np.random.default_rng(seed), most
        self._threads, self.groups, self.kills = [], [], 0

    def before_call(self, group):
        """Perhaps kill one of the actors of a group that is about to be asked."""
        known = any(group is other for other in self.groups)
        self.groups += [] if known else [group]
        if self.kills == self._most or (self.kills and self._rng.random() >= 0.3):
            return
        with suppress(self._ray.exceptions.RayError):  # one that is dead already will be missed as well
            victim = group._hosts[self._rng.integers(len(group))]
            process = self._ray.get(victim.__ray_call__.remote(lambda _: os.getpid()))
            delay = self._rng.uniform(0, 0.05) if self.kills else 0.0
            self.kills += 1
            self._threads.append(threading.Thread(target=self._kill, args=(process, delay)))
            self._threads[-1].start()
            if not delay:
                self._threads[-1].join()

    @staticmethod
    def _kill(process, delay):
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    @property
    def replaced(self):
        """How many actors were made anew."""
        return sum(group.replaced for group in self.groups)

    def close(self):
        """Wait for those who are about to kill."""
        for thread in self._threads:
            thread.join()


@contextmanager
def killing(workers, monkeypatch, seed, most=2):
    """Kill so many actors while something is computed in the block; to begin another takes seconds."""
    killer, answers = Killer(workers._ray, seed, most), RayGroup._answers

    def killed_answers(group, call):
        killer.before_call(group)
        return answers(group, call)

    with monkeypatch.context() as patch:
        patch.setattr(RayGroup, "_answers", killed_answers)
        yield killer
    killer.close()


def processes_of(node, title=b""):
    """The processes that a node has begun, whose titles begin so."""
    raylet, found = node.all_processes["raylet"][0].process.pid, []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == raylet and (entry / "cmdline").read_bytes().startswith(title):
                found.append(int(entry.name))
    return sorted(found)


def kill_node(node, workers=True):
    """End a node as a power cut would: nobody is told. Its workers may be left, which find out after a moment."""
    others = processes_of(node) if workers else []
    started = (found.process.pid for kind in ("raylet", "log_monitor") for found in node.all_processes.get(kind, []))
    for process in (*started, *others):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def begun(begin, undo, attempts=4):
    """What `begin` begins: Ray gives up after half a minute, which a busy machine may need."""
    for _ in range(attempts - 1):
        try:
            return begin()
        except Exception:
            undo()
    return begin()


def cluster_of_three():
    """A head and two more nodes, of a core each, as processes of their own."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = begun(lambda: Cluster(initialize_head=True, head_node_args=head), lambda: None)
    nodes = [cluster.add_node(wait=False, num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes(timeout=180)
    return cluster, nodes
