"""Every reader: a file that it reads, how that is changed, and how it is read.

    python -m tests.battery.fuzz_readers NAME,NAME,... FOLDER FIRST COUNT

reads so many changed files with each and prints what came of them as JSON. A reader may succeed, or refuse by a
sentence that names what it was given; it may take 10 seconds and a gigabyte.
"""

import contextlib
import faulthandler
import json
import os
import pickle
import resource
import shutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

import manyclass as mc
from manyclass._core.sealed import seal
from tests.battery import fuzz

SECONDS, ADDRESSES, MEMORY = 10, 2 << 30, 1 << 30

X = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)

Y = np.array([f"c{i % 3}" for i in range(12)])


@dataclass(frozen=True)
class Reader:
    """`make` writes honest files into a folder and names the one to change; `read` reads that."""

    make: Callable[[Path], Path]
    change: Callable[[bytes, Random], bytes]
    read: Callable[[Path], object]
    after: Callable[[Path], None] = lambda path: None  # puts right what other files say of the changed one


def _written(name, data):
    def make(folder):
        (folder / name).write_bytes(data)
        return folder / name

    return make


def _store(folder):
    mc.write_store(folder / "s.store", X, y=np.arange(12) % 3, classes=list("abc"), names=[f"{i}" for i in range(12)])
    return folder / "s.store" / "manifest.json"


def _codes(folder):
    mc.write_store(folder / "s.store", X, quantizer=mc.ProductQuantizer(block=2, n_centroids=4, random_state=0).fit(X))
    return folder / "s.store" / "manifest.json"


def _read_store(path):
    store = mc.open_store(path.parent)
    return store.X.toarray(), store.summary(), list(store.names or []), mc.verify_store(path.parent)


def _journal(folder):
    writer = mc.StoreWriter(folder / "s.store", 4, identity={"a": 1}, block_bytes=32)
    writer.append(X)
    os.system(f"cp -r {folder}/s.store {folder}/copy.store")
    writer.close()
    return folder / "copy.store" / "journal"


def _read_journal(path):
    with mc.StoreWriter(path.parent, 4, identity={"a": 1}, block_bytes=32) as writer:
        return writer.rows_done


def _npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def _npz(folder):
    np.savez_compressed(folder / "x.npz", X=X, y=Y)
    return folder / "x.npz"


def _sparse(folder):
    from scipy import sparse

    sparse.save_npz(folder / "x.npz", sparse.csr_array(X * (X > 0)))
    return folder / "x.npz"


def _parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"embedding": list(X), "label": Y}), folder / "x.parquet")
    return folder / "x.parquet"


def _read_rows(path):
    from manyclass.datasets import read_features

    found = read_features(path)
    return found.X.toarray(), found.y


def _classifier(folder):
    mc.StochasticClassifier(max_epochs=1, random_state=0).fit(X, Y).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def _encoder(folder):
    mc.WhitenedPCA(n_components=2).fit(X).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def _fisher(folder):
    pictures = np.random.default_rng(0).integers(0, 256, (4, 40, 40, 3), np.uint8)
    mc.FisherVectors(2, n_components=4, random_state=0).fit(pictures).save(folder / "m.safetensors")
    return folder / "m.safetensors"


def _gallery(folder):
    gallery = mc.Gallery(mc.WhitenedPCA(n_components=2).fit(X))
    gallery.add(X[:8], ids=[f"i{i}" for i in range(8)], metadata={"class": Y[:8].tolist()})
    gallery.save(folder / "g")
    gallery.remove(["i3"])
    gallery.save(folder / "g")
    return folder / "g" / "manifest.json"


def _section(folder):
    return sorted(_gallery(folder).parent.glob("labels-*"))[0]


def _reseal_gallery(path):
    from manyclass._core.digest import file_digest

    manifest = path.parent / "manifest.json"
    content = json.loads(manifest.read_bytes())["content"]
    for segment in content["segments"]:
        if segment["labels"]["name"] == path.name:
            segment["labels"]["sha256"] = file_digest(path)
    manifest.write_bytes(seal(content))


