"""Makes the files that hold what VLFeat gives, `vlfeat_sift.npz` and `vlfeat_aggregates.npz`, beside this program.

`python tests/features/vlfeat_files.py [FOLDER]` by an interpreter that has NumPy and cyvlfeat (0.7.1, with VLFeat
0.9.21); the tests need the files alone.
"""

import sys
from pathlib import Path

import numpy as np
from cyvlfeat.fisher import fisher
from cyvlfeat.sift import dsift
from cyvlfeat.vlad import vlad

STEP, CELL = 7, 6


def drawn(height: int, width: int, seed: int) -> np.ndarray:
    """A gray picture whose detail falls with its frequency."""
    rng = np.random.default_rng(seed)
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))
    waves = np.fft.rfft2(rng.normal(size=(height, width))) / (0.05 + frequency)
    picture = np.fft.irfft2(waves, (height, width))
    return np.clip(128 + 50 * picture / picture.std(), 0, 255).astype(np.uint8)


def sift() -> dict[str, np.ndarray]:
    """Patches with the flat window, times 512 and rounded, and their centers (y, x), in pixels."""
    gray = drawn(47, 54, seed=0)
    centers, values = dsift(gray.astype(np.float32) / 255, step=STEP, size=CELL, fast=True)
    return {"gray": gray, "values": values.astype(np.uint8), "centers": centers.astype(np.int16)}


def aggregates() -> dict[str, np.ndarray]:
    """Fisher vectors of 60 rows under 7 Gaussians, plain and improved, and VLAD around their means, of any length."""
    rng = np.random.default_rng(0)
    X, means = (rng.normal(size=(n, 11)).astype(np.float32) for n in (60, 7))
    variances = rng.uniform(0.5, 2, (7, 11)).astype(np.float32)
    weights = rng.dirichlet(np.full(7, 5.0)).astype(np.float32)
    nearest = np.square(X[:, None] - means).sum(axis=2).argmin(axis=1)
    return {
        "X": X,
        "means": means,
        "variances": variances,
        "weights": weights,
        "fisher": fisher(X, means, variances, weights),
        "improved": fisher(X, means, variances, weights, improved=True),
        "vlad": vlad(X, means, np.eye(7, dtype=np.float32)[nearest], unnormalized=True),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    np.savez_compressed(folder / "vlfeat_sift.npz", **sift())
    np.savez_compressed(folder / "vlfeat_aggregates.npz", **aggregates())
