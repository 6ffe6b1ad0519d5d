"""Section 6 and Figure 3 of Amit et al. (ICML 2007): classes made of few directions, and what the two norms recover.

Takes about two minutes.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.figures import COLORS, finish, panels
from experiments.results import Results, percent
from experiments.shared_path import PENALTIES, Machines, Parts, best_on_held, error, said_ends
from experiments.verdicts import above, alike, over_seeds

K, D = 100, 120
SIZES = (4500, 1000, 2000)
SEEDS = 5
# The paper prints neither. Where the sigmoid falls decides how hard the problem is: here Frobenius errs near 47 %.
CENTER, WIDTH = 10.0, 0.5
NUMBERS = np.arange(K)
SPECTRA: dict[str, Any] = {
    "sigmoidal": 1 / (1 + np.exp((NUMBERS - CENTER) / WIDTH)),
    "harmonic": 1 / (1 + NUMBERS),
}
PAPER = {"sigmoidal": (47, 31), "harmonic": (26, 17)}
STRENGTHS = {"frobenius": (0.03, 0.12, 0.5, 1.0, 2.0, 8.0), "trace": (0.0075, 0.015, 0.03, 0.06, 0.12, 0.25)}
SHARPNESS = (2.0,)  # mostly chosen where 5 and 20 were tried as well
RANKS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 80, 100)
NEAR = 0.02  # of the paper's errors


class Drawing(NamedTuple):
    """For each norm the machines, C and sharpness, and test errors after truncation to every rank."""

    machines: dict[str, Machines]
    chosen: dict[str, tuple[float, float]]
    errors: dict[str, list[float]]
    n_classes: float

    def gain(self) -> float:
        return self.errors["frobenius"][-1] - self.errors["trace"][-1]


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("shared_synthetic", "Synthetic classes that share directions")
    results.say(f"""{K} classes in R^{D}: rows are normally distributed, and the label of a row is the largest of its
        scores with a matrix W* of random singular vectors and given singular values: sigmoidal or harmonic (1, 1/2,
        1/3, ...). {SIZES[0]} rows to train on, {SIZES[1]} to choose C of {len(STRENGTHS["trace"])} values on, for both
        norms, with a loss of sharpness {", ".join(f"{one:g}" for one in SHARPNESS)}, and {SIZES[2]} to test on;
        {SEEDS} drawings of everything.""")
    results.say(f"""The paper does not print where its sigmoid falls, which decides how hard the problem is. Here it
        falls at number {CENTER:g}, over a width of {WIDTH:g}: placed so that the Frobenius norm errs near the paper's
        47 %. Neither error, nor the size of their difference, is a result; its sign is. Sharpness 2 was the one mostly
        chosen of 2, 5 and 20 in an earlier run of these drawings.""")
    drawn, charts = panels([*SPECTRA, "harmonic, truncated"], "", "", logarithmic=False)
    found = {name: [drawing(draw(SPECTRA[name], seed)) for seed in range(SEEDS)] for name in SPECTRA}
    for chart, name in zip(charts, SPECTRA, strict=False):
        _compare(results, name, found[name])
        _draw_spectra(chart, SPECTRA[name], found[name][0].machines)
    _say_why_harmonic(results, found["harmonic"])
    _find_spectra(results, found["sigmoidal"])
    _truncate(results, charts[2], found["harmonic"])
    results.figure(finish(drawn, charts), "spectra of the learned matrices, and errors after truncation")
    return results


def draw(spectrum: Any, seed: int, mixed: bool = True) -> Parts:
    """Rows and labels by a matrix W* (d, k) with these singular values; not mixed, each class has one of its own."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(rows, K)))[0] for rows in (D, K))
    X = rng.normal(size=(sum(SIZES), D))
    y = (X @ (U * spectrum) @ (V.T if mixed else np.eye(K))).argmax(axis=1)
    ends = np.cumsum(SIZES)[:-1]
    return Parts(*zip(np.split(X, ends), np.split(y, ends), strict=True))


