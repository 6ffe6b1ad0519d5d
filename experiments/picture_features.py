"""Plain features of pictures that need no training: edges, colors, and the picture itself made small."""

import io
import tarfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import manyclass as mc
from experiments.sources import Rows, unit

SIDE = 64  # pixels; every picture is made a square of this side
_AT_ONCE = 256

Pictures = NDArray[np.uint8]


def gradients(pictures: Pictures) -> Rows:
    """Directions of edges in an 8 x 8 and a 4 x 4 grid, 640 numbers."""
    return mc.datasets.glyph_features(_gray(pictures))


def colors(pictures: Pictures, levels: int = 5) -> Rows:
    """Roots of the shares of 5 x 5 x 5 colors in the whole and in each of its quarters, 625 numbers."""
    codes = pictures.astype(np.intp) * levels // 256 @ np.array([levels * levels, levels, 1])
    half = SIDE // 2
    quarters = [codes[:, i : i + half, j : j + half] for i in (0, half) for j in (0, half)]
    return unit(np.hstack([_shares(part, levels**3) for part in (codes, *quarters)]))


def thumbnails(pictures: Pictures, side: int = 16) -> Rows:
    """Gray levels of 16 x 16 cells without their mean, 256 numbers."""
    step = SIDE // side
    cells = _gray(pictures).reshape(len(pictures), side, step, side, step).mean(axis=(2, 4)).reshape(len(pictures), -1)
    return unit(cells - cells.mean(axis=1, keepdims=True))


FEATURES: dict[str, Callable[[Pictures], Rows]] = {
    "gradients": gradients,
    "colors": colors,
    "thumbnails": thumbnails,
}


def described(archive: Path, features: tuple[str, ...]) -> tuple[list[str], dict[str, Rows]]:
    """Names of the pictures of a tar file, in order, and their features by name."""
    names: list[str] = []
    parts: dict[str, list[Rows]] = {feature: [] for feature in features}
    pictures = _pictures(archive)
    while some := list(islice(pictures, _AT_ONCE)):
        names += [name for name, _ in some]
        block = np.stack([picture for _, picture in some])
        for feature in features:
            parts[feature].append(FEATURES[feature](block))
    order = np.argsort(names)
    return [names[i] for i in order], {feature: np.concatenate(rows)[order] for feature, rows in parts.items()}


def _pictures(archive: Path) -> Iterator[tuple[str, Pictures]]:
    for name, picture in opened(archive, 2 * SIDE):
        yield name, np.asarray(picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX))


def opened(archive: Path, least_side: int) -> Iterator[tuple[str, Image.Image]]:
    """Names and pictures of a tar file; JPEG files as small as they can be decoded above a side."""
    with tarfile.open(archive) as tar:
        for member in tar:
            is_picture = member.isfile() and member.name.lower().endswith((".jpg", ".jpeg", ".png"))
            if is_picture and (stream := tar.extractfile(member)):
                picture = Image.open(io.BytesIO(stream.read()))
                picture.draft("RGB", (least_side, least_side))
                yield member.name, picture


def _gray(pictures: Pictures) -> Rows:
    return pictures.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)


def _shares(codes: NDArray[np.intp], n_codes: int) -> Rows:
    """Roots of the shares (n, n_codes) of codes (n, h, w)."""
    n = len(codes)
    moved = codes.reshape(n, -1) + n_codes * np.arange(n)[:, None]
    counts = np.bincount(moved.ravel(), minlength=n * n_codes).reshape(n, n_codes)
    return np.sqrt(counts / moved.shape[1]).astype(np.float32)
