"""The parts of the experiments on shared structures: how rows are drawn, and what is computed from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments import (
    shared_letters,
    shared_mammals,
    shared_new_class,
    shared_smoothing,
    shared_synthetic,
    shared_wombat,
)
from experiments.animals import Animals
from experiments.results import Results
from experiments.shared_class_size import Source
from experiments.shared_path import PENALTIES, Parts


def test_letters_to_test_on_do_not_depend_on_those_to_train_on():
    few, many = (shared_letters.chosen(5000, 3, n) for n in (1000, 2000))
    assert_array_equal(few.test, many.test)
    assert_array_equal(few.held, many.held)
    assert len(np.unique(np.concatenate(many))) == 3000


def test_the_width_and_the_cost_are_chosen_on_rows_held_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    rows = shared_letters.Chosen(np.arange(200), np.arange(200, 300), np.arange(300, 400))
    useless, useful = (shared_letters._svc(X, y, rows, [gamma])[1] for gamma in (1e-6, 5.0))
    assert shared_letters._svc(X, y, rows, [1e-6, 5.0])[1] == useful < 0.1 < 0.3 < useless


def test_the_curves_are_those_of_the_paper():
    s = np.array([-2.0, -0.25, 0.0, 0.5, 1.0])
    assert_allclose(shared_smoothing.smoothed_absolute(s, 0.5), [2, 0.3125, 0.25, 0.5, 1])
    margins = np.array([-1.0, 1.0, 3.0])
    assert_allclose(shared_smoothing.smoothed_hinge(margins, 2.0), np.log1p(np.exp(2 * (1 - margins))) / 2)


def test_one_direction_for_each_class_leaves_few_in_effect():
    spectrum = shared_synthetic.SPECTRA["harmonic"]
    mixed, apart = (shared_synthetic.draw(spectrum, 0, kind).train[1] for kind in (True, False))
    assert shared_synthetic.in_effect(mixed) > 2 * shared_synthetic.in_effect(apart)


def test_spectra_that_share_nothing_are_wholly_off():
    assert shared_synthetic._off(np.array([1.0, 0.0]), np.array([0.0, 5.0])) == 1
    assert shared_synthetic._off(np.array([2.0, 1.0]), np.array([4.0, 2.0])) == 0


@pytest.fixture
def animals():
    """Points on a plane: their distances' exponential is a kernel."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 40)
    X = 5 * rng.normal(size=(8, 2))[y] + 0.1 * rng.normal(size=(len(y), 2))
    return Animals(np.linalg.norm(X[:, None] - X[None], axis=2), y)


def test_no_picture_is_in_two_parts(animals):
    rows, sizes = shared_mammals.drawn_rows(animals.y, 0)
    assert_array_equal(np.bincount(animals.y[rows.train]), sizes)
    assert len(np.unique(np.concatenate(rows))) == sum(map(len, rows))
    assert {len(np.flatnonzero(animals.y[rows.held] == label)) for label in range(8)} == {shared_mammals.HELD}


def test_products_of_points_are_the_kernel(animals):
    rows, _ = shared_mammals.drawn_rows(animals.y, 0)
    parts = shared_mammals.points(animals, rows)
    K = shared_mammals.distance_kernel(animals.D, rows.train)
    assert_allclose(parts.test[0] @ parts.train[0].T, K[np.ix_(rows.test, rows.train)], atol=1e-8)


def test_classes_that_lie_apart_are_told_apart(animals):
    found = shared_mammals.outcome(animals, 0)
    assert all(found.right[penalty].mean() > 0.95 for penalty in PENALTIES)
    assert shared_mammals._gain(found, np.unique(found.sizes)) == pytest.approx(
        found.right["trace"].mean() - found.right["frobenius"].mean()
    )


