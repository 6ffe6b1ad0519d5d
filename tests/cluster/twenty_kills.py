"""Kills that a seed draws, over all jobs, on a head and two more nodes of a core each; a line of JSON tells of each.

A kill falls at a drawn call, or task, of a job: an actor, any process of a node, or a whole node, whose workers die
with it or a moment later. It is a process of its own, as a process has one cluster at a time.
"""

import json
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

import manyclass as mc
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.cluster.actor_groups import RayGroup
from manyclass.cluster.actors import RayWorkers
from manyclass.cluster.connection import import_ray
from manyclass.solvers import row_blocks, row_shards
from tests.cluster.killing import cluster_of_three, kill_node, processes_of
from tests.cluster.test_actors_rows import closed_form, trace_norm
from tests.cluster.three_nodes import pictures
from tests.features.extraction.written import contents_of
from tests.retrieval.test_spread_index import Q, gallery
from tests.solvers.sgd.test_class_ranges import bits, fit

KINDS = ("actor", "process", "node", "node a moment before its workers")


class Jobs:
    """What is computed, with the cluster or without: each a method that gives all its bits."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        (folder / "pictures").mkdir()
        self.paths = pictures(folder / "pictures", 36)
        self.encoder = mc.FisherVectors(
            2, descriptors=("sift",), n_components=4, n_samples=400, scales=1, step=8, random_state=0
        ).fit(self.paths[:8])
        rng = np.random.default_rng(0)
        np.save(folder / "rows.npy", rng.standard_normal((30_000, 48), np.float32))
        y = rng.integers(0, 300, 5000)
        X = (rng.standard_normal((300, 5)) @ rng.standard_normal((5, 48)))[y] + 2 * rng.standard_normal((5000, 48))
        self.rows = X.astype(np.float32), y, rng.uniform(0.5, 2, 5000)

    def out(self):
        self.count += 1
        return self.folder / str(self.count)

    def features(self, workers):
        out = self.out()
        (mc.write_features if workers is None else mc.runs.spread_features)(out, self.paths, self.encoder)
        return contents_of(out)

    def encode(self, workers):
        out = self.out()
        mc.runs.build_gallery(self.folder / "rows.npy", out, method="slem", warn=str)
        return contents_of(out)

    def one_vs_rest(self, workers):
        return bits(fit(workers, max_epochs=10, callbacks=[lambda record: None]))

    def closed_form(self, workers):
        return closed_form(self.rows)

    def trace_norm(self, workers):
        return trace_norm(self.rows)

    def ridge_softmax(self, workers):
        X, y, weights = self.rows
        found = mc.TraceNormClassifier(trace=0.0, ridge=1e-3, tolerance=0.02).fit(X, y, weights)
        return [found.coef_.tobytes(), found.intercept_.tobytes(), found.objective_]

    def search(self, workers):
        one = gallery(1000)
        with nullcontext() if workers is None else mc.cluster.spread(one):
            found = [one.search(Q, 20) for _ in range(12)]
        return [(hits.ids.tobytes(), hits.scores.tobytes(), hits.p_values.tobytes()) for hits in found]


JOBS = ("one_vs_rest", "trace_norm", "features", "encode", "closed_form", "ridge_softmax", "search")


class Counter:
    """Counts calls and tasks of a job, and does something at one of them."""

    def __init__(self, at=None, action=None):
        self.at, self.action, self.count = at, action, 0
        self.groups = []

    def step(self):
        if self.count == self.at:
            self.action()
        self.count += 1

    @contextmanager
    def counting(self):
        answers, run, start = RayGroup._answers, RayWorkers.run, RayWorkers.start

        def counted_answers(group, call):
            self.step()
            return answers(group, call)

        def counted_run(workers, *arguments):
            self.step()
            for found in run(workers, *arguments):
                self.step()
                yield found

        def counted_start(workers, *arguments):
            self.groups.append(start(workers, *arguments))
            return self.groups[-1]

        with (
            mock.patch.object(RayGroup, "_answers", counted_answers),
            mock.patch.object(RayWorkers, "run", counted_run),
            mock.patch.object(RayWorkers, "start", counted_start),
        ):
            yield self


def draw(seed, counts, n):
    """(job, kind of victim, call at which) of each kill; first, whole nodes amid training and the trace norm."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        job = JOBS[i % len(JOBS)]
        kind = "node" if i < 2 else KINDS[rng.integers(len(KINDS))]
        middle = counts[job] // 2 if i < 2 else int(rng.integers(counts[job]))
        yield job, kind, middle, rng


