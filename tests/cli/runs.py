"""Small data with labels, for commands that train and judge."""

import numpy as np

import manyclass as mc
from manyclass.runs.folder import RunFolder

CLASSES = ["owl", "cat", "dog", "bee", "ant", "fox"]
QUICK = ("--max-epochs", 6, "--step", 0.05, "--beta", 3)
OBJECTIVES = {
    "ovr": QUICK,
    "multiclass": ("--objective", "multiclass", "--max-epochs", 5, "--step", 0.05),
    "ranking": ("--objective", "ranking", "--max-epochs", 5, "--step", 0.05),
    "warp": ("--objective", "warp", "--max-epochs", 5, "--step", 0.05),
    "softmax": ("--objective", "softmax", "--max-epochs", 5, "--step", 0.5),
    "trace": ("--objective", "trace", "--trace", 0.01, "--tolerance", 0.01),
    "path": ("--objective", "trace", "--tune", "path", "--traces", 3, "--ridges", "0.01,0.001", "--tolerance", 0.01),
}


def rows(seed=0, k=6, d=8, n=30):
    """n rows of each of k classes, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    centers = np.random.default_rng(99).normal(size=(k, d))
    return (centers[y] + 0.5 * rng.normal(size=(k * n, d))).astype(np.float32), y


def store(path, seed=0, classes=CLASSES, **more):
    """A store of named classes, two thirds of them to train on."""
    X, y = rows(seed)
    split = np.where(np.arange(len(y)) % 3 == 2, "test", "train")
    names = [f"{classes[label]}/{i}.jpg" for i, label in enumerate(y)]
    mc.write_store(path, X, **{"y": y, "classes": classes, "split": split, "names": names, **more})
    return path


BEGUN = {
    "command": "train",
    "arguments": [],
    "settings": {"beta": 3.0},
    "versions": {},
    "machine": {},
    "seed": 0,
    "data": [{"role": "train", "fingerprint": "a1"}],
    "started": "now",
}


def begin_run(path, record=BEGUN, resume=False, overwrite=False):
    """A folder with a run that is under way, and that run."""
    path.mkdir(exist_ok=True)
    folder = RunFolder(path)
    return folder, folder.begin(record, resume, overwrite)


def bits(run):
    """What a model predicts by."""
    model = mc.load(run)
    return model.coef_.tobytes() + model.intercept_.tobytes()
