"""Caltech-101 from pixels: Fisher vectors, bags of words, VLAD and a network, each with one-vs-rest machines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.networks import efficientnet
from experiments.one_vs_rest import in_span, stochastic, support_vectors
from experiments.photographs import Encoded, Photographs, encoded, photographs
from experiments.results import Results

PYRAMID = ("1x1", "2x2")
SIFT: dict[str, Any] = {
    "descriptors": ("sift",),
    "n_samples": 100_000,
    "step": 4,
    "patch": 32,
    "random_state": 0,
}
WORDS: dict[str, Any] = {"n_components": 80, "whiten": True, "coordinates": True, "pyramid": PYRAMID, **SIFT}
# What the program that comes with VLFeat gives, with 30 photographs of 102 classes.
VLFEAT = {"FV 256": "73.0", "FV 256, pyramid": "77.6", "BOW 4096": "76.0", "VLAD 256": "78.7"}


def fisher(k: int, **more: Any) -> mc.FisherVectors:
    return mc.FisherVectors(k, **(SIFT | more))


def _codes(block: int) -> mc.ProductQuantizer:
    return mc.ProductQuantizer(block, random_state=0)


# A name, an encoder, and a quantizer if rows are written as codes.
ENCODERS: tuple[tuple[str, Any, Any], ...] = (
    ("FV 16", fisher(16, pyramid=PYRAMID), None),
    ("FV 64", fisher(64, pyramid=PYRAMID), None),
    ("FV 256", fisher(256, pyramid=PYRAMID), None),
    ("FV 256", fisher(256, pyramid=PYRAMID), _codes(4)),
    ("VLAD 256", mc.Vlad(256, rotate=False, root=False, **WORDS), None),
    ("BOW 4096", mc.BagOfWords(4096, **(WORDS | {"step": 6})), None),
)
MACHINES: dict[str, Callable[[Encoded], float]] = {"one-vs-rest": stochastic, "SVM, C = 10": support_vectors}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("caltech_pixels", "Caltech-101 from pixels")
    if folder is None or not any(folder.rglob("caltech*.tar")):
        results.say("The photographs of Caltech-101 are not there.")
        return results
    images = photographs(folder, "caltech*.tar")
    results.say(_about(images))
    rows = [_row(name, data) for name, data in _all(folder, images)]
    results.table("Encoders", ["features", "numbers", "kB per picture", *MACHINES, "VLFeat's own"], rows)
    results.say(_ABOUT_CODES)
    return results


def _about(images: Photographs) -> str:
    classes, n_test = int(images.y.max()) + 1, len(images.paths) - images.n_train
    return f"""{images.n_train:,} photographs of {classes} classes to train on, 30 of each, and {n_test:,} to test on,
        15 of each at most, with a long side of 400 pixels at most and read with 100,000 pixels. Mean accuracy over
        classes in percent. Dense SIFT of 5 scales in patches of 32 pixels, 4 pixels apart (6 for bags of words), PCA
        to 64 numbers for Fisher vectors (FV) and 80, whitened and with the position beside them, for bags of words
        (BOW) and VLAD; step, patches, the pyramid (the whole and its four quarters) and the position are VLFeat's for
        this data, which has 7 scales, and no pyramid for BOW and VLAD. One-vs-rest is `StochasticClassifier` as it
        is, which stops by a tenth of the photographs to train on; SVM is one support vector machine per class with
        the strength of VLFeat's recipe. Both see the rows by their coordinates in the span of those to train on,
        which has the same products and fewer numbers."""


_ABOUT_CODES = """Codes have a byte for every 4 or 8 numbers, by a product quantizer that learns from 1,000 photographs.
    Those of FV 256 were written while pictures were encoded, so that the numbers, 655 kB for each, were never on disk.
    Rows without pyramid are the first part of those with it, decoded."""


def _all(folder: Path, images: Photographs) -> Iterator[tuple[str, Encoded]]:
    """Every encoder without its pyramid, which is the first part of it, and with it."""
    for name, encoder, quantizer in ENCODERS:
        data, coded = encoded(images, encoder, quantizer), ", codes of 4" if quantizer else ""
        yield f"{name}{coded}", data.first(data.X.shape[1] // 5)
        yield f"{name}, pyramid{coded}", data
        if name == "FV 64":
            for block in (4, 8):
                yield f"{name}, pyramid, codes of {block}", data.coded(_codes(block))
    for name, network in efficientnet(("mean", "gem", "spoc")).items():
        yield name, encoded(images, network)


def _row(name: str, data: Encoded) -> list[str]:
    sizes = [f"{data.X.shape[1]:,}", f"{data.X.nbytes / len(data.y) / 1000:,.1f}"]
    small = in_span(data)
    row = [name, *sizes, *(f"{100 * machine(small):.1f}" for machine in MACHINES.values())]
    print(row, flush=True)
    return [*row, VLFEAT.get(name, "")]