def _read_gallery(path):
    from manyclass.retrieval.storage.verify_gallery import verify_gallery

    gallery = mc.Gallery.open(path.parent)
    # What has lost its encoder takes rows of another width.
    return gallery.encoder and gallery.search(X[:1], k=2), gallery.ids, verify_gallery(path.parent)


RECORDS = {
    "run": {
        "command": "train", "arguments": ["a"], "settings": {"x": 1},
        "versions": {}, "machine": {}, "data": [{"rows": 3, "path": "x"}], "status": "done", "history": [{"epoch": 1}],
        "files": {"model": {"name": "model-0.safetensors", "size": 1, "sha256": "0" * 64}},
        "embedding": {"classes": ["a"], "x": [0.1], "y": [0.2]}, "tuning": [{"name": "a", "value": 1, "accuracy": 0.5}],
    },
    "evaluation": {
        "model": "0" * 64, "data": {"rows": 2}, "rows": 2, "top_1": 0.5,
        "per_class": [{"class": "a", "rows": 1, "right": 1}],
        "confusions": [{"class": "a", "predicted": "b", "count": 1, "examples": ["x"]}],
    },
    "retrieval": {
        "data": [], "protocol": "holidays",
        "methods": [{"name": "lda", "map": 0.5}],
        "queries": [{"name": "q", "results": [{"name": "r", "right": True, "score": 0.5}]}],
    },
}  # fmt: skip


def _record(kind):
    def make(folder):
        from manyclass.runs.records import write_record

        write_record(folder / "r.json", kind, RECORDS[kind])
        return folder / "r.json"

    return make


def _sealed_record(data, random):
    """A record with changed bytes, or with changed entries under a seal that fits."""
    from manyclass.runs.records import _seal

    value = json.loads(data)
    value.pop("sha256")
    changed = fuzz.change_json(value, random)
    if random.random() < 0.3 or not isinstance(changed, dict):
        return fuzz.plain_json(data, random)
    try:
        return _seal(changed)
    except ValueError:  # NaN, which no record holds
        return fuzz.plain_json(data, random)


def _reader_of(kind):
    def read(path):
        from manyclass.runs.records import kind_of, read_record

        return kind_of(path), read_record(path, kind)

    return read


def _toml(data, random):
    if random.random() < 0.1:
        depth = random.choice([10, 99, 300, 20_000])
        return random.choice(
            [b"x=" + b"[" * depth + b"]" * depth, b".".join([b"a"] * depth) + b"=1", b"x=" + b"{a=" * depth]
        )
    return fuzz.change_bytes(data, random)


def _read_toml(path):
    import io

    from manyclass.cli import _app

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            content = _app._read(path)
            return _app.chosen_table(content, path, "train", {"train"})
    except SystemExit:
        raise ValueError(said.getvalue().strip()) from None


def _read_labels(path):
    from manyclass.datasets.label_files import read_labels

    return read_labels(path)


def _picture(kind, **options):
    def make(folder):
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 256, (12, 17, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"x.{kind}", kind, **options)
        return folder / f"x.{kind}"

    return make


def _onnx(folder):
    from tests.features import networks

    return networks.tiny(folder / "x.onnx", beside={"size": [16, 16]})


def _outside(folder):
    import onnx

    onnx.save_model(
        onnx.load(_onnx(folder)), folder / "y.onnx", save_as_external_data=True, location="w", size_threshold=0
    )
    return folder / "y.onnx"


def _read_onnx(path):
    return mc.OnnxFeatures(path, size=16).transform([np.zeros((16, 16, 3), np.uint8)])


TRUTH = {"imlist": list("abcd"), "qimlist": ["a", "d"], "gnd": [{"ok": [0, 2], "junk": [1], "bbx": [1, 2, 3.5, 4]}] * 2}


def _mat(compressed):
    def make(folder):
        from scipy.io import savemat

        from tests.evaluation.test_ground_truth_files import CLASSIC, cells, structs

        content = {"imlist": cells(list("abcd")), "gnd": structs(CLASSIC), "qidx": np.array([[1], [4]], np.uint16)}
        savemat(folder / "g.mat", content, do_compression=compressed)
        return folder / "g.mat"

    return make


