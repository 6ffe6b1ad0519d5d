"""Tiny-ImageNet, 100 classes of pictures of 64 x 64: Fisher vectors with small steps, and a network."""

from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.networks import efficientnet
from experiments.one_vs_rest import stochastic
from experiments.photographs import encoded, photographs
from experiments.results import Results

SMALL: dict[str, Any] = {"patch": 12, "scales": 3, "n_samples": 100_000, "random_state": 0}
ENCODERS: dict[str, Any] = {
    "Fisher 16, step 4": mc.FisherVectors(16, ("sift",), step=4, **SMALL),
    "Fisher 16, step 2": mc.FisherVectors(16, ("sift",), step=2, **SMALL),
    "Fisher 64, step 2": mc.FisherVectors(64, ("sift",), step=2, **SMALL),
    "Fisher 16, step 2, SIFT and color": mc.FisherVectors(16, step=2, **SMALL),
    "Fisher 16, step 2, the whole and its quarters": mc.FisherVectors(
        16, ("sift",), step=2, pyramid=("1x1", "2x2"), **SMALL
    ),
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("tiny_pixels", "Tiny-ImageNet from pixels")
    if folder is None or not any(folder.rglob("tiny_imagenet*.tar.gz")):
        results.say("Tiny-ImageNet is not there.")
        return results
    images = photographs(folder, "tiny_imagenet*.tar.gz")
    results.say(f"""{images.n_train:,} pictures of {int(images.y.max()) + 1} classes to train on and
        {len(images.paths) - images.n_train:,} to test on, 64 pixels wide. Patches of 12 pixels at 3 scales, PCA to 64
        numbers, `StochasticClassifier` as it is, on centered rows. Mean accuracy over classes, in percent; chance is
        1.""")
    rows = []
    for name, encoder in (ENCODERS | efficientnet()).items():
        data = encoded(images, encoder)
        rows.append([name, f"{data.X.shape[1]:,}", f"{100 * stochastic(data):.1f}"])
        print(rows[-1], flush=True)
    results.table("Accuracy", ["features", "numbers", "one-vs-rest"], rows)
    results.say("""The network was trained on photographs of 1,000 classes of ImageNet, from which Tiny-ImageNet is
        drawn, so that its figure is that of features made for these very classes, and no measure of what it does on
        others.""")
    return results
