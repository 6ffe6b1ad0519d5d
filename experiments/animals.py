"""Caltech's animals, in place of the mammals of Amit et al. (ICML 2007), and the distances between their signatures."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from experiments.photographs import photographs
from experiments.signatures import earth_movers, signatures

ARCHIVE = "caltech101*.tar"
MOST = 40  # pictures of a class: the time goes with the square of all
ANIMALS = (
    "Leopards",
    "ant",
    "bass",
    "beaver",
    "brontosaurus",
    "butterfly",
    "cougar_body",
    "cougar_face",
    "crab",
    "crayfish",
    "crocodile",
    "crocodile_head",
    "dalmatian",
    "dolphin",
    "dragonfly",
    "elephant",
    "emu",
    "flamingo",
    "flamingo_head",
    "gerenuk",
    "hawksbill",
    "hedgehog",
    "ibis",
    "kangaroo",
    "llama",
    "lobster",
    "mayfly",
    "nautilus",
    "octopus",
    "okapi",
    "panda",
    "pigeon",
    "platypus",
    "rhino",
    "rooster",
    "scorpion",
    "sea_horse",
    "starfish",
    "stegosaurus",
    "tick",
    "trilobite",
    "wild_cat",
)


class Animals(NamedTuple):
    """Earth mover's distances D (n, n) of pictures, and their classes y (n,), numbered as ANIMALS."""

    D: NDArray[np.float64]
    y: NDArray[np.intp]


@cache
def animals(folder: Path) -> Animals:
    """Those of the archive, at most 40 of each."""
    paths = sorted(photographs(folder, ARCHIVE).paths)
    chosen = {name: [path for path in paths if Path(path).parent.name == name][:MOST] for name in ANIMALS}
    y = np.repeat(np.arange(len(ANIMALS)), [len(some) for some in chosen.values()])
    import sklearn.cluster  # noqa: F401  limits hold for what is loaded

    # One thread: with more, k-means rounds otherwise, and distances that are kept would not be found again.
    with threadpool_limits(1):
        found = signatures([path for some in chosen.values() for path in some])
    return Animals(earth_movers(found), y)
