"""The corpus: an honest file for every reader, made in a folder; each maker names the file that is to be changed."""

import contextlib
import json
import os

import numpy as np

import manyclass as mc
from manyclass._core.sealed import seal

X = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)


Y = np.array([f"c{i % 3}" for i in range(12)])


def written(name, data):
    def make(folder):
        (folder / name).write_bytes(data)
        return folder / name

    return make


def store(folder):
    mc.write_store(folder / "s.store", X, y=np.arange(12) % 3, classes=list("abc"), names=[f"{i}" for i in range(12)])
    return folder / "s.store" / "manifest.json"


def codes(folder):
    mc.write_store(folder / "s.store", X, quantizer=mc.ProductQuantizer(block=2, n_centroids=4, random_state=0).fit(X))
    return folder / "s.store" / "manifest.json"


def journal(folder):
    writer = mc.StoreWriter(folder / "s.store", 4, identity={"a": 1}, block_bytes=32)
    writer.append(X)
    os.system(f"cp -r {folder}/s.store {folder}/copy.store")
    writer.close()
    return folder / "copy.store" / "journal"


def npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def npz(folder):
    np.savez_compressed(folder / "x.npz", X=X, y=Y)
    return folder / "x.npz"


def sparse(folder):
    from scipy import sparse

    sparse.save_npz(folder / "x.npz", sparse.csr_array(X * (X > 0)))
    return folder / "x.npz"


def parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"embedding": list(X), "label": Y}), folder / "x.parquet")
    return folder / "x.parquet"


def classifier(folder):
    mc.StochasticClassifier(max_epochs=1, random_state=0).fit(X, Y).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def encoder(folder):
    mc.WhitenedPCA(n_components=2).fit(X).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def fisher(folder):
    pictures = np.random.default_rng(0).integers(0, 256, (4, 40, 40, 3), np.uint8)
    mc.FisherVectors(2, n_components=4, random_state=0).fit(pictures).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def gallery(folder):
    gallery = mc.Gallery(mc.WhitenedPCA(n_components=2).fit(X))
    gallery.add(X[:8], ids=[f"i{i}" for i in range(8)], metadata={"class": Y[:8].tolist()})
    gallery.save(folder / "g")
    gallery.remove(["i3"])
    gallery.save(folder / "g")
    return folder / "g" / "manifest.json"


def section(folder):
    return sorted(gallery(folder).parent.glob("labels-*"))[0]


def reseal_gallery(path):
    from manyclass._core.digest import file_digest

    manifest = path.parent / "manifest.json"
    content = json.loads(manifest.read_bytes())["content"]
    for segment in content["segments"]:
        if segment["labels"]["name"] == path.name:
            segment["labels"]["sha256"] = file_digest(path)
    manifest.write_bytes(seal(content))


_SHARE = {"value": 0.5, "low": 0.25, "high": 0.75}

RECORDS = {
    "run": {
        "command": "train", "arguments": ["a"], "settings": {"x": 1, "part": "all", "tune": ["step"]},
        "versions": {"numpy": "2.1"}, "machine": {"cores": 2, "memory_bytes": 9}, "status": "done", "seconds": 1.5,
        "data": [{"role": "train", "rows": 3, "path": ".", "part": "all", "columns": 4, "classes": 3}], "seed": 0,
        "model": {"estimator": "A", "objective": "ovr", "loss": "hinge", "classes": 3, "columns": 4, "bytes": 9,
                  "step": 0.5, "beta": None, "n_epochs": 3, "status": "optimal"},
        "history": [{"epoch": 1, "accuracy": 0.5, "loss": 1.0}, {"epoch": 2, "accuracy": 0.6, "loss": 0.9}],
        "grid": [{"trace": 1.0, "ridge": 0.1, "accuracy": 0.5, "rank": 2}], "spectrum": [2.0, 1.0], "rank": 2,
        "files": {"model": {"name": "model-0.safetensors", "size": 1, "sha256": "0" * 64}},
        "embedding": {"classes": ["a"], "x": [0.1], "y": [0.2]}, "tuning": [{"name": "a", "value": 1, "accuracy": 0.5}],
        "training": {"rows": 600, "right": 600, "per_class": [{"class": "a", "rows": 40}, {"class": "b", "rows": 2}]},
    },
    "evaluation": {  # with something for every piece of advice
        "model": "0" * 64, "data": {"rows": 240, "path": ".", "part": "test"}, "rows": 240, "top_1": 0.5,
        "features": {"source": ".", "kind": "fisher", "seed": 1, "test_fraction": 0.2},
        "per_class": [{"class": "a", "rows": 200, "right": 199}, {"class": "b", "rows": 9, "right": 0},
                      {"class": "c", "rows": 31, "right": 20}],
        "confusions": [{"class": "b", "predicted": "c", "count": 9, "examples": ["x"], "representative": "y"},
                       {"class": "c", "predicted": "b", "count": 11, "examples": []}],
        "mistakes": [{"name": "x", "class": "b", "predicted": "c", "surer_than": 0.9}],
    },
    "retrieval": {
        "data": [], "protocol": "holidays",
        "methods": [{"name": "lda", "map": 0.5}],
        "queries": [{"name": "q", "results": [{"name": "r", "right": True, "score": 0.5}]}],
    },
    "probe": {
        "arguments": [], "versions": {}, "machine": {}, "data": [{"path": "x.npz", "rows": 9}], "protocol": "a split",
        "rows": 9, "test_rows": 4, "classes": 2, "sampled": False,
        "embeddings": [{
            "name": "clip", "columns": 8,
            "methods": [
                {"name": "means", "title": "class means", "top_1": _SHARE, "top_5": _SHARE, "mean_per_class": _SHARE,
                 "settings": {"metric": "cosine"}, "bytes": 24, "fit_seconds": 0.5, "predict_seconds": 0.25,
                 "against": {"name": "closed", "difference": -0.1, "low": -0.2, "high": 0.0, "p": 0.04}},
            ],
            "shots": [{"shots": 1, "name": "means", "title": "class means", "top_1": _SHARE}],
        }],
        "comparison": [{"method": "best of each", "first": "clip", "second": "dino", "difference": 0.1, "low": 0.05,
                        "high": 0.2, "p": 0.001, "verdict": "clip is better"}],
        "verdict": "clip is better",
    },
}  # fmt: skip


