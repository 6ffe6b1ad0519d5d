"""Section 4 of Amit et al. (ICML 2007): new classes from few examples, in what the old classes share or alone.

Takes about three minutes.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manyclass as mc
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results, listed, percent
from experiments.shared_class_size import Source, sources
from experiments.shared_path import at_ends, error
from experiments.sources import caltech
from experiments.verdicts import Interval, above, over_seeds
from manyclass.losses.multiclass import SmoothedHinge
from manyclass.penalties.smoothed import HalfSquare
from manyclass.solvers.smooth import SmoothProblem, coordinates_of_rows, minimize_smooth

SEEDS = 5
N_CLASSES, N_NEW = 60, 20
EXAMPLES = (1, 2, 4)
STRENGTHS = tuple(2.0**e for e in range(-2, 7, 2))  # of the trace norm, for the old classes
# For the new ones. Characteristics are shorter than features: of 1/2 to 2,048 the best over them lay at an end in 12 of
# 15 fits on leaves, mostly the upper one, and alone in none.
NEW_STRENGTHS = {
    "shared": tuple(2.0**e for e in range(2, 18, 3)),
    "alone": tuple(2.0**e for e in range(-1, 15, 3)),
}
TOLERANCE = 1e-2
WAYS = {"shared": "in what the old classes share", "alone": "alone"}


class Outcome(NamedTuple):
    """Errors on new classes and on old ones, the C that was chosen, and how many characteristics the old ones share."""

    new: float
    old: float
    C: float
    shared: int


class Drawn(NamedTuple):
    """Rows to train on, to choose on and to test on; classes are numbered, the new ones last."""

    train: tuple[Any, Any]
    held: tuple[Any, Any]
    test: tuple[Any, Any]


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("shared_new_class", "New classes from few examples")
    results.say("""The paper measures nothing here; it says that "a new task can be learned directly using the feature
        vectors F'x using standard SVM machinery, taking advantage of the transfered knowledge". The test is ours.""")
    results.say(f"""Of {N_CLASSES} classes drawn by chance, {N_CLASSES - N_NEW} are learned with the trace norm, from
        all examples that are to train on; {N_NEW} new ones come later, with few examples. Either the new ones are
        learned over what the old ones share (`add_classes`), or alone, over the features themselves, with the same
        loss, half the squared norm for a penalty in both, and the old classes kept in both. Rows of old classes are
        there as negatives. C is chosen on rows held out of all classes, new ones too, of {len(NEW_STRENGTHS["alone"])}
        values for either way, which differ as the features of the two differ in scale ({_said_strengths()}); of equals
        the least is taken. Errors in percent are on test rows of new classes, among all {N_CLASSES}; {SEEDS} drawings,
        and intervals of 95 % of the differences.""")
    found = _sources(folder)
    drawn, charts = panels(list(found), "examples of a new class", "error on new classes, %")
    for chart, (name, source) in zip(charts, found.items(), strict=True):
        _table(results, chart, name, source)
    results.figure(finish(drawn, charts), "errors on new classes against their examples")
    return results


def _said_strengths() -> str:
    return ", ".join(f"{WAYS[way]} {some[0]:g} to {some[-1]:,.0f}" for way, some in NEW_STRENGTHS.items())


def _sources(folder: Path | None) -> dict[str, Source]:
    found = {name: source._replace(sizes=(max(source.sizes),)) for name, source in sources(folder).items()}
    if folder and any(folder.rglob("caltech*.npz")):
        split = caltech(folder)
        X, y = np.concatenate([split.X, split.X_test]), np.concatenate([split.y, split.y_test])
        found["Caltech features"] = Source(X, y, (12,), 5)
    return found


def draw(source: Source, n_new: int, seed: int) -> Drawn:
    """Classes and rows by chance; n_new rows of each new class to train on, the first of the same order."""
    rng = np.random.default_rng(seed)
    parts: list[list[Any]] = [[], [], []]
    labels: list[list[int]] = [[], [], []]
    for number, label in enumerate(rng.permutation(np.unique(source.y))[:N_CLASSES]):
        rows = rng.permutation(np.flatnonzero(source.y == label))
        held, test, train = np.split(rows, [source.others, 2 * source.others])
        train = train[: source.sizes[0] if number < N_CLASSES - N_NEW else n_new]
        for part, of, some in zip(parts, labels, (train, held, test), strict=True):
            part.append(source.X[some].astype(float))
            of.extend([number] * len(some))
    return Drawn(*((np.concatenate(part), np.array(of)) for part, of in zip(parts, labels, strict=True)))


def old_classes(drawn: Drawn) -> mc.SharedStructureClassifier:
    """Those that are there first, by the trace norm with the C that errs least on the rows held out."""
    train, held = (_old(part) for part in (drawn.train, drawn.held))
    model = mc.SharedStructureClassifier(tolerance=TOLERANCE, warm_start=True)
    fits = [deepcopy(model.set_params(C=C).fit(*train)) for C in STRENGTHS]
    return min(fits, key=lambda one: error(one.predict(held[0]), held[1]))


def _old(rows: tuple[Any, Any]) -> tuple[Any, Any]:
    among = rows[1] < N_CLASSES - N_NEW
    return rows[0][among], rows[1][among]