def _read_truth(path):
    from manyclass.evaluation import read_truth

    return read_truth(path)


def _oxford(folder):
    from tests.evaluation.test_ground_truth_files import OXFORD, write_oxford

    return write_oxford(folder, OXFORD) / "hall_1_query.txt"


def _read_oxford(path):
    from manyclass.evaluation import read_truth

    return read_truth(path.parent, names=list("abcd"))


class _StopError(Exception):
    pass


def _stop(epochs):
    def callback(*args):
        epochs.append(1)
        if len(epochs) > 1:
            raise _StopError

    return callback


def _fit(path, callbacks=()):
    model = mc.StochasticClassifier(
        max_epochs=3, step=0.1, beta=2, random_state=0, checkpoint=path, callbacks=callbacks
    )
    return model.fit(X, Y)


def _checkpoint(folder):
    from manyclass.solvers.sgd import checkpoint

    checkpoint._SECONDS = 0.0
    with contextlib.suppress(_StopError):
        _fit(folder / "c", [_stop([])])
    return folder / "c"


def _read_fit(path):
    data = path.read_bytes()
    try:
        return _fit(path)
    finally:
        path.write_bytes(data)


def _path_point(folder):
    from manyclass.solvers.batch import path as paths
    from manyclass.solvers.batch.points import LowRankWeights
    from manyclass.solvers.batch.solution import Solution, Status

    found = Solution(
        LowRankWeights(X[:4], X[:3], np.zeros(3)), 0.5, 0.1, 0.2, Status.OPTIMAL, 1.0, 3.0, 2, [{"a": 1.5}]
    )
    paths.PathCheckpoint(folder / "p", {"data": "x"}).save(0, found)
    return folder / "p" / "point-00000"


def _read_point(path):
    from manyclass.solvers.batch.path import PathCheckpoint

    found = PathCheckpoint(path.parent, {"data": "x"}).load(0)
    return found.W, found.message


