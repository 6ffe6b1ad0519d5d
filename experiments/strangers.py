"""How many strangers does a gallery call matched, where it promises 5 %, and how many of those that it shows?"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.networks import efficientnet
from experiments.photographs import kept, photographs
from experiments.results import OPEN, Results, mean_error, verdict
from experiments.search_sets import ARCHIVES, foreign, labels_of, of_characters, rows_of
from experiments.sources import Rows

DRAWS, NEGATIVES, STRANGERS, QUERIES = 30, 1500, 300, 1500
SETTINGS = {"Caltech": (1, 5, 20), "Omniglot": (1, 3), "DVD covers": (1, 3)}
LOW, HIGH = 2, 8  # percent of strangers, on average over draws, for a promise of 5
# Percent of present queries that the rule kept when it was chosen among others, and by how many draws.
BEFORE, DRAWS_BEFORE = {("Caltech", 1): 14.0, ("Caltech", 5): 33.0, ("Caltech", 20): 50.0}, 3


class Draw(NamedTuple):
    """Percent of queries that are called matched: strangers of the gallery's kind and foreign ones, present ones whose
    best hit is right; and strangers by the background alone."""

    kind: float
    foreign: float
    kept: float
    by_background: float


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("strangers", "Strangers that are called matched")
    names = [name for name in SETTINGS if folder and any(folder.rglob(ARCHIVES[name]))]
    if not names or folder is None or not efficientnet():
        results.say("The pictures or the network are not there.")
        return results
    results.say(f"""Pooled features of EfficientNet-Lite0. A gallery shows half of the things (classes, characters,
        covers), each in some images, and is asked by other images of these, by images of a quarter of the things, which
        it does not show, and by {STRANGERS} foreign photographs. Machines are fitted on {NEGATIVES:,} other foreign
        photographs, by default settings: a background of another kind, as users have it. `matched` promises that 5 % of
        strangers are. *Kept* are, of present queries whose best image is right, those called matched; *by background*
        are strangers of the kind that the scores of the negatives alone call matched. Percent, mean and standard error
        over {DRAWS} draws.""")
    found = {(name, m): _known_draws(folder, name, m) for name in names for m in SETTINGS[name]}
    rows = [[name, str(m), *(_cell([draw[i] for draw in some]) for i in range(4))] for (name, m), some in found.items()]
    columns = ["data", "images of a thing", "strangers of the kind", "foreign strangers", "kept", "by background"]
    results.table("Called matched", columns, rows)
    results.say(_of_strangers(found))
    _say_kept(results, {key: [draw.kept for draw in some] for key, some in found.items() if key in BEFORE})
    return results


def _of_strangers(found: dict[tuple[str, int], list[Draw]]) -> str:
    sets = {name: [draw for (n, _), some in found.items() if n == name for draw in some] for name, _ in found}
    rates = {name: float(np.mean([draw.kind for draw in some])) for name, some in sets.items()}
    other = {name: float(np.mean([draw.foreign for draw in some])) for name, some in sets.items()}
    inside = "lie" if all(LOW <= rate <= HIGH for rate in rates.values()) else "do not all lie"
    words = ", ".join(f"{rate:.1f} ({name})" for name, rate in rates.items())
    return (
        f"Strangers of the kind that are called matched, {words} percent, {inside} within {LOW} to {HIGH}; of foreign "
        f"strangers at most {max(other.values()):.1f} percent are."
    )


def _say_kept(results: Results, kept: dict[tuple[str, int], list[float]]) -> None:
    """What is kept beside what was kept before, with verdicts."""
    rows = []
    for key, values in kept.items():
        below, half = below_before(values, BEFORE[key])
        told = verdict(below, half)
        rows.append([key[0], str(key[1]), _cell(values), f"{BEFORE[key]:g}", f"{below:+.1f} ± {half:.1f}", told])
    if rows:
        columns = ["data", "images of a thing", "kept", "before", "below", "verdict"]
        results.table("Kept, beside what the rule kept when it was chosen", columns, rows)
        results.say(f"""*Before* is of {DRAWS_BEFORE} other draws. *Below* has a 95 % interval of the difference of both
            means, with the spread of the draws here for both: within if nothing is below, behind if the whole interval
            is, and {OPEN} otherwise.""")


def below_before(values: list[float], before: float) -> tuple[float, float]:
    """By how much the mean of draws is below that of a few others, and half of a 95 % interval of the difference.

    >>> below, half = below_before([40.0, 50.0, 60.0], 56.0)
    >>> round(below, 1), round(half, 1)
    (6.0, 35.1)
    """
    from scipy.stats import t

    error = mean_error(values)[1] * np.sqrt(1 + len(values) / DRAWS_BEFORE)
    return before - float(np.mean(values)), float(t.ppf(0.975, len(values) - 1) * error)


def _cell(values: list[float]) -> str:
    return "{:.1f} ± {:.1f}".format(*mean_error(values))


def _known_draws(folder: Path, name: str, m: int) -> list[Draw]:
    """Read where they are known."""
    return [Draw(*draw) for draw in kept(f"strangers-{name}-{m}", lambda: _draws(folder, name, m))]


def _draws(folder: Path, name: str, m: int) -> list[Draw]:
    images = photographs(folder, ARCHIVES[name])
    images = of_characters(images) if name == "Omniglot" else images
    X, y, world = rows_of(folder, images, "network"), labels_of(images, name), foreign(folder, name, "network")
    encoder = mc.SquareLossExemplar(random_state=0).fit(world[:NEGATIVES])
    draws = [_draw(X, y, encoder, world[NEGATIVES:][:STRANGERS], m, seed) for seed in range(DRAWS)]
    print(name, m, [f"{value:.1f}" for value in np.mean(draws, axis=0)], flush=True)
    return draws


def _draw(X: Rows, y: NDArray[Any], encoder: Any, others: Rows, m: int, seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    things = rng.permutation(np.unique(y))
    shown, hidden = things[: len(things) // 2], things[len(things) // 2 : 3 * len(things) // 4]
    known = np.concatenate([rng.permutation(np.flatnonzero(y == thing))[:m] for thing in shown])
    present = np.setdiff1d(np.flatnonzero(np.isin(y, shown)), known)
    present = rng.permutation(present)[:QUERIES]
    strangers = rng.permutation(np.flatnonzero(np.isin(y, hidden)))[:QUERIES]
    gallery = mc.Gallery(encoder, things="thing")
    gallery.add(X[known], ids=known, metadata={"thing": y[known].tolist()})
    hits = gallery.search(X[present], k=1)
    right = y[hits.ids[:, 0]] == y[present]
    of_kind = gallery.search(X[strangers], k=1)
    by_background = of_kind.expected_false_matches[:, 0] <= -np.log1p(-gallery.false_match)
    return Draw(
        100 * float(of_kind.matched.mean()),
        100 * float(gallery.search(others, k=1).matched.mean()),
        100 * float(hits.matched[right].mean()),
        100 * float(by_background.mean()),
    )