def drawing(parts: Parts) -> Drawing:
    """Both norms, each with what errs least on the part held out."""
    best = {penalty: _best(parts, penalty) for penalty in PENALTIES}
    X, y = parts.test
    errors = {p: [error(m.truncated(rank).predict(X), y) for rank in RANKS] for p, (_, m) in best.items()}
    return Drawing(
        {p: m for p, (_, m) in best.items()}, {p: s for p, (s, _) in best.items()}, errors, in_effect(parts.train[1])
    )


def in_effect(y: Any) -> float:
    """How many classes of equal size have the entropy of these labels.

    >>> in_effect([0, 0, 1, 1])
    2.0
    """
    part = np.unique(y, return_counts=True)[1] / len(y)
    return float(np.round(np.exp(-np.sum(part * np.log(part))), 12))


def _best(parts: Parts, penalty: str) -> tuple[tuple[float, float], Machines]:
    """((C, sharpness), machines) with the fewest errors on the part held out."""
    found = []
    for sharpness in SHARPNESS:
        C, machines = best_on_held(parts, penalty, STRENGTHS[penalty], tolerance=5e-3, sharpness=sharpness)
        found.append((error(machines.predict(parts.held[0]), parts.held[1]), (C, sharpness), machines))
    return min(found, key=lambda one: one[0])[1:]


def _compare(results: Results, name: str, found: list[Drawing]) -> None:
    rows = []
    for penalty, paper in zip(PENALTIES, PAPER[name], strict=True):
        errors = [one.errors[penalty][-1] for one in found]
        shown, chosen = " ".join(f"{100 * e:.1f}" for e in errors), [one.chosen[penalty] for one in found]
        settings = "; ".join(f"{C:g}, {sharpness:g}" for C, sharpness in chosen)
        rows.append([PENALTIES[penalty], percent(errors), str(paper), shown, settings])
    results.table(f"Test errors, {name} spectrum", ["penalty", "error, %", "paper", "drawings", "C, sharpness"], rows)
    results.say(said_ends({p: [one.chosen[p][0] for one in found] for p in PENALTIES}, STRENGTHS, "drawings"))
    gain, paper = over_seeds([one.gain() for one in found]), PAPER[name]
    results.finding(
        f"Section 6, {name}",
        f"The trace norm errs less ({paper[1]} against {paper[0]} %; judged: the sign).",
        above([gain]),
        f"the trace norm errs less by {gain.shown(100)} points (the paper: by {paper[0] - paper[1]}).",
    )


def _say_why_harmonic(results: Results, found: list[Drawing]) -> None:
    """Errors are not the paper's; W*'s singular vectors, which it does not give, move them by more than that."""
    apart = [drawing(draw(SPECTRA["harmonic"], seed, mixed=False)) for seed in range(SEEDS)]
    rows = [
        [name, f"{np.mean([one.n_classes for one in kind]):.1f}"]
        + [percent([one.errors[p][-1] for one in kind]) for p in PENALTIES]
        for name, kind in (("random on both sides, as above", found), ("random, but each class has one", apart))
    ]
    results.table("Harmonic spectrum, by its singular vectors", ["W*", "classes in effect", *PENALTIES.values()], rows)
    far = [over_seeds([one.errors[p][-1] - paper / 100 for one in found]) for p, paper in _papers("harmonic")]
    results.finding(
        "Section 6, harmonic",
        "The errors are 26 and 17 % (within two points).",
        alike(far, NEAR),
        f"they are {' and '.join(one.shown(100) for one in far)} points above. The paper does not say how the singular "
        f"vectors of W* were drawn, which decides how many classes are ever the largest: the paper's errors are "
        f"{'' if _between(found, apart) else 'not '}between those of the two ways in the table.",
    )