def _skipped(folder):
    from manyclass.features.extraction.skip_log import SKIP_LOG_FORMAT

    lines = [{"format": SKIP_LOG_FORMAT, "run": "x"}, {"position": 1, "name": "a", "reason": "is empty"}]
    (folder / "s.skipped.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "s.skipped.jsonl"


def _read_skipped(path):
    from manyclass.features.extraction.skip_log import read_skipped

    return read_skipped(path.parent / "s")


_TOML = b'seed = 1\nnames = ["a", "b"]\n[train]\nobjective = "warp"\nmax-epochs = 20\nd = 1979-05-27T07:32:00Z\n'

_CSV = 'path,label,split\na/1.jpg,cat,train\nb/2.jpg,"d,o""g",test\nc/3.jpg,é,train\n'.encode()

READERS = {
    "store": Reader(_store, fuzz.sealed_json, _read_store),
    "codes": Reader(_codes, fuzz.sealed_json, _read_store),
    "journal": Reader(_journal, fuzz.journal, _read_journal),
    "npy": Reader(_npy, fuzz.change_bytes, _read_rows),
    "npz": Reader(_npz, fuzz.archive, _read_rows),
    "sparse": Reader(_sparse, fuzz.archive, _read_rows),
    "parquet": Reader(_parquet, fuzz.change_bytes, _read_rows),
    "classifier": Reader(_classifier, fuzz.safetensors, mc.load),
    "encoder": Reader(_encoder, fuzz.safetensors, mc.load),
    "fisher": Reader(_fisher, fuzz.safetensors, mc.load),
    "gallery": Reader(_gallery, fuzz.sealed_json, _read_gallery),
    "section": Reader(_section, fuzz.safetensors, _read_gallery, _reseal_gallery),
    "run": Reader(_record("run"), _sealed_record, _reader_of("run")),
    "evaluation": Reader(_record("evaluation"), _sealed_record, _reader_of("evaluation")),
    "retrieval": Reader(_record("retrieval"), _sealed_record, _reader_of("retrieval")),
    "toml": Reader(_written("c.toml", _TOML), _toml, _read_toml),
    "csv": Reader(_written("labels.csv", _CSV), fuzz.change_bytes, _read_labels),
    "txt": Reader(_written("labels.txt", "7\n8\ncat\né\n".encode()), fuzz.change_bytes, _read_labels),
    "png": Reader(_picture("png"), fuzz.png, mc.read_image),
    "jpeg": Reader(_picture("jpeg"), fuzz.change_bytes, mc.read_image),
    "tiff": Reader(_picture("tiff", compression="tiff_lzw"), fuzz.change_bytes, mc.read_image),
    "gif": Reader(_picture("gif"), fuzz.change_bytes, mc.read_image),
    "bmp": Reader(_picture("bmp"), fuzz.change_bytes, mc.read_image),
    "webp": Reader(_picture("webp"), fuzz.change_bytes, mc.read_image),
    "onnx": Reader(_onnx, fuzz.network, _read_onnx),
    "onnx_weights": Reader(_outside, fuzz.network, _read_onnx),
    "mat": Reader(_mat(False), fuzz.change_bytes, _read_truth),
    "mat_packed": Reader(_mat(True), fuzz.change_bytes, _read_truth),
    "pickle": Reader(_written("g.pkl", pickle.dumps(TRUTH, 2)), fuzz.change_bytes, _read_truth),
    "arrays_pickle": Reader(
        _written("g.pkl", pickle.dumps({**TRUTH, "gnd": [{"ok": np.arange(3), "junk": np.zeros(0, int)}] * 2}, 4)),
        fuzz.change_bytes,
        _read_truth,
    ),
    "holidays": Reader(
        _written("h.dat", b"100000.jpg\n100001.jpg\n100100.jpg\n100101.jpg\n"), fuzz.change_bytes, _read_truth
    ),
    "oxford": Reader(_oxford, fuzz.change_bytes, _read_oxford),
    "checkpoint": Reader(_checkpoint, fuzz.safetensors, _read_fit),
    "path_point": Reader(_path_point, fuzz.safetensors, _read_point),
    "skipped": Reader(_skipped, fuzz.change_bytes, _read_skipped),
}


def outcome_of(reader, path, folder):
    """ "read", "refused", or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(path)
    except (ValueError, OSError) as error:
        words = str(error)
        named = isinstance(error, mc.ImageError) or str(folder) in words
        # A UnicodeError or such is a ValueError too, and no sentence of ours.
        good = named and len(words) > 5 and "\n" not in words
        return "refused" if good else f"{type(error).__name__}: {words[:300]}"
    except Exception as error:
        where = error.__traceback__
        while where.tb_next:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
        return f"{type(error).__name__} at {place}: {str(error)[:300]}"
    return "read"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(name, folder, first, count):
    """Read changed files and tell {"read": n, "refused": n, "wrong": [[number, what], ...]}."""
    reader = READERS[name]
    template, work = folder / "template", folder / f"work_{os.getpid()}"
    template.mkdir(parents=True, exist_ok=True)
    honest = reader.make(template)
    place, data = honest.relative_to(template), honest.read_bytes()
    shutil.copytree(template, work)
    reader.read(work / place)  # what is honest is read; and what is imported now is not counted
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES + _addresses(), resource.RLIM_INFINITY))
    told = {"read": 0, "refused": 0, "wrong": []}
    for number in range(first, first + count):
        shutil.rmtree(work)
        shutil.copytree(template, work)
        (work / place).write_bytes(reader.change(data, Random(f"{name} {number}")))
        reader.after(work / place)
        before = peak()
        print(name, number, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        outcome = outcome_of(reader, work / place, work)
        faulthandler.cancel_dump_traceback_later()
        if peak() - before > MEMORY:
            outcome = f"took {(peak() - before) >> 20} MB"
        if outcome in told:
            told[outcome] += 1
        else:
            told["wrong"].append([number, outcome])
    shutil.rmtree(work)
    return told


def _addresses():
    """Bytes of addresses that this process has: libraries map much more than they use."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    return pages * resource.getpagesize()


if __name__ == "__main__":
    faulthandler.enable()
    names, home, start, many = sys.argv[1:]
    print(json.dumps({name: run(name, Path(home, name), int(start), int(many)) for name in names.split(",")}))