def shared(model: mc.SharedStructureClassifier, drawn: Drawn, C: float) -> Any:
    """Weights (k, d) of all classes, the new ones over what the old ones share."""
    return deepcopy(model).set_params(C=C).add_classes(*drawn.train).coef_


def alone(model: mc.SharedStructureClassifier, drawn: Drawn, C: float) -> Any:
    """Weights (k, d) of all classes, the new ones over the features themselves."""
    X, y = drawn.train
    points = coordinates_of_rows(X)
    loss, weights = SmoothedHinge(model.sharpness), np.full(len(y), C)
    problem = SmoothProblem.of(points.Z, y, N_NEW, weights, loss, HalfSquare(), X @ model.coef_.T)
    return np.concatenate([model.coef_, points.kept(minimize_smooth(problem, TOLERANCE, 2000).W).T])


def _errors(source: Source, seed: int) -> dict[str, list[Outcome]]:
    """For each way and number of examples, what was found."""
    model = old_classes(draw(source, max(EXAMPLES), seed))
    found: dict[str, list[Outcome]] = {way: [] for way in WAYS}
    for n_new in EXAMPLES:
        drawn = draw(source, n_new, seed)
        for way, learn in (("shared", shared), ("alone", alone)):
            weights = {C: learn(model, drawn, C) for C in NEW_STRENGTHS[way]}
            C, best = min(weights.items(), key=lambda one: _error(one[1], drawn.held))
            wrong = (drawn.test[0] @ best.T).argmax(axis=1) != drawn.test[1]
            new = drawn.test[1] >= N_CLASSES - N_NEW
            errors = float(wrong[new].mean()), float(wrong[~new].mean())
            found[way].append(Outcome(*errors, C, len(model.components_)))
    return found


def _error(W: Any, rows: tuple[Any, Any]) -> float:
    return error((rows[0] @ W.T).argmax(axis=1), rows[1])


def _table(results: Results, chart: Any, name: str, source: Source) -> None:
    found = [_errors(source, seed) for seed in range(SEEDS)]
    errors = {way: np.array([[each[:2] for each in one[way]] for one in found]) for way in WAYS}  # new and old
    gains = errors["alone"] - errors["shared"]
    told = [over_seeds(gain) for gain in gains[:, :, 0].T]
    rows = [
        [
            str(n),
            *(percent(errors[way][:, at, 0]) for way in WAYS),
            told[at].shown(100),
            over_seeds(gains[:, at, 1]).shown(100),
        ]
        for at, n in enumerate(EXAMPLES)
    ]
    columns = ["examples", *WAYS.values(), "gain by sharing", "gain on old classes"]
    results.table(f"Errors on new classes, {name}", columns, rows)
    _say_how(results, source, found)
    _find(results, name, told)
    for position, (way, label) in enumerate(WAYS.items()):
        style = {"color": COLORS[position], "marker": MARKERS[position], "label": label}
        chart.plot(EXAMPLES, 100 * errors[way][:, :, 0].mean(axis=0), **style)


def _say_how(results: Results, source: Source, found: list[dict[str, list[Outcome]]]) -> None:
    """Numbers of rows, of characteristics, and of C at an end."""
    shared = [one["shared"][0].shared for one in found]
    chosen = {way: [each.C for one in found for each in one[way]] for way in WAYS}
    ends = " and in ".join(
        f"{at_ends(chosen[way], NEW_STRENGTHS[way])} of {len(chosen[way])} {WAYS[way]}" for way in WAYS
    )
    results.say(f"""An old class has {source.sizes[0]} examples, and {source.others} rows of every class are held out;
        the old ones share {_span(shared)} characteristics ({N_CLASSES - N_NEW} at most) of
        {source.X.shape[1]} columns. C lay at an end of its values in {ends}.""")


def _span(numbers: list[int]) -> str:
    """
    >>> _span([39, 40]), _span([39, 39])
    ('39 to 40', '39')
    """
    return " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))


def _find(results: Results, name: str, told: list[Interval]) -> None:
    shown = ", ".join(f"{gain.shown(100)} with {n}" for n, gain in zip(EXAMPLES, told, strict=True))
    results.finding(
        "Section 4, new classes",
        f"A new class takes advantage of what the old ones share (our test: it errs less than alone, {name}).",
        above(told),
        f"it errs less by {shown} of its examples, in points: {_said(told)}.",
    )


def _said(told: list[Interval]) -> str:
    """What the intervals tell of each number of examples.

    >>> _said([Interval(1, 0.5, 1.5), Interval(1, -1, 3), Interval(-1, -2, -0.1)])
    'it errs less with 1; it errs more with 4; with 2 it cannot be told'
    """
    less = [str(n) for n, one in zip(EXAMPLES, told, strict=True) if one.low > 0]
    more = [str(n) for n, one in zip(EXAMPLES, told, strict=True) if one.high < 0]
    open_ = [str(n) for n in EXAMPLES if str(n) not in less + more]
    parts = [f"it errs less with {listed(less)}"] if less else []
    parts += [f"it errs more with {listed(more)}"] if more else []
    parts += [f"with {listed(open_)} it cannot be told"] if open_ else []
    return "; ".join(parts)
