"""A head and two more nodes, each with one core, of which two are killed on the way; what was found is printed as JSON.

It is a process of its own, as a process has one cluster at a time.
"""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import manyclass as mc
from manyclass.cluster.connection import import_ray
from tests.cluster.killing import cluster_of_three, kill_node, processes_of
from tests.features.extraction.written import contents_of
from tests.retrieval.test_spread_index import Q, assert_same, gallery


def pictures(folder, n=48):
    rng = np.random.default_rng(0)
    for i in range(n):
        Image.fromarray(rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)).save(folder / f"{i:02}.png")
    return sorted(folder.glob("*.png"))


def main(folder):
    ray = import_ray()
    cluster, nodes = cluster_of_three()
    found, told = {}, []
    try:
        with mc.cluster.connect(cluster.address, patience=60, warn=told.append) as workers:
            found["nodes"] = len({seat.node for seat in workers.seats})
            found["features"] = features(folder, nodes[0])
            found["search"] = search(nodes[1])
            found["classifier"] = classifier()
            found["told"] = any(" is lost: " in words for words in told)
    finally:
        ray.shutdown()
        cluster.shutdown()
    print(json.dumps(found))


def features(folder, node):
    paths = pictures(folder)
    encoder = mc.FisherVectors(
        2, descriptors=("sift",), n_components=4, n_samples=400, scales=1, step=8, random_state=0
    )
    encoder.fit(paths[:8])
    mc.write_features(folder / "one.store", paths, encoder)
    killed = []

    def progress(done, total):
        if done and not killed:
            killed.append(done)
            kill_node(node)

    mc.runs.spread_features(folder / "spread.store", paths, encoder, progress=progress)
    return bool(killed) and contents_of(folder / "spread.store") == contents_of(folder / "one.store")


def search(node):
    one = gallery(1000)
    expected = one.search(Q, 20)
    with mc.cluster.spread(one):
        assert_same(one.search(Q, 20), expected)
        group = one.state().indexes[0]._group
        before = group.replaced
        assert processes_of(node, b"ray::_Host")
        kill_node(node)
        for _ in range(100):  # a busy machine may answer once more before the node is gone
            assert_same(one.search(Q, 20), expected)
            if group.replaced > before:
                break
        return group.replaced > before


def classifier():
    X = mc.datasets.low_rank_classes(300, d=16, n_classes=5, random_state=0)
    there = mc.SquareLossClassifier().fit(X, X.y).coef_
    from manyclass._core.worker_groups import using_workers

    with using_workers(None):
        return there.tobytes() == mc.SquareLossClassifier().fit(X, X.y).coef_.tobytes()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
