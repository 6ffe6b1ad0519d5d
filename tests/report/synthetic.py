"""Records of runs that never were, with something for every section of the page."""

import hashlib
import math
from pathlib import Path

import numpy as np
from PIL import Image

from manyclass.runs.records import write_record

CONTENT = bytes(3456)  # of the file of a model that never was

MODEL = hashlib.sha256(CONTENT).hexdigest()

CLASSES = [f"class {i}" for i in range(12)]


def run_record(objective="warp", **changes):
    """A finished run with everything that a record may hold."""
    epochs = range(1, 9)
    record = {
        "command": "train",
        "arguments": ["train", "x.store", "-o", objective],
        "settings": {"objective": objective, "beta": 4.0, "max_epochs": 8},
        "versions": {"manyclass": "0.1.0", "numpy": "2.0"},
        "machine": {"processor": "abacus", "cores": 2, "memory_bytes": 8 << 30},
        "seed": 0,
        "threads": 2,
        "data": [{"role": "train", "path": "x.store", "rows": 600, "columns": 64, "classes": 12, "bytes": 153600}],
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": 1.5 + len(objective),
        "peak_bytes": 10**8,
        "status": "done",
        "files": {"model": {"name": "model-0.safetensors", "size": 3456, "sha256": MODEL}},
        "model": {
            "estimator": "StochasticClassifier",
            "objective": objective,
            "classes": 12,
            "columns": 64,
            "bytes": 3456,
        },
        "history": [
            {"epoch": e, "loss": 2.0 / e, "accuracy": 0.9 - 0.5 / e, "seconds": 0.1, "phase": "train"} for e in epochs
        ],
        "tuning": [{"name": "beta", "value": 4**i, "accuracy": 0.5 + 0.1 * i} for i in range(4)],
        "spectrum": [8.0, 4.0, 2.0, 1.0, 1.0],
        "rank": 5,
        "grid": [
            {
                "trace": 10.0**-t,
                "ridge": 10.0**-r,
                "accuracy": 0.5 + t / 10 + r / 100,
                "rank": 3 * t,
                "objective": 3.0 / t,
            }
            for t in (1, 2, 3)
            for r in (4, 5)
        ],
        "embedding": {
            "classes": CLASSES,
            "x": [math.cos(i) for i in range(len(CLASSES))],
            "y": [math.sin(i) for i in range(len(CLASSES))],
        },
    }
    return record | changes


MULTILABEL = {
    "labels_per_row": 2.0, "predicted_per_row": 1.9, "micro_f1": 0.81, "macro_f1": 0.61, "samples_f1": 0.71,
    "all_right": 0.5, "mean_average_precision": 0.66,
    "precision_at": [{"k": 1, "precision": 0.9}, {"k": 3, "precision": 0.6}],
    "propensity_scored": [{"k": 1, "precision": 0.77}],
}  # fmt: skip


def evaluation_record(top_1=0.75, **changes):
    """An evaluation on 240 rows, 20 of each class."""
    right = [20 - i for i in range(len(CLASSES))]
    record = {
        "model": MODEL,
        "data": {"path": "x.store", "part": "test", "rows": 240},
        "rows": 240,
        "top_1": top_1,
        "top_5": min(1.0, top_1 + 0.1),
        "mean_per_class": top_1,
        "per_class": [
            {"class": name, "rows": 20, "right": r, "accuracy": r / 20} for name, r in zip(CLASSES, right, strict=True)
        ],
        "by_size": [
            {"name": "many", "smallest": 30, "largest": 90, "classes": 4, "rows": 80, "right": 74, "accuracy": 0.925},
            {"name": "few", "smallest": 2, "largest": 9, "classes": 8, "rows": 160, "right": 100, "accuracy": 0.625},
        ],
        "confusions": [
            {"class": "class 11", "predicted": "class 10", "count": 7, "examples": ["a.png", "missing.png"]},
            {"class": "class 10", "predicted": "class 11", "count": 3, "examples": ["b.png"]},
        ],
        "examples": [
            {"class": "class 0", "right": ["a.png", "b.png"], "wrong": []},
            {"class": "class 11", "right": [], "wrong": [{"name": "missing.png", "predicted": "class 10"}]},
        ],
        "calibration": {
            "rows": 240,
            "accuracy": top_1,
            "probability": 0.9,
            "error": {"value": 0.15, "low": 0.1, "high": 0.2, "chance": 0.04},
            "bins": [
                {"rows": 120, "probability": 0.8, "accuracy": 0.6, "low": 0.51, "high": 0.68},
                {"rows": 120, "probability": 1.0, "accuracy": 0.9, "low": 0.83, "high": 0.94},
            ],
        },
        "sets": [
            {"promised": 0.9, "coverage": 0.91, "low": 0.87, "high": 0.94, "size": 2.25, "single": 0.4},
            {"promised": 0.95, "coverage": 0.96, "low": 0.93, "high": 0.98, "size": 3.5, "single": 0.3},
        ],
        "pictures": {"folder": "../../pictures"},
    }
    return record | changes