def whole(kind):
    """The honest record of a kind, with what it leaves out."""
    from manyclass.runs.records import _checked, _head

    return _checked({**_head(kind), **RECORDS[kind]}, kind, "the record")


def record(kind):
    def make(folder):
        from manyclass.runs.records import write_record

        write_record(folder / "r.json", kind, RECORDS[kind])
        return folder / "r.json"

    return make


def picture(kind, **options):
    def make(folder):
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 256, (12, 17, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"x.{kind}", kind, **options)
        return folder / f"x.{kind}"

    return make


def network(folder):
    from tests.features import networks

    return networks.tiny(folder / "x.onnx", beside={"size": [16, 16]})


def network_beside_weights(folder):
    import onnx

    onnx.save_model(
        onnx.load(network(folder)), folder / "y.onnx", save_as_external_data=True, location="w", size_threshold=0
    )
    return folder / "y.onnx"


TRUTH = {"imlist": list("abcd"), "qimlist": ["a", "d"], "gnd": [{"ok": [0, 2], "junk": [1], "bbx": [1, 2, 3.5, 4]}] * 2}

TRUTH_IN_ARRAYS = {**TRUTH, "gnd": [{"ok": np.arange(3), "junk": np.zeros(0, int)}] * 2}


def mat(compressed):
    def make(folder):
        from scipy.io import savemat

        from tests.evaluation.test_ground_truth_files import CLASSIC, cells, structs

        content = {"imlist": cells(list("abcd")), "gnd": structs(CLASSIC), "qidx": np.array([[1], [4]], np.uint16)}
        savemat(folder / "g.mat", content, do_compression=compressed)
        return folder / "g.mat"

    return make


def oxford(folder):
    from tests.evaluation.test_ground_truth_files import OXFORD, write_oxford

    return write_oxford(folder, OXFORD) / "hall_1_query.txt"


class _StopError(Exception):
    pass


def _stop(epochs):
    def callback(*args):
        epochs.append(1)
        if len(epochs) > 1:
            raise _StopError

    return callback


def fit(path, callbacks=()):
    model = mc.StochasticClassifier(
        max_epochs=3, step=0.1, beta=2, random_state=0, checkpoint=path, callbacks=callbacks
    )
    return model.fit(X, Y)


def checkpoint(folder):
    from manyclass.solvers.sgd import checkpoint

    checkpoint._SECONDS = 0.0
    with contextlib.suppress(_StopError):
        fit(folder / "c", [_stop([])])
    return folder / "c"


def path_point(folder):
    from manyclass.solvers.batch import path as paths
    from manyclass.solvers.batch.points import LowRankWeights
    from manyclass.solvers.batch.solution import Solution, Status

    found = Solution(
        LowRankWeights(X[:4], X[:3], np.zeros(3)), 0.5, 0.1, 0.2, Status.OPTIMAL, 1.0, 3.0, 2, [{"a": 1.5}]
    )
    paths.PathCheckpoint(folder / "p", {"data": "x"}).save(0, found)
    return folder / "p" / "point-00000"


def skipped(folder):
    from manyclass.features.extraction.skip_log import SKIP_LOG_FORMAT

    lines = [{"format": SKIP_LOG_FORMAT, "run": "x"}, {"position": 1, "name": "a", "reason": "is empty"}]
    (folder / "s.skipped.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "s.skipped.jsonl"


TOML = b'seed = 1\nnames = ["a", "b"]\n[train]\nobjective = "warp"\nmax-epochs = 20\nd = 1979-05-27T07:32:00Z\n'


CSV = 'path,label,split\na/1.jpg,cat,train\nb/2.jpg,"d,o""g",test\nc/3.jpg,é,train\n'.encode()