def test_a_class_is_cut_to_its_first_examples():
    """Only its last ones are right: with fewer, none of its rows is found."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [30, 40, 40])
    X = 5 * np.eye(3)[y] + 0.1 * rng.normal(size=(110, 3))
    X[:12] = X[30:42]
    test = np.repeat([0, 1, 2], 10)
    rows = 5 * np.eye(3)[test], test
    found = shared_wombat.cut(shared_wombat.Run(Parts((X, y), rows, rows), 0))
    for penalty in PENALTIES:
        own, others = found[penalty]
        assert own[0] == 1
        assert own[shared_wombat.SIZES.index(12)] == 0
        assert others[0] == 1


def test_every_fit_of_a_class_that_is_cut_down_is_that_of_its_rows_alone():
    """It does not depend on which sizes came before."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [30, 12, 12])
    X = np.eye(3)[y] + rng.normal(size=(54, 3))
    rows = rng.normal(size=(300, 3)), np.repeat([0, 1, 2], 100)
    C = dict.fromkeys(PENALTIES, 1.0)
    few = np.r_[:12, 30:54]
    alone = shared_wombat.cut(shared_wombat.Run(Parts((X[few], y[few]), rows, rows), 0, C))
    found = shared_wombat.cut(shared_wombat.Run(Parts((X, y), rows, rows), 0, C))
    for penalty in PENALTIES:
        assert [part[-1] for part in found[penalty]] == [part[-1] for part in alone[penalty]]


def test_classes_on_which_both_norms_are_the_same_are_told():
    page = Results("shared_wombat", "")
    same = {p: ([0.8, 0.7, 0.6, 0.5], [0.5] * 4) for p in PENALTIES}
    shared_wombat._table(page, "some", [same, same])
    assert "both norms find as many on each of the 2 classes" in page.parts[1]
    shared_wombat._say_strengths(page, [{"frobenius": 2.0, "trace": 8.0}] * 2)
    assert page.parts[-1] == (
        "C is 2 for Frobenius, not at an end of its values, and 8 for trace norm, at an end of its values."
    )


def test_a_class_that_is_cut_down_is_judged_by_its_turn():
    page = Results("shared_wombat", "")
    few = {"trace": ([0.8, 0.8, 0.8, 0.8], [0.5] * 4), "frobenius": ([0.9, 0.9, 0.8, 0.5], [0.5] * 4)}
    shared_wombat._table(page, "some", [few, few, few])
    assert [part.split("*")[5] for part in page.parts if part.startswith("**")] == ["Reproduced", "Reproduced"]
    assert "-10.0 [-10.0, -10.0]" in page.parts[0]


@pytest.fixture
def source(monkeypatch):
    """Twelve classes in 40 dimensions, of which all but four are noise that no class knows."""
    monkeypatch.setattr(shared_new_class, "N_CLASSES", 12)
    monkeypatch.setattr(shared_new_class, "N_NEW", 4)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 60)
    centers = 2 * rng.normal(size=(12, 4)) @ np.linalg.qr(rng.normal(size=(40, 4)))[0].T
    return Source(centers[y] + 0.5 * rng.normal(size=(len(y), 40)), y, (20,), 10)


def test_new_classes_come_last_with_the_examples_they_are_given(source):
    drawn = shared_new_class.draw(source, 2, 0)
    assert_array_equal(np.bincount(drawn.train[1]), [20] * 8 + [2] * 4)
    more = shared_new_class.draw(source, 4, 0)
    assert_array_equal(drawn.test[0], more.test[0])
    assert_array_equal(drawn.train[0][:160], more.train[0][:160])


def test_old_classes_stay_and_new_ones_are_made_of_what_they_share(source):
    drawn = shared_new_class.draw(source, 2, 0)
    model = shared_new_class.old_classes(drawn)
    for learn in (shared_new_class.shared, shared_new_class.alone):
        W = learn(model, drawn, 1.0)
        assert W.shape == (12, 40)
        assert_array_equal(W[:8], model.coef_)
    new = shared_new_class.shared(model, drawn, 1.0)[8:]
    F = model.components_.T
    assert_allclose(F @ np.linalg.lstsq(F, new.T, rcond=None)[0], new.T, atol=1e-8)


def test_sharing_helps_where_classes_share_all_that_counts(source, monkeypatch):
    monkeypatch.setattr(shared_new_class, "EXAMPLES", (1,))
    found = shared_new_class._errors(source, 0)
    assert found["shared"][0][0] < found["alone"][0][0]
