"""Features with classes, and the pictures of a small album, for the tests of galleries."""

import numpy as np

import manyclass as mc
from tests.features.hostile import picture, saved

CLASSES = [f"class {i}" for i in range(8)]
SMALL = ("--n-words", 4, "--descriptors", "sift", "--n-samples", 1500, "--n-components", 8, "--scales", 2)


def labeled(n=96, d=12, seed=0):
    """Rows about the means of eight classes, whose first columns vary without meaning."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(CLASSES)
    noise = rng.normal(size=(n, d)) * np.where(np.arange(d) < 4, 6, 1)
    means = np.random.default_rng(99).normal(size=(len(CLASSES), d)) * np.where(np.arange(d) < 4, 0, 2)
    return (means[y] + noise).astype(np.float32), y


def world(n=200, d=12, seed=1):
    """Rows that vary in the same way and have no class."""
    scale = np.where(np.arange(d) < 4, 6, 2.2)
    return (np.random.default_rng(seed).normal(size=(n, d)) * scale).astype(np.float32)


def write_store(path, n=96, seed=0, prefix="", **more):
    """A store of labeled rows, named by class and number."""
    X, y = labeled(n, seed=seed)
    names = [f"{CLASSES[label]}/{prefix}{i:03}.png" for i, label in enumerate(y)]
    return mc.write_store(path, X, y=y, classes=CLASSES, names=names, **more)


def write_album(folder):
    """Four classes of four photographs."""
    for i in range(16):
        path = folder / f"class {i % 4}" / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(i).integers(0, 40, (60, 70, 3), np.uint8)
        path.write_bytes(saved(picture(60, 70, seed=i % 4) // 2 + noise, "PNG"))
    return folder
