"""The targets: every reader with the file of the corpus that it reads, and the mutator that changes it.

A new reader joins by one entry of `READERS`.
"""

import contextlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

import manyclass as mc
from tests.battery import corpus, mutators


@dataclass(frozen=True)
class Reader:
    """`make` writes honest files into a folder and names the one to change; `read` reads that."""

    make: Callable[[Path], Path]
    change: Callable[[bytes, Random], bytes]
    read: Callable[[Path], object]
    after: Callable[[Path], None] = lambda path: None  # puts right what other files say of the changed one


def _read_store(path):
    store = mc.open_store(path.parent)
    return store.X.toarray(), store.summary(), list(store.names or []), mc.verify_store(path.parent)


def _read_journal(path):
    with mc.StoreWriter(path.parent, 4, identity={"a": 1}, block_bytes=32) as writer:
        return writer.rows_done


def _read_rows(path):
    from manyclass.datasets import read_features

    found = read_features(path)
    return found.X.toarray(), found.y


def _read_gallery(path):
    from manyclass.retrieval.storage.verify_gallery import verify_gallery

    gallery = mc.Gallery.open(path.parent)
    # What has lost its encoder takes rows of another width.
    return gallery.encoder and gallery.search(corpus.X[:1], k=2), gallery.ids, verify_gallery(path.parent)


@contextlib.contextmanager
def _using(path):
    """What is read may still be refused where it is used, by a sentence about the rows, which names no file."""
    try:
        yield
    except (ValueError, FloatingPointError) as error:
        raise ValueError(f"{path}: {error}") from error


def _read_classifier(path):
    from manyclass.runs.load_model import describe_model

    model, rows = mc.load(path), corpus.X[:2]
    with _using(path):
        return model.predict(rows), model.predict_top(rows, 2), model.decision_function(rows), describe_model(path)


def _read_encoder(path):
    from manyclass.runs.load_model import describe_model

    model = mc.load(path)
    with _using(path):
        return model.transform(corpus.X[:2]), describe_model(path)


def _read_fisher(path):
    model = mc.load(path)
    with _using(path):
        return model.transform(np.random.default_rng(0).integers(0, 256, (2, 40, 40, 3), np.uint8))


def _reader_of(kind):
    def read(path):
        from manyclass.report.page import make_sections, render
        from manyclass.report.report_data import ProbeReport, ReportData, RunReport, SearchReport
        from manyclass.runs.records import kind_of, read_record
        from manyclass.runs.run_record import run_rows, run_summary

        record, home = read_record(path, kind), path.parent
        if kind == "run":
            run_rows(run_summary(record))
        if kind == "retrieval":
            report = ReportData([], [SearchReport("s", home, record)])
        elif kind == "probe":
            report = ReportData(probes=[ProbeReport("p", record)])
        else:
            run, evaluation = {
                "run": corpus.whole("run"),
                "evaluation": corpus.whole("evaluation"),
                kind: record,
            }.values()
            report = ReportData([RunReport("r", home, run, {"e": evaluation})])
        return kind_of(path), render(report, make_sections(report), "page")

    return read


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


def _read_onnx(path):
    return mc.OnnxFeatures(path, size=16).transform([np.zeros((16, 16, 3), np.uint8)])


def _read_truth(path):
    from manyclass.evaluation import read_truth

    return read_truth(path)


def _read_oxford(path):
    from manyclass.evaluation import read_truth

    return read_truth(path.parent, names=list("abcd"))


def _read_fit(path):
    data = path.read_bytes()
    try:
        return corpus.fit(path)
    finally:
        path.write_bytes(data)


def _read_point(path):
    from manyclass.solvers.batch.path import PathCheckpoint

    found = PathCheckpoint(path.parent, {"data": "x"}).load(0)
    return found.W, found.message


def _read_skipped(path):
    from manyclass.features.extraction.skip_log import read_skipped

    return read_skipped(path.parent / "s")


READERS = {
    "store": Reader(corpus.store, mutators.sealed_json, _read_store),
    "codes": Reader(corpus.codes, mutators.sealed_json, _read_store),
    "journal": Reader(corpus.journal, mutators.journal, _read_journal),
    "npy": Reader(corpus.npy, mutators.change_bytes, _read_rows),
    "npz": Reader(corpus.npz, mutators.archive, _read_rows),
    "sparse": Reader(corpus.sparse, mutators.archive, _read_rows),
    "parquet": Reader(corpus.parquet, mutators.change_bytes, _read_rows),
    "classifier": Reader(corpus.classifier, mutators.safetensors, _read_classifier),
    "encoder": Reader(corpus.encoder, mutators.safetensors, _read_encoder),
    "fisher": Reader(corpus.fisher, mutators.safetensors, _read_fisher),
    "gallery": Reader(corpus.gallery, mutators.sealed_json, _read_gallery),
    "section": Reader(corpus.section, mutators.safetensors, _read_gallery, corpus.reseal_gallery),
    "run": Reader(corpus.record("run"), mutators.sealed_record, _reader_of("run")),
    "evaluation": Reader(corpus.record("evaluation"), mutators.sealed_record, _reader_of("evaluation")),
    "retrieval": Reader(corpus.record("retrieval"), mutators.sealed_record, _reader_of("retrieval")),
    "probe": Reader(corpus.record("probe"), mutators.sealed_record, _reader_of("probe")),
    "toml": Reader(corpus.written("c.toml", corpus.TOML), mutators.toml, _read_toml),
    "csv": Reader(corpus.written("labels.csv", corpus.CSV), mutators.change_bytes, _read_labels),
    "txt": Reader(corpus.written("labels.txt", "7\n8\ncat\né\n".encode()), mutators.change_bytes, _read_labels),
    "png": Reader(corpus.picture("png"), mutators.png, mc.read_image),
    "jpeg": Reader(corpus.picture("jpeg"), mutators.change_bytes, mc.read_image),
    "tiff": Reader(corpus.picture("tiff", compression="tiff_lzw"), mutators.change_bytes, mc.read_image),
    "gif": Reader(corpus.picture("gif"), mutators.change_bytes, mc.read_image),
    "bmp": Reader(corpus.picture("bmp"), mutators.change_bytes, mc.read_image),
    "webp": Reader(corpus.picture("webp"), mutators.change_bytes, mc.read_image),
    "onnx": Reader(corpus.network, mutators.network, _read_onnx),
    "onnx_weights": Reader(corpus.network_beside_weights, mutators.network, _read_onnx),
    "mat": Reader(corpus.mat(False), mutators.change_bytes, _read_truth),
    "mat_packed": Reader(corpus.mat(True), mutators.change_bytes, _read_truth),
    "pickle": Reader(corpus.written("g.pkl", pickle.dumps(corpus.TRUTH, 2)), mutators.change_bytes, _read_truth),
    "arrays_pickle": Reader(
        corpus.written(
            "g.pkl", pickle.dumps({**corpus.TRUTH, "gnd": [{"ok": np.arange(3), "junk": np.zeros(0, int)}] * 2}, 4)
        ),
        mutators.change_bytes,
        _read_truth,
    ),
    "holidays": Reader(
        corpus.written("h.dat", b"100000.jpg\n100001.jpg\n100100.jpg\n100101.jpg\n"), mutators.change_bytes, _read_truth
    ),
    "oxford": Reader(corpus.oxford, mutators.change_bytes, _read_oxford),
    "checkpoint": Reader(corpus.checkpoint, mutators.safetensors, _read_fit),
    "path_point": Reader(corpus.path_point, mutators.safetensors, _read_point),
    "skipped": Reader(corpus.skipped, mutators.change_bytes, _read_skipped),
}
