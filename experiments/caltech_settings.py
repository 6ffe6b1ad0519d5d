"""What the step, PCA, patches and color do to Fisher vectors of Caltech-101."""

from pathlib import Path
from typing import Any

from experiments.caltech_pixels import PYRAMID, fisher
from experiments.one_vs_rest import in_span, stochastic
from experiments.photographs import Encoded, encoded, photographs
from experiments.results import Results

EFFECTS: dict[str, dict[str, Any]] = {
    "step 6": {"step": 6},
    "step 8": {"step": 8},
    "PCA 32": {"n_components": 32},
    "no PCA": {"n_components": None},
    "patches of 24 pixels": {"patch": 24},
    "RootSIFT": {"root": True},
    "SIFT and color, step 6": {"descriptors": ("sift", "color"), "step": 6},
    "color alone, step 6": {"descriptors": ("color",), "step": 6},
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("caltech_settings", "Settings of Fisher vectors")
    if folder is None or not any(folder.rglob("caltech*.tar")):
        results.say("The photographs of Caltech-101 are not there.")
        return results
    results.say("""Mean accuracy over the classes of Caltech-101 in percent, 30 photographs of each to train on: Fisher
        vectors of 64 Gaussians without pyramid, and `StochasticClassifier` as it is, on centered rows. All else is as
        in [Caltech-101 from pixels](caltech_pixels.md): patches of 32 pixels 4 pixels apart, SIFT, PCA to 64
        numbers.""")
    images = photographs(folder, "caltech*.tar")
    whole = encoded(images, fisher(64, pyramid=PYRAMID))
    rows = [_row("none", whole.first(whole.X.shape[1] // 5))]
    rows += [_row(name, encoded(images, fisher(64, **change))) for name, change in EFFECTS.items()]
    results.table("Accuracy", ["change", "numbers", "one-vs-rest"], rows)
    return results


def _row(name: str, data: Encoded) -> list[str]:
    row = [name, f"{data.X.shape[1]:,}", f"{100 * stochastic(in_span(data)):.1f}"]
    print(row, flush=True)
    return row
