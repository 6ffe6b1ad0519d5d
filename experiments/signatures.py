"""Signatures of pictures, clusters of their patches with weights, and the earth mover's distance between them.

As Zhang et al. (CVPR workshop, 2006) have them, whose kernel Amit et al. take for their mammals.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from experiments.photographs import room
from manyclass.features.local import DenseSift

CLUSTERS = 40
PATCHES = 400  # of a picture, drawn from about 800
TEXTURE = 29  # numbers of a patch that are left of SIFT's 128; with the color there are 32

Doubles = NDArray[np.float64]


class Signatures(NamedTuple):
    """Clusters (n, 40, d) of n pictures, and which part of its patches each has (n, 40)."""

    centers: Doubles
    weights: Doubles


def signatures(paths: Sequence[str]) -> Signatures:
    """Of pictures: texture and color of their patches, each with a total variance of 1, in 40 clusters."""
    found = [_patches(path, seed) for seed, path in enumerate(paths)]
    texture, color = (np.concatenate([one[part] for one in found]) for part in (0, 1))
    texture -= texture.mean(axis=0)
    directions = np.linalg.eigh(texture.T @ texture)[1][:, ::-1][:, :TEXTURE]
    patches = np.hstack([_scaled(texture @ directions), _scaled(color)])
    ends = np.cumsum([len(one[0]) for one in found])[:-1]
    clusters = [_clusters(rows) for rows in np.split(patches, ends)]
    return Signatures(*(np.stack(part) for part in zip(*clusters, strict=True)))


def earth_movers(given: Signatures) -> Doubles:
    """Distances (n, n) of all pairs, which are found once and kept."""
    contents = [*(part.tobytes() for part in given), Path(__file__).read_bytes()]
    path = room() / f"earth_movers-{hashlib.sha256(b''.join(contents)).hexdigest()[:16]}.npy"
    if not path.exists():
        np.save(path, _earth_movers(given))
    found: Doubles = np.load(path)
    return found


def distance_kernel(D: Doubles, among: Any = slice(None)) -> Doubles:
    """exp(-D / A) with the mean distance A among some rows, those to train on."""
    K: Doubles = np.exp(-D / D[among][:, among].mean())
    return K


def negative_part(K: Doubles) -> float:
    """Which part of the sum of absolute eigenvalues is that of the negative ones: 0 for a kernel."""
    values = np.linalg.eigvalsh(K)
    return float(-values[values < 0].sum() / np.abs(values).sum())


def _patches(path: str, seed: int) -> tuple[Doubles, Doubles]:
    """(SIFT (m, 128), color (m, 3): the mean over a cell of 16 x 16) of some patches."""
    with Image.open(path) as opened:
        image = opened.convert("RGB")
    drawn = DenseSift(step=12, scales=3).describe(np.asarray(image)).draw(PATCHES, np.random.default_rng(seed))
    cells = np.asarray(image.resize((16, 16), Image.Resampling.BOX), float) / 255
    x, y = np.minimum((16 * drawn.positions).astype(int), 15).T
    return drawn.values.astype(float), cells[y, x]


def _scaled(rows: Doubles) -> Doubles:
    scaled: Doubles = rows / np.sqrt(rows.var(axis=0).sum())
    return scaled


def _clusters(rows: Doubles) -> tuple[Doubles, Doubles]:
    from sklearn.cluster import KMeans

    found = KMeans(CLUSTERS, n_init=1, max_iter=20, random_state=0).fit(rows)
    return found.cluster_centers_, np.bincount(found.labels_, minlength=CLUSTERS) / len(rows)


def _earth_movers(given: Signatures) -> Doubles:
    import ot

    n, c, d = given.centers.shape
    D = np.zeros((n, n))
    squares = (given.centers**2).sum(axis=2)
    for i in range(n - 1):
        products = given.centers[i] @ given.centers[i + 1 :].reshape(-1, d).T
        costs = squares[i][:, None] + squares[i + 1 :].ravel() - 2 * products
        costs = np.sqrt(np.maximum(costs, 0)).reshape(c, -1, c).transpose(1, 0, 2)
        for j, cost in enumerate(costs, i + 1):
            # Weights add up to 1 by construction, and the dual is of no use here: half of the time.
            how = {"center_dual": False, "check_marginals": False}
            D[i, j] = D[j, i] = ot.emd2(given.weights[i], given.weights[j], np.ascontiguousarray(cost), **how)
    return D
