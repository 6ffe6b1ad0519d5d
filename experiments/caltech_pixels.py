"""Caltech-101 from pixels: Fisher vectors, bags of words, VLAD and a network, each with one-vs-rest machines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.networks import efficientnet
from experiments.one_vs_rest import stochastic, support_vectors
from experiments.photographs import Encoded, Photographs, encoded, photographs
from experiments.results import Results

PYRAMID = ("1x1", "2x2")
DENSE: dict[str, Any] = {"step": 4, "patch": 32, "random_state": 0}
SIFT: dict[str, Any] = {"descriptors": ("sift",), "n_samples": 100_000, **DENSE}
WORDS: dict[str, Any] = {"n_components": 80, "whiten": True, "coordinates": True, "pyramid": PYRAMID, **SIFT}
# VLFeat's own results by the program that comes with it, on 102 classes; it has none for fewer Gaussians.
VLFEAT = {"FV 256": "73.0", "FV 256, pyramid": "77.6", "BOW 4096, pyramid": "76.0", "VLAD 256, pyramid": "78.7"}


def _fisher(k: int, **more: Any) -> mc.FisherVectors:
    return mc.FisherVectors(k, **(SIFT | more))


def _codes() -> mc.ProductQuantizer:
    return mc.ProductQuantizer(8, random_state=0)


# Name: an encoder, and a quantizer if rows are written as codes.
ENCODERS: dict[str, tuple[Any, Any]] = {
    "FV 16": (_fisher(16), None),
    "FV 16, pyramid": (_fisher(16, pyramid=PYRAMID), None),
    "FV 64": (_fisher(64), None),
    "FV 64, pyramid": (_fisher(64, pyramid=PYRAMID), None),
    "FV 64, pyramid, codes": (_fisher(64, pyramid=PYRAMID), _codes()),
    "FV 256": (_fisher(256), None),
    "FV 256, pyramid": (_fisher(256, pyramid=PYRAMID), _codes()),
    "BOW 4096, pyramid": (mc.BagOfWords(4096, **WORDS), None),
    "VLAD 256, pyramid": (mc.Vlad(256, rotate=False, root=False, **WORDS), _codes()),
}
EFFECTS: dict[str, dict[str, Any]] = {
    "as above": {},
    "step 3": {"step": 3},
    "step 6": {"step": 6},
    "step 8": {"step": 8},
    "PCA 32": {"n_components": 32},
    "PCA 80": {"n_components": 80},
    "no PCA": {"n_components": None},
    "patches of 24 pixels": {"patch": 24},
    "RootSIFT": {"root": True},
    "SIFT and color": {"descriptors": ("sift", "color")},
    "color alone": {"descriptors": ("color",)},
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("caltech_pixels", "Caltech-101 from pixels")
    if folder is None or not any(folder.rglob("caltech*.tar")):
        results.say("The photographs of Caltech-101 are not there.")
        return results
    images = photographs(folder, "caltech*.tar")
    results.say(_about(images))
    _encoders(results, images, {**ENCODERS, **{name: (net, None) for name, net in efficientnet(folder).items()}})
    _effects(results, images)
    return results


def _about(images: Photographs) -> str:
    classes = int(images.y.max()) + 1
    return f"""{images.n_train:,} photographs of {classes} classes to train on, 30 of each, and
        {len(images.paths) - images.n_train:,} to test on, 15 of each at most, with a long side of 400 pixels, read with
        100,000 pixels. Mean accuracy over classes in percent."""


def _encoders(results: Results, images: Photographs, encoders: dict[str, tuple[Any, Any]]) -> None:
    rows = []
    for name, (encoder, quantizer) in encoders.items():
        data = encoded(images, encoder, quantizer)
        sizes = [f"{data.X.shape[1]:,}", f"{data.X.nbytes / len(data.y) / 1000:,.1f}"]
        rows.append([name, *sizes, *_accuracies(data), VLFEAT.get(name, "")])
        print(rows[-1], flush=True)
    results.table("Encoders", ["features", "numbers", "kB per picture", *MACHINES, "VLFeat's own"], rows)


def _effects(results: Results, images: Photographs) -> None:
    rows = []
    for name, change in EFFECTS.items():
        data = encoded(images, _fisher(64, **change))
        rows.append([name, f"{data.X.shape[1]:,}", *_accuracies(data)])
        print(rows[-1], flush=True)
    results.table("What settings do to FV 64", ["change", "numbers", *MACHINES], rows)


MACHINES: dict[str, Callable[[Encoded], float]] = {"one-vs-rest": stochastic, "SVM, C = 10": support_vectors}


def _accuracies(data: Encoded) -> list[str]:
    return [f"{100 * machine(data):.1f}" for machine in MACHINES.values()]