def retrieval_record(**changes):
    """Two ways to search, and one query."""
    record = {
        "data": [{"role": "gallery", "path": "y.store", "rows": 99}],
        "protocol": "every image asks for its kind",
        "methods": [
            {"name": "cosine", "map": 0.5, "low": 0.45, "high": 0.55, "columns": 64, "seconds": 0.1},
            {"name": "SLEM", "map": 0.62, "low": 0.57, "high": 0.67, "columns": 64, "seconds": 0.4},
        ],
        "queries": [
            {
                "name": "a.png",
                "class": "class 0",
                "results": [
                    {"name": "b.png", "class": "class 0", "score": 0.9, "right": True},
                    {"name": "missing.png", "class": "class 1", "score": 0.4, "right": False},
                ],
            }
        ],
        "pictures": {"folder": "../pictures"},
    }
    return record | changes


def audit_record(**changes):
    """An audit that found one of everything."""
    record = {
        "data": {"path": "x.store", "part": "all", "rows": 600},
        "settings": {"threshold": 0.95},
        "versions": {},
        "machine": {},
        "noise": 0.02,
        "expected_errors": 12.4,
        "counts": {"label_errors": 7, "duplicates": 2, "leaks": 1, "outliers": 1},
        "label_errors": [
            {"row": 5, "name": "a.png", "given": "class 0", "proposed": "class 1", "probability": 0.97, "score": -4.2}
        ],
        "duplicates": [
            {"row": 1, "name": "b.png", "class": "class 1", "part": "train", "other": 2, "other_name": "missing.png",
             "other_class": "class 1", "other_part": "train", "similarity": 0.99, "group": 1},
            {"row": 5, "name": "a.png", "class": "class 0", "part": "train", "other": 9, "other_name": "b.png",
             "other_class": "class 2", "other_part": "test", "similarity": 0.96, "group": 2},
        ],
        "outliers": [{"row": 7, "name": "b.png", "class": "class 3", "distance": 0.9, "percentile": 99.8}],
        "class_pairs": [
            {"first": "class 4", "second": "class 5", "confused": 20, "rows": 42, "low": 0.33, "high": 0.62,
             "p_value": 1e-9, "same": True}
        ],
        "class_splits": [
            {"class": "class 6", "smaller": 12, "rows": 50, "explained": 0.9, "p_value": 1e-4, "examples": ["a.png"]}
        ],
        "notes": ["something was left out"],
        "pictures": {"folder": "../pictures"},
    }  # fmt: skip
    return record | changes


def probe_record(**changes):
    """Two methods on two embeddings, with a learning curve."""

    def share(value):
        return {"value": value, "low": value - 0.05, "high": value + 0.05}

    def method(name, title, value, against):
        shares = {"top_1": share(value), "top_5": share(0.9), "mean_per_class": share(value)}
        costs = {"settings": {"metric": "cosine"}, "bytes": 2560, "fit_seconds": 0.5, "predict_seconds": 0.1}
        return {"name": name, "title": title, **shares, **costs, "against": against}

    behind = {"name": "closed", "difference": -0.1, "low": -0.15, "high": -0.05, "p": 0.001}
    methods = [method("means", "class means", 0.7, behind), method("closed", "closed form", 0.8, None)]
    shots = [{"shots": n, "name": "means", "title": "class means", "top_1": share(0.4 + 0.02 * n)} for n in (1, 5)]
    apart = {"difference": 0.1, "low": 0.04, "high": 0.16, "p": 0.001}
    verdict = "clip is better than dino by 10.0 points [4.0, 16.0]"
    record = {
        "arguments": ["probe", "clip.npz", "dino.npz"],
        "versions": {"manyclass": "0.1.0"},
        "machine": {"cores": 2},
        "data": [{"role": "train", "path": "clip.npz", "rows": 80, "columns": 64}],
        "protocol": "20 % of every class are held out",
        "rows": 80,
        "test_rows": 20,
        "classes": 12,
        "sampled": False,
        "embeddings": [
            {"name": name, "columns": 64, "methods": methods, "shots": shots if name == "clip" else []}
            for name in ("clip", "dino")
        ],
        "comparison": [{"method": "best of each", "first": "clip", "second": "dino", **apart, "verdict": verdict}],
        "verdict": verdict,
        "seconds": 3.0,
    }
    return record | changes


def write_run(folder: Path, record=None, evaluation=None):
    """A run folder; without an evaluation if that is False."""
    (folder / "evaluations").mkdir(parents=True)
    (folder / "model-0.safetensors").write_bytes(CONTENT)
    write_record(folder / "run.json", "run", record or run_record(folder.name))
    if evaluation is not False:
        write_record(folder / "evaluations" / "x-test.json", "evaluation", evaluation or evaluation_record())
    return folder


def write_pictures(folder: Path):
    """a.png, a square of noise, and b.png, which is all blue."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "a.png")
    Image.new("RGB", (300, 200), (0, 0, 255)).save(folder / "b.png")


def write_everything(folder: Path):
    """Two runs, a gallery, a probe, an audit and pictures: a page of it has every section."""
    write_run(folder / "ovr", evaluation=evaluation_record(0.7))
    write_run(folder / "warp", evaluation=evaluation_record(0.75))
    tags = evaluation_record(0.65, multilabel=MULTILABEL)
    write_record(folder / "ovr" / "evaluations" / "tags-test.json", "evaluation", tags)
    (folder / "gallery").mkdir()
    write_record(folder / "gallery" / "retrieval.json", "retrieval", retrieval_record())
    (folder / "audit").mkdir()
    write_record(folder / "audit" / "audit.json", "audit", audit_record())
    write_record(folder / "probe.json", "probe", probe_record())
    write_pictures(folder / "pictures")
    return folder