def _between(some: list[Drawing], others: list[Drawing]) -> bool:
    """Whether the paper's errors are between those of two ways to draw."""
    found = {p: sorted(np.mean([one.errors[p][-1] for one in kind]) for kind in (some, others)) for p in PENALTIES}
    return all(found[p][0] <= paper / 100 <= found[p][1] for p, paper in _papers("harmonic"))


def _papers(name: str) -> list[tuple[str, int]]:
    return list(zip(PENALTIES, PAPER[name], strict=True))


def _find_spectra(results: Results, found: list[Drawing]) -> None:
    off = {p: [_off(one.machines[p].spectrum, SPECTRA["sigmoidal"]) for one in found] for p in PENALTIES}
    nearer = over_seeds(np.subtract(off["frobenius"], off["trace"]))
    results.finding(
        "Figure 3, left",
        "The spectrum of the trace norm has more of the shape of W*'s than that of the Frobenius norm (sums made "
        "equal).",
        above([nearer]),
        f"of spectra with sum 1, that of the trace norm differs from W*'s by {percent(off['trace'])} % of the sum, "
        f"that of Frobenius' by {percent(off['frobenius'])}; the difference is {nearer.shown(100)}.",
    )


def _off(s: Any, true: Any) -> float:
    """Half of the absolute differences of two spectra, each with sum 1: what would have to move."""
    s = np.pad(s, (0, len(true) - len(s)))  # classes that no row has leave the rest of the rank
    return float(np.abs(s / s.sum() - true / true.sum()).sum() / 2)


def _draw_spectra(chart: Any, spectrum: Any, found: dict[str, Machines]) -> None:
    """Figure 3: singular values, as parts of their sum."""
    chart.set(xlabel="number", ylabel="singular value / sum")
    chart.plot(NUMBERS + 1, spectrum / spectrum.sum(), color="black", linestyle="--", label="W*")
    for position, (penalty, machines) in enumerate(found.items()):
        s = machines.spectrum
        chart.plot(1 + np.arange(len(s)), s / s.sum(), color=COLORS[position], label=PENALTIES[penalty])


def _truncate(results: Results, chart: Any, found: list[Drawing]) -> None:
    errors = {p: np.array([one.errors[p] for one in found]) for p in PENALTIES}
    rows = [[PENALTIES[p], *(f"{100 * e:.1f}" for e in errors[p].mean(axis=0))] for p in errors]
    results.table("Harmonic spectrum, errors after truncation to a rank", ["penalty", *map(str, RANKS)], rows)
    harm = {p: [over_seeds(row) for row in (errors[p][:, :-1] - errors[p][:, -1:]).T] for p in PENALTIES}
    sure = " and ".join(f"{sum(one.low > 0 for one in harm[p])} ({PENALTIES[p]})" for p in PENALTIES)
    least = {p: min(harm[p], key=lambda one: one.mean) for p in PENALTIES}
    shown = " and ".join(f"{least[p].shown(100)} ({PENALTIES[p]})" for p in PENALTIES)
    results.finding(
        "Section 6, truncation",
        "Any truncation after learning makes the error larger.",
        above([one for p in PENALTIES for one in harm[p]]),
        f"at {sure} of {len(RANKS) - 1} ranks it surely does; at the rank where truncation does best it changes the "
        f"error by {shown} points; {len(RANKS) - 1} of the paper's {K - 1} ranks were tried.",
    )
    ahead = [over_seeds(row) for row in (errors["frobenius"] - errors["trace"]).T]
    results.finding(
        "Section 6, truncation",
        "The truncated trace-norm matrix is better than the truncated Frobenius one at every rank.",
        above(ahead),
        f"its interval is above zero at {sum(one.low > 0 for one in ahead)} of {len(RANKS)} ranks, and below at "
        f"{sum(one.high < 0 for one in ahead)}.",
    )
    chart.set(xlabel="rank", ylabel="test error, %")
    for position, (penalty, values) in enumerate(errors.items()):
        style = {"color": COLORS[position], "marker": "o", "label": PENALTIES[penalty]}
        chart.plot(RANKS, 100 * values.mean(axis=0), **style)
