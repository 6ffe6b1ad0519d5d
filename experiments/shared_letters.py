"""Section 7.1 of Amit et al. (ICML 2007): letters with a Gaussian kernel. Takes about five minutes."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.results import Results, percent
from experiments.shared_path import PENALTIES, Parts, best_on_held, error, said_ends
from experiments.sources import unit
from experiments.verdicts import Interval, above, alike, over_seeds
from manyclass.data.kernels import RbfKernel
from manyclass.solvers.smooth import coordinates_of_gram

SPLITS = 10
SIZES = (1000, 500, 500)
SIGMA = 0.07
PAPER = {"frobenius": 0.101, "trace": 0.087}
STRENGTHS = tuple(2.0**e for e in range(-9, 6, 2))
FINE = tuple(2.0 ** (e / 2) for e in (-3, -1.5, 1.5, 3))

# What "a Gaussian kernel with sigma = 0.07" may mean: the scale of the attributes, and exp(-gamma |x - z|^2).
SCALES: dict[str, Callable[[Any], Any]] = {
    "variance 1": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
    "from 0 to 1": lambda X: X / X.max(axis=0),
    "rows of unit length": lambda X: unit(X).astype(float),
}
FORMULAS = {
    "exp(-sigma d^2)": SIGMA,
    "exp(-d^2 / sigma)": 1 / SIGMA,
    "exp(-d^2 / (2 sigma^2))": 1 / (2 * SIGMA**2),
}
TEXTBOOK = "exp(-d^2 / (2 sigma^2))"

# Of scikit-learn's machine, chosen on the rows held out.
WIDTHS = {"variance 1": (0.07, 0.15), "from 0 to 1": (4.0, 10.0), "rows of unit length": (14.0, 28.0)}
COSTS = (4.0, 16.0, 64.0)
MORE = (1000, 2000, 3000)  # letters to train on


class Chosen(NamedTuple):
    """Rows of a split: to train on, to choose on, to test on."""

    train: Any
    held: Any
    test: Any


def run(folder: Path | None) -> Results:
    """The page; without the table of letters, a page that says so."""
    results = Results("shared_letters", "Letters with a Gaussian kernel")
    found = sorted(folder.rglob("letter*.csv")) if folder else []
    if not found:
        results.say("The table of UCI's letters (letter.csv) was not found, and nothing was run.")
        return results
    X, y = read_letters(found[0])
    results.say(f"""Test errors in percent over {SPLITS} random splits of UCI's letters: {SIZES[0]} to train on,
        {SIZES[1]} to choose C on, {SIZES[2]} to test on. Intervals are of 95 %, of differences on the same splits.""")
    (scale, formula), svc = _readings(results, X, y)
    errors = _norms(results, SCALES[scale](X), y, FORMULAS[formula])
    reach = _best_errors(X, y)
    _level(results, errors["frobenius"], svc, reach[SIZES[0]])
    _reach(results, reach)
    return results


def read_letters(path: Path) -> tuple[Any, Any]:
    """(X (n, 16) from 0 to 15, letters (n,))."""
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return np.array([row[1:] for row in rows], float), np.array([row[0] for row in rows])


def chosen(n: int, seed: int, n_train: int = SIZES[0]) -> Chosen:
    """Rows by chance; the same to choose and to test on, however many there are to train on."""
    held, test, rest = np.split(np.random.default_rng(seed).permutation(n), np.cumsum(SIZES[1:]))
    return Chosen(rest[:n_train], held, test)


Reading = tuple[str, str]  # scale and formula


def _readings(results: Results, X: Any, y: Any) -> tuple[Reading, Sequence[float]]:
    """What the paper's sigma may mean, each with scikit-learn's machine; gives the one that errs least, and errors."""
    held, tested = {}, {}
    for scale, scaled in SCALES.items():
        Z = scaled(X)
        for formula, gamma in FORMULAS.items():
            errors = np.array([_svc(Z, y, chosen(len(y), seed), [gamma]) for seed in range(SPLITS)])
            held[scale, formula], tested[scale, formula] = errors[:, 0].mean(), errors[:, 1]
    rows = [[scale, *(percent(tested[scale, formula]) for formula in FORMULAS)] for scale in SCALES]
    results.table("What sigma may mean: scikit-learn's SVC", ["attributes", *FORMULAS], rows)
    nearest = min(held, key=lambda reading: held[reading])
    least = min(tested[scale, TEXTBOOK].mean() for scale in SCALES)
    results.say(f"""The paper prints sigma = {SIGMA}, and neither formula nor scale. Of these readings the one that errs
        least on the rows held out is taken below: {nearest[1]}, attributes: {nearest[0]}. {_said_ties(nearest, tested)}
        The formula of textbooks, {TEXTBOOK}, errs by {100 * least:.1f} % or more on each scale. C is one of
        {", ".join(f"{C:g}" for C in COSTS)}, chosen on the rows held out.""")
    return nearest, tested[nearest]


def _said_ties(nearest: Reading, tested: dict[Reading, Any]) -> str:
    """Which readings err as little as the one that is taken, within chance."""
    more = {reading: over_seeds(errors - tested[nearest]) for reading, errors in tested.items() if reading != nearest}
    ties = [f"{formula} ({scale}; {one.shown(100)} points)" for (scale, formula), one in more.items() if one.low <= 0]
    tied = f"{' and '.join(ties)} errs as little, within chance; the norms were not tried there."
    return tied if ties else "No other errs as little, within chance."


def _norms(results: Results, Z: Any, y: Any, gamma: float) -> dict[str, list[float]]:
    """Adds the table of both norms and the finding on it; gives their errors."""
    errors: dict[str, list[float]] = {penalty: [] for penalty in PENALTIES}
    strengths: dict[str, list[float]] = {penalty: [] for penalty in PENALTIES}
    for seed in range(SPLITS):
        parts = points(Z, y, chosen(len(y), seed), gamma)
        for penalty, found in errors.items():
            best, _ = best_on_held(parts, penalty, STRENGTHS, tolerance=1e-2)
            C, machines = best_on_held(parts, penalty, [best * factor for factor in (1.0, *FINE)], tolerance=1e-2)
            strengths[penalty].append(C)
            found.append(error(machines.predict(parts.test[0]), parts.test[1]))
    rows = [
        [PENALTIES[p], percent(errors[p]), f"{100 * PAPER[p]:.1f}", " ".join(f"{100 * e:.1f}" for e in errors[p])]
        for p in PENALTIES
    ]
    results.table("Errors of the two norms", ["penalty", "mean ± standard error", "paper", "splits"], rows)
    gain = over_seeds(_differences(errors["frobenius"], errors["trace"]))
    results.say(f"""C is the best of {len(STRENGTHS)} values from 2^-9 to 2^5 on the rows held out, where the paper
        tries 15, and then of {len(FINE)} more within a factor of 2^1.5.
        {said_ends(strengths, dict.fromkeys(PENALTIES, STRENGTHS), "splits")} The loss has sharpness 20, and fits are
        within 1 % of the optimum. The trace norm errs less by {gain.shown(100)} points (the paper, on one split: by
        1.4).""")
    results.finding(
        "Section 7.1",
        "With a Gaussian kernel the trace norm errs less than the Frobenius norm on letters (8.7 against 10.1 %).",
        above([gain]),
        f"it errs less by {gain.shown(100)} points over {SPLITS} splits.",
    )
    return errors


def _level(results: Results, errors: Sequence[float], svc: Sequence[float], best: Sequence[float]) -> None:
    """The paper's error, beside those of scikit-learn's machine with the same kernel and with the best one."""
    beyond = _over(errors)
    none = "none that was tried comes" if _over(best).low > 0 else "the best that was tried may come"
    results.finding(
        "Section 7.1",
        "With 1,000 letters to train on a Gaussian machine errs by 10.1 % (within a point).",
        alike([beyond], 0.01),
        f"it errs by {beyond.shown(100)} points more. scikit-learn's SVC with the same kernel errs by "
        f"{percent(svc)} %, and the next table shows that {none} to 10.1 %; why the paper's does is not known.",
    )


def _best_errors(X: Any, y: Any) -> dict[int, list[float]]:
    """The least that a Gaussian machine errs, by the number of letters."""
    scaled = {name: scale(X) for name, scale in SCALES.items()}
    return {n: [_best_svc(scaled, y, chosen(len(y), seed, n)) for seed in range(SPLITS // 2)] for n in MORE}


def _reach(results: Results, errors: dict[int, list[float]]) -> None:
    rows = [[f"{n:,}", percent(found), _over(found).shown(100)] for n, found in errors.items()]
    columns = ["letters to train on", "error, %", "above 10.1 %, points"]
    results.table("The best Gaussian machine: scikit-learn's SVC, scale, width and C chosen", columns, rows)
    perhaps, surely = ([n for n in MORE if getattr(_over(errors[n]), end) <= 0] for end in ("low", "high"))
    enough = f"it takes {perhaps[0]:,} to {surely[0]:,}" if surely else f"even {MORE[-1]:,} may be too few"
    few = [n for n in MORE if n not in perhaps]
    short = (
        f"From {few[-1]:,} random letters of the 20,000 none of them comes to 10.1 %; for that {enough}." if few else ""
    )
    results.say(f"""Over {SPLITS // 2} of the splits, with {sum(map(len, WIDTHS.values()))} scales and widths and
        {len(COSTS)} values of C to choose from. {short} Which 2,000 letters the paper has, it does not say.""")


def _best_svc(scaled: dict[str, Any], y: Any, rows: Chosen) -> float:
    return min(_svc(Z, y, rows, WIDTHS[name]) for name, Z in scaled.items())[1]


def _svc(Z: Any, y: Any, rows: Chosen, widths: Sequence[float]) -> tuple[float, float]:
    """(error on the rows held out, on those to test on) of the width and C that err least on the first."""
    from sklearn.svm import SVC

    found = []
    for gamma in widths:
        for C in COSTS:
            machine = SVC(C=C, gamma=gamma).fit(Z[rows.train], y[rows.train])
            found.append((error(machine.predict(Z[rows.held]), y[rows.held]), gamma, C, machine))
    least, _, _, machine = min(found, key=lambda one: one[:3])
    return least, error(machine.predict(Z[rows.test]), y[rows.test])


def points(Z: Any, y: Any, rows: Chosen, gamma: float) -> Parts:
    """Rows as points whose products are the kernel, which makes linear machines of kernel machines."""
    kernel = RbfKernel(gamma)
    found = coordinates_of_gram(kernel(Z[rows.train], Z[rows.train]))
    held, test = (kernel(Z[at], Z[rows.train]) @ found.back for at in (rows.held, rows.test))
    return Parts((found.Z, y[rows.train]), (held, y[rows.held]), (test, y[rows.test]))


def _over(errors: Sequence[float]) -> Interval:
    return over_seeds([one - PAPER["frobenius"] for one in errors])


def _differences(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(a, b, strict=True)]
