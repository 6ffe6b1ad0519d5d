"""A gallery that is its own background: are those that it shows called matched, and strangers as seldom as promised?"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.networks import efficientnet
from experiments.photographs import kept, photographs
from experiments.results import Results, mean_error
from experiments.search_sets import ARCHIVES, labels_of, of_characters, rows_of
from experiments.sources import Rows

DRAWS, QUERIES, PROMISED = 10, 1000, 5.0
SETTINGS = {"Caltech": (1, 5, 20), "Omniglot": (1, 3), "DVD covers": (1, 3)}
METHODS = ("slem", "none")


class Draw(NamedTuple):
    """Percent called matched, of present queries whose best hit is right and of strangers, where the background must
    agree and where p-values alone decide."""

    kept_before: float
    kept: float
    strangers_before: float
    strangers: float


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("own_background", "Galleries that are their own background")
    names = [name for name in SETTINGS if folder and any(folder.rglob(ARCHIVES[name]))]
    if not names or folder is None or not efficientnet():
        results.say("The pictures or the network are not there.")
        return results
    results.say(f"""Pooled features of EfficientNet-Lite0. A gallery shows half of the things, each in some images, and
        is its own background: half of its images are the negatives of its machines (slem), or what its cosines are
        judged by (none), as where `manyclass encode` is given no negatives. It is asked by other images of its things,
        and by images of a quarter of the things, which it does not show. *Kept* are, of present queries whose best
        image is right, those called matched, and *strangers* those of the others: where the background
        must agree, as `own_background=False` has it, and by p-values alone, as `own_background=True` and `encode` do.
        Percent, mean and standard error over {DRAWS} draws; `matched` promises that {PROMISED:g} % of strangers
        are.""")
    found = {
        (name, method, m): _known_draws(folder, name, method, m)
        for name in names
        for method in METHODS
        for m in SETTINGS[name]
    }
    columns = ["data", "method", "images of a thing", "kept if it agrees", "kept"]
    columns += ["strangers if it agrees", "strangers"]
    rows = [
        [name, method, str(m), *("{:.1f} ± {:.1f}".format(*mean_error(values)) for values in zip(*some, strict=True))]
        for (name, method, m), some in found.items()
    ]
    results.table("Called matched", columns, rows)
    results.say(_summary(list(found.values()), [" ".join(map(str, key)) for key in found]))
    results.say("The rule was chosen on these same sets, so that on others strangers may fare worse.")
    return results


def _summary(found: list[list[Draw]], names: list[str]) -> str:
    means = np.array([np.mean(some, axis=0) for some in found])
    more = [name for name, mean in zip(names, means, strict=True) if mean[3] > PROMISED]
    where = f"; more than {PROMISED:g} on {', '.join(more)}" if more else ""
    return (
        f"By p-values alone {means[:, 1].mean():.1f} % of right queries are kept on average, and "
        f"{means[:, 0].mean():.1f} where the background must agree; strangers that are called matched are "
        f"{means[:, 3].mean():.1f} % on average and {means[:, 3].max():.1f} at most{where}."
    )


def _known_draws(folder: Path, name: str, method: str, m: int) -> list[Draw]:
    """Read where they are known."""
    return [
        Draw(*draw) for draw in kept(f"own_background-{name}-{method}-{m}", lambda: _draws(folder, name, method, m))
    ]


def _draws(folder: Path, name: str, method: str, m: int) -> list[Draw]:
    images = photographs(folder, ARCHIVES[name])
    images = of_characters(images) if name == "Omniglot" else images
    X, y = rows_of(folder, images, "network"), labels_of(images, name)
    return [_draw(X, y, method, m, seed) for seed in range(DRAWS)]


def _draw(X: Rows, y: NDArray[Any], method: str, m: int, seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    things = rng.permutation(np.unique(y))
    shown, hidden = things[: len(things) // 2], things[len(things) // 2 : 3 * len(things) // 4]
    known = np.concatenate([rng.permutation(np.flatnonzero(y == thing))[:m] for thing in shown])
    present = rng.permutation(np.setdiff1d(np.flatnonzero(np.isin(y, shown)), known))[:QUERIES]
    strangers = rng.permutation(np.flatnonzero(np.isin(y, hidden)))[:QUERIES]
    own = X[rng.permutation(known)[: len(known) // 2]]
    encoder = mc.SquareLossExemplar(random_state=0).fit(own) if method == "slem" else None
    gallery = mc.Gallery(encoder, background=None if encoder else own, things="thing")
    gallery.add(X[known], ids=known, metadata={"thing": y[known].tolist()})
    rates = []
    for gallery.own_background in (False, True):
        hits, others = gallery.search(X[present], k=1), gallery.search(X[strangers], k=1)
        right = y[hits.ids[:, 0]] == y[present]
        rates.append((100 * float(hits.matched[right].mean()), 100 * float(others.matched.mean())))
    return Draw(rates[0][0], rates[1][0], rates[0][1], rates[1][1])
