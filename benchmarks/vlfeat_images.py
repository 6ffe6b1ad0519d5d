"""VLFeat's way from gray pictures to Fisher vectors, in a process of its own: it needs NumPy and cyvlfeat alone.

`python -m benchmarks.vlfeat_images FOLDER` reads lines "IMAGE STEP" and answers each with a line of JSON: seconds of
processor time of dense SIFT, and of everything, and the mean cosine of both with what FOLDER has of ours, and of the
Fisher vector of our descriptors. The sizes of an image are given and not counted.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from cyvlfeat.fisher import fisher
from cyvlfeat.sift import dsift

CELL = 6
ROOM = 512  # by which VLFeat multiplies descriptors


def dense_sift(sizes: list[np.ndarray], firsts: np.ndarray, step: int) -> np.ndarray:
    """Patches of every size, with the flat window; the grid starts at the pixel that is given."""
    found = []
    for gray, (top, left) in zip(sizes, firsts, strict=True):
        bounds = [top, left, gray.shape[0] - 1, gray.shape[1] - 1]
        _, values = dsift(gray, step=step, size=CELL, bounds=bounds, fast=True, float_descriptors=True)
        found.append(values)
    return np.concatenate(found)


def answer(folder: Path, image: str, step: int) -> dict[str, float]:
    """One image, timed."""
    with np.load(folder / f"{image}-{step}.npz") as kept:
        sizes = [np.ascontiguousarray(kept[f"size{j}"]) for j in range(len(kept["firsts"]))]
        firsts, ours, our_vector = kept["firsts"], kept["values"], kept["vector"]
    with np.load(folder / f"learned-{step}.npz") as kept:
        mean, components, weights, means, variances = (kept[name] for name in ("mean", "components", "w", "mu", "var"))
    start = time.process_time()
    values = dense_sift(sizes, firsts, step)
    described = time.process_time()
    Z = (values / np.float32(ROOM) - mean) @ components
    vector = fisher(Z, means, variances, weights, improved=True)
    done = time.process_time()
    same = fisher((ours - mean) @ components, means, variances, weights, improved=True)
    return {
        "sift": described - start,
        "all": done - start,
        "sift_cosine": cosine(values, ours),
        "same_cosine": cosine(same.reshape(1, -1), our_vector.reshape(1, -1)),
        "cosine": cosine(vector.reshape(1, -1), our_vector.reshape(1, -1)),
    }


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    """The mean over rows, but for those that are zero."""
    lengths = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    return float((np.einsum("ij,ij->i", A, B)[lengths > 0] / lengths[lengths > 0]).mean())


if __name__ == "__main__":
    for line in sys.stdin:
        name, step = line.split()
        print(json.dumps(answer(Path(sys.argv[1]), name, int(step))), flush=True)
