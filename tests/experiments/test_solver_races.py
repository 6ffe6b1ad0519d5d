"""Solvers against one another: seconds to get somewhere, and what is said of them."""

import numpy as np
import pytest

import manyclass as mc
from experiments import batch, stochastic_atoms
from experiments.results import Results
from experiments.sources import Split
from experiments.stochastic_atoms import Course, Race

COURSE = Course(np.array([1.0, 2.0, 3.0]), np.array([9.0, 5.0, 6.0]))


def test_seconds_until_an_objective_and_after_steps():
    assert COURSE.until(5.5) == 2
    assert COURSE.until(1.0) == np.inf
    assert (COURSE.after(2), COURSE.after(9)) == (2, 3)


def test_what_is_left_is_a_part_of_the_gain():
    race = Race({"auto": COURSE}, 14.0, 4.0)
    assert race.left("auto") == pytest.approx(0.1)
    assert race.left("auto", 1) == pytest.approx(0.5)
    assert race.until("auto", 0.5) == 1


@pytest.mark.parametrize("solver", list(stochastic_atoms.SOLVERS))
def test_the_course_of_a_solver_goes_down(solver, monkeypatch):
    monkeypatch.setattr(stochastic_atoms, "LIMIT", 0.2)
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = (np.eye(4)[y] + 0.3 * rng.normal(size=(120, 4))).astype(np.float32)
    found = stochastic_atoms.course(Split(X, y, X, y), solver)
    assert (np.diff(found.seconds) >= 0).all()
    # The bias alone costs log(4).
    assert found.objective[-1] < np.log(4)


def pair(ratio, better=0.0):
    return batch.Pair((ratio, 0.9), (1.0, 0.9 + better))


def test_ratios_are_judged_by_their_intervals():
    page = Results("batch", "")
    found = {n: [pair(few * jitter) for jitter in (0.9, 1.0, 1.1)] for n, few in {10: 2, 25: 3, 50: 5, 100: 9}.items()}
    batch._find(page, "one-vs-rest", found)
    assert ["*Reproduced*" in part for part in page.parts] == [True, True]
    assert "2.0 [" in page.parts[0]
    slower = {n: [pair(0.5 * jitter) for jitter in (0.9, 1.0, 1.1)] for n in batch.PER_CLASS}
    batch._find(page, "one-vs-rest", slower)
    assert "*Not reproduced*" in page.parts[2]
    assert "*Not told*" in page.parts[3]


def test_what_is_behind_does_not_count():
    page = Results("batch", "")
    ratios = {10: pair(2.0), 25: pair(0.5, -0.05), 100: pair(9.0)}
    batch._find(page, "one-vs-rest", {n: [one] * 3 for n, one in ratios.items()})
    assert "*Reproduced*" in page.parts[0]
    assert "Those with 25 are left out" in page.parts[0]
    batch._find(page, "one-vs-rest", {n: [pair(2.0, -0.05)] * 3 for n in ratios})
    assert "*Not told*" in page.parts[2]


def test_growth_is_judged_only_where_the_talk_has_it():
    page = Results("batch", "")
    batch._find(page, "multiclass (Crammer and Singer)", {n: [pair(2.0)] * 3 for n in batch.PER_CLASS})
    assert [part.startswith("**") for part in page.parts] == [True, False]
    assert "from 4.00 to 2.19 (ungulates)" in page.parts[1]


def test_what_is_said_of_mini_batches_follows_the_seconds():
    page, slopes = Results("stochastic_atoms", ""), np.array([[3.8, 1.0], [5.0, 1.0]])
    stochastic_atoms._say_why(page, [], slopes)
    stochastic_atoms._say_why(page, ["4,000"], slopes)
    assert "take no less time" in page.parts[0]
    assert "slopes of 3.8 to 5.0" in page.parts[0]
    assert "take less time with 4,000 examples" in page.parts[1]


def test_a_ratio_of_what_is_behind_is_marked():
    assert batch._row(10, [pair(2.0, -0.05)] * 2)[3] == "2.0 (ours is behind)"
    assert batch._row(10, [pair(2.0)] * 2)[3] == "2.0"


def test_no_atom_of_all_rows_is_steeper_than_the_strength_at_the_optimum(monkeypatch):
    monkeypatch.setattr(stochastic_atoms, "TRACE", 0.05)
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    X = (np.eye(4)[y] + 0.5 * rng.normal(size=(600, 4))).astype(np.float32)
    model = mc.TraceNormClassifier(trace=0.05, tolerance=1e-6).fit(X, y)
    batch_slope, slope = stochastic_atoms.steepest(Split(X, y, X, y), model)
    assert slope == pytest.approx(1, abs=0.01)
    assert batch_slope > slope
