"""Stochastic atom descent (Harchaoui's slides, 2013) against atoms of the full gradient, in time and in objective.

Takes about a minute.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from threadpoolctl import threadpool_limits

import manyclass as mc
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results
from experiments.sources import Split, low_rank
from experiments.verdicts import Interval, above, over_seeds
from manyclass.solvers.batch.stochastic_rank_one import BATCH

D, K = 128, 60
SIZES = (500, 1_000, 4_000)
TRACE = 2e-3
SEEDS = 5
LIMIT = 2.0  # seconds of the processor for a fit
SOLVERS = {"stochastic": "stochastic atoms", "rank_one": "full atoms (R1D)", "auto": "the default"}
CLOSE = 0.5  # of what W gains over W = 0: as far as both come within the limit
LEFT = (CLOSE, 0.1)
ATOMS = 100


class Course(NamedTuple):
    """Seconds of the processor after each step, and the objective there."""

    seconds: Any
    objective: Any

    def until(self, value: float) -> float:
        """Seconds until the objective is at most this; infinite if it never is."""
        below = np.flatnonzero(self.objective <= value)
        return float(self.seconds[below[0]]) if len(below) else np.inf

    def after(self, steps: int) -> float:
        """Seconds of so many steps, or of all."""
        return float(self.seconds[:steps][-1])


def run(folder: Path | None) -> Results:
    """The page. Needs no data of the folder."""
    results = Results("stochastic_atoms", "Atoms of mini-batches against atoms of all rows")
    results.say(f"""The talk calls stochastic atom descent "efficient and scalable" and shows no measurement of it;
        atoms of the full gradient are our yardstick, not the talk's. Its data have 44,000 rows and more, these
        {SIZES[0]:,} to {SIZES[-1]:,}, of which a mini-batch is {100 * BATCH / SIZES[0]:.0f} to
        {100 * BATCH / SIZES[-1]:.0f} %.""")
    results.say(f"""Softmax with a trace norm of {TRACE:g} on generated classes of low rank ({K} of them, {D}
        dimensions), ever more examples, {SEEDS} drawings. Stochastic atom descent takes the steepest atom of a
        mini-batch of {BATCH} rows and corrects the weights of all atoms on all rows after every ten; R1D takes the atom
        of the full gradient each time, and corrects as often. A correction of the first goes to 1e-12 (R1D: 1e-9),
        proves a gap on all rows and adds their steepest atom, which the talk does not ask for; its objective is known
        at corrections only, which take most of its time, and how often they come was not tuned. The default of the
        library is there for scale. One thread; seconds of its processor, {LIMIT:g} at most for each fit. What is left
        is the part of what W gains over W = 0: (objective - optimum) / (objective at zero - optimum), with the optimum
        of the default at a tolerance of 1e-6.""")
    drawn, charts = panels([f"{n:,} examples" for n in SIZES], "seconds", "left", logarithmic=False)
    found = {n: [_courses(low_rank(n, D, K, seed)) for seed in range(SEEDS)] for n in SIZES}
    for left in LEFT:
        _times(results, found, left)
    _ends(results, found)
    _after_atoms(results, found)
    _find(results, found)
    for chart, courses in zip(charts, found.values(), strict=True):
        _draw(chart, courses[0])
    results.figure(finish(drawn, charts), "what is left of the objective against seconds, first drawing")
    return results


class Race(NamedTuple):
    """The courses of the solvers, the objective at W = 0 and at the optimum, and the steepest slopes there."""

    courses: dict[str, Course]
    zero: float
    optimum: float
    slopes: tuple[float, float] = (0.0, 0.0)

    def left(self, name: str, steps: int | None = None) -> float:
        """What is left after so many steps, or at the end."""
        return (float(self.courses[name].objective[:steps].min()) - self.optimum) / (self.zero - self.optimum)

    def until(self, name: str, left: float) -> float:
        """Seconds until no more than this is left."""
        return self.courses[name].until(self.optimum + left * (self.zero - self.optimum))


def _courses(split: Split) -> Race:
    best = mc.TraceNormClassifier(trace=TRACE, tolerance=1e-6, n_threads=1).fit(split.X, split.y)
    part = np.bincount(split.y) / len(split.y)
    zero = -float(np.sum(part * np.log(part)))  # of the bias alone, which is not penalized
    return Race(
        {name: course(split, name) for name in SOLVERS}, zero, best.objective_ - best.gap_, steepest(split, best)
    )


def steepest(split: Split, model: Any) -> tuple[float, float]:
    """Slopes of the steepest atoms of mini-batches (median of ten) and of all rows, in strengths of the norm.

    At the optimum no atom of all rows is steeper than the strength; one of a mini-batch is, by chance.
    """
    R = softmax(model.decision_function(split.X), axis=1)
    R[np.arange(len(R)), split.y] -= 1
    rng = np.random.default_rng(0)
    draws = [*(rng.integers(0, len(R), BATCH) for _ in range(10)), np.arange(len(R))]
    slopes = [float(np.linalg.norm(split.X[rows].T @ R[rows], 2)) / len(rows) / TRACE for rows in draws]
    return float(np.median(slopes[:-1])), slopes[-1]


def course(split: Split, solver: str) -> Course:
    """A fit that ends by itself or by the limit."""
    seconds, objective = [], []

    def note(record: dict[str, Any]) -> bool:
        seconds.append(time.process_time() - started)
        objective.append(record["objective"])
        return seconds[-1] > LIMIT

    model = mc.TraceNormClassifier(
        trace=TRACE, solver=solver, tolerance=1e-4, max_iter=100_000, n_threads=1, random_state=0, callbacks=[note]
    )
    with threadpool_limits(1):
        started = time.process_time()
        model.fit(split.X, split.y)
    return Course(np.array(seconds), np.array(objective))


def _times(results: Results, found: dict[int, list[Race]], left: float) -> None:
    rows = []
    for n, races in found.items():
        spent = [np.array([race.until(name, left) for race in races]) for name in SOLVERS]
        ratio = np.median(np.minimum(spent[1], LIMIT) / np.minimum(spent[0], LIMIT))
        sign = "" if np.isfinite(np.median(spent[0])) else "less than "
        rows.append([f"{n:,}", *(_shown(one) for one in spent), f"{sign}{ratio:.2f}"])
    columns = ["examples", *SOLVERS.values(), "full / stochastic"]
    results.table(f"Seconds until {100 * left:g} % are left (median)", columns, rows)


def _shown(seconds: Any) -> str:
    middle = float(np.median(seconds))
    return f"{middle:.2f}" if np.isfinite(middle) else f"more than {LIMIT:g}"


def _ends(results: Results, found: dict[int, list[Race]]) -> None:
    rows = [
        [f"{n:,}", *(f"{100 * np.median([race.left(name) for race in races]):.2g}" for name in SOLVERS)]
        for n, races in found.items()
    ]
    results.table("What is left at the end, % (median)", ["examples", *SOLVERS.values()], rows)


def _after_atoms(results: Results, found: dict[int, list[Race]]) -> None:
    """The reason: what an atom of a mini-batch does, and what it takes."""
    rows, quicker, steep = [], [], []
    for n, races in found.items():
        # After the start, stochastic atom descent notes the objective of each correction, R1D that of each atom.
        steps = {"stochastic": 1 + ATOMS // 10, "rank_one": 1 + ATOMS}
        left = [np.median([race.left(name, count) for race in races]) for name, count in steps.items()]
        spent = [np.median([race.courses[name].after(count) for race in races]) for name, count in steps.items()]
        cells = [f"{100 * one:.1f} %, {seconds:.2f} s" for one, seconds in zip(left, spent, strict=True)]
        slopes = np.median([race.slopes for race in races], axis=0)
        rows.append([f"{n:,}", *cells, f"{slopes[0]:.1f} and {slopes[1]:.2f}"])
        quicker += [f"{n:,}"] if spent[0] < spent[1] else []
        steep.append(slopes)
    names = [SOLVERS["stochastic"], SOLVERS["rank_one"]]
    columns = ["examples", *names, "steepest slope at the optimum: mini-batch, all rows"]
    results.table(f"After {ATOMS} atoms: what is left, and the seconds (median)", columns, rows)
    _say_why(results, quicker, np.array(steep))


def _say_why(results: Results, quicker: list[str], slopes: Any) -> None:
    """What the table shows: with which numbers of examples mini-batches take less time, and slopes of both kinds."""
    least, most = slopes[:, 0].min(), slopes[:, 0].max()
    saved = (
        f"mini-batches take less time with {', '.join(quicker)} examples"
        if quicker
        else "mini-batches take no less time: the gradient of all rows, which they save, is a small part of it"
    )
    results.say(f"""With {ATOMS} atoms {saved}. At the optimum a mini-batch shows slopes of {least:.1f} to {most:.1f},
        in strengths of the norm, where all rows show {slopes[:, 1].max():.2f}, by the chance of its rows; further away
        this was not measured.""")


def _find(results: Results, found: dict[int, list[Race]]) -> None:
    ratios = {n: _ratios(races) for n, races in found.items()}
    told = {n: over_seeds(ratio) for n, ratio in ratios.items()}
    results.finding(
        "Stochastic atom descent",
        f"Stochastic atom descent is efficient (our test, with at most {SIZES[-1]:,} examples: it comes to where "
        f"{100 * CLOSE:g} % are left sooner than atoms of the full gradient).",
        above(list(told.values())),
        "; ".join(f"with {n:,} examples R1D takes {_times_as_long(one)} times as long" for n, one in told.items())
        + " (geometric means over drawings; the table has medians).",
    )
    more = over_seeds(np.subtract(ratios[SIZES[-1]], ratios[SIZES[0]]))
    results.finding(
        "Stochastic atom descent",
        f"It is scalable (our test: what it saves on full atoms grows from {SIZES[0]:,} to {SIZES[-1]:,} examples).",
        above([more]),
        f"from {SIZES[0]:,} to {SIZES[-1]:,} examples the ratio of the seconds is multiplied by "
        f"{_times_as_long(more)}.",
    )


def _ratios(races: list[Race]) -> list[float]:
    """Logarithms of the seconds of full atoms over those of stochastic ones; the limit for what does not get there."""
    spent = [[min(race.until(name, CLOSE), LIMIT) for race in races] for name in ("rank_one", "stochastic")]
    return list(np.log(spent[0]) - np.log(spent[1]))


def _times_as_long(one: Interval) -> str:
    mean, low, high = np.exp(one)
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def _draw(chart: Any, race: Race) -> None:
    chart.set(yscale="log", xscale="log")
    for position, (name, label) in enumerate(SOLVERS.items()):
        seconds, objective = race.courses[name]
        left = np.maximum((np.minimum.accumulate(objective) - race.optimum) / (race.zero - race.optimum), 1e-6)
        style = {"color": COLORS[position], "marker": MARKERS[position], "markersize": 3, "label": label}
        chart.plot(seconds, left, **style)