class Cut:
    """One kill: at once when it is asked for, or a moment later."""

    def __init__(self, kind, rng, cluster, nodes):
        self.kind, self.rng, self.cluster, self.nodes = kind.partition(" ")[0], rng, cluster, nodes
        self.at_once = kind != "node a moment before its workers"
        self.thread, self.dead, self.killed = None, None, None

    def __call__(self):
        later = bool(self.rng.integers(2))
        self.thread = threading.Thread(target=self._kill, args=(self.rng.uniform(0, 0.1) if later else 0.0,))
        self.thread.start()
        if not later:
            self.thread.join()

    def _kill(self, delay):
        time.sleep(delay)
        if self.kind == "node":
            # One that has work, if there is any: Ray may have put all of it on the others.
            busy = [one for one in self.nodes if processes_of(one, b"ray::_Host") or processes_of(one, b"ray::_run")]
            self.dead = (busy or self.nodes)[self.rng.integers(len(busy or self.nodes))]
            self.killed = self.dead.all_processes["raylet"][0].process.pid
            return kill_node(self.dead, self.at_once)
        titles = (b"ray::_Host", b"ray::_run_task", b"ray::") if self.kind == "actor" else (b"ray::",)
        found = next((some for title in titles if (some := self._processes(title))), [])
        if found:
            self.killed = found[self.rng.integers(len(found))]
            os.kill(self.killed, signal.SIGKILL)

    def _processes(self, title):
        """Those of all nodes, but for the agents that a node cannot live without; nodes die otherwise."""
        found = [process for node in [self.cluster.head_node, *self.nodes] for process in processes_of(node, title)]
        agents = (b"ray::RuntimeEnv", b"ray::Dashboard")
        return [one for one in found if not Path(f"/proc/{one}/cmdline").read_bytes().startswith(agents)]

    def mend(self, ray):
        """Wait for the kill, and begin a node in the place of a dead one."""
        if self.thread is not None:
            self.thread.join()
        if self.dead is None:
            return
        deadline = time.monotonic() + 60
        while sum(node["Alive"] for node in ray.nodes()) > len(self.nodes) and time.monotonic() < deadline:
            time.sleep(0.2)
        self.nodes.remove(self.dead)
        self.cluster.remove_node(self.dead, allow_graceful=False)
        self.nodes.append(self.cluster.add_node(wait=False, num_cpus=1))
        self.cluster.wait_for_nodes(timeout=180)


def main(folder, seed, n):
    ray = import_ray()
    with (
        mock.patch.object(row_blocks, "block_rows", return_value=1024),
        mock.patch.object(row_shards, "_LEAST_CHUNKS", 1),
    ):
        jobs = Jobs(folder)
        expected = {job: getattr(jobs, job)(None) for job in JOBS}
        with using_workers(LocalWorkers(2)):  # one process that has all scores takes other steps
            expected["ridge_softmax"] = jobs.ridge_softmax(None)
        cluster, nodes = cluster_of_three()
        try:
            with mc.cluster.connect(cluster.address, patience=300) as workers:
                counts = {}
                for job in JOBS:
                    with Counter().counting() as counter:
                        same = getattr(jobs, job)(workers) == expected[job]
                    counts[job] = counter.count
                    print(json.dumps({"job": job, "calls": counter.count, "same": same}), flush=True)
            for job, kind, at, rng in draw(seed, counts, n):
                print(json.dumps(_trial(ray, cluster, nodes, jobs, expected, job, kind, at, rng)), flush=True)
        finally:
            ray.shutdown()
            cluster.shutdown()


def _trial(ray, cluster, nodes, jobs, expected, job, kind, at, rng):
    told, cut, started = [], Cut(kind, rng, cluster, nodes), time.monotonic()
    with (
        mc.cluster.connect(cluster.address, patience=300, warn=told.append) as workers,
        Counter(at, cut).counting() as counter,
    ):
        try:
            found = getattr(jobs, job)(workers) == expected[job]
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - started
        cut.mend(ray)
    replaced = sum(group.replaced for group in counter.groups)
    what = {"job": job, "killed": kind, "process": cut.killed, "call": at, "same": found, "replaced": replaced}
    return {**what, "told": told, "seconds": round(seconds, 1)}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
