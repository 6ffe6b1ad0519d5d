"""Rows whose own class is left out decide by which distances strangers are told."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.estimators.uncertainty import known_classes, pseudo_unknowns
from manyclass.estimators.uncertainty.known_classes import KnownClasses

K, SHOWN, STRANGE = 12, slice(0, 9), slice(9, 12)


def places(seed, n, classes=SHOWN, d=6):
    """Every class is in many places, so that its mean says nothing of it; rows are near to others of their place."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(8).normal(size=(K, 12, d))
    y = rng.choice(np.arange(K)[classes], n)
    return (centers[y, rng.integers(12, size=n)] + 0.07 * rng.normal(size=(n, d))).astype(np.float32), y


def heaps(seed, n, classes=SHOWN, d=30):
    """Every class is one heap of many columns, in which no two rows are near."""
    rng = np.random.default_rng(seed)
    y = rng.choice(np.arange(K)[classes], n)
    return (np.random.default_rng(8).normal(size=(K, d))[y] + 1.3 * rng.normal(size=(n, d))).astype(np.float32), y


def calibrated(draw, known=True):
    train = draw(1, 900)
    fitted = mc.SquareLossClassifier().fit(*train)
    return fitted.calibrate(*draw(2, 500), known=train if known else None)


def auroc(fitted, draw):
    return mc.evaluation.auroc(*(fitted.unknown_p_values(draw(3, 600, which)[0]) for which in (SHOWN, STRANGE)))


def test_rows_are_kept_where_the_nearest_of_them_tells_most_and_probabilities_count_less_there():
    fitted = calibrated(places)
    assert fitted.known_classes_["rows"].shape == (900, 6)
    assert fitted.known_classes_["exponent"][0] < 1
    assert auroc(fitted, places) > auroc(calibrated(places, known=False), places) + 0.2
    by_means = calibrated(places)
    judge = KnownClasses.of_rows(DenseMatrix(places(1, 900)[0]), places(1, 900)[1], 9).judge()
    rows, strangers = (judge.scores(places(3, 600, which)[0]) for which in (SHOWN, STRANGE))
    assert auroc(by_means, places) > mc.evaluation.auroc(rows, strangers) + 0.1


def test_no_row_is_kept_where_means_of_classes_tell_more():
    fitted = calibrated(heaps)
    assert fitted.known_classes_["rows"].shape == (0, 30)
    assert auroc(fitted, heaps) > auroc(calibrated(heaps, known=False), heaps)


@pytest.mark.parametrize("draw", [places, heaps])
def test_as_many_known_rows_are_refused_as_is_promised(draw):
    train = draw(1, 900)
    fitted, shares = mc.SquareLossClassifier().fit(*train), []
    for seed in range(10, 30):
        fitted.calibrate(*draw(seed, 300), known=train)
        p = fitted.unknown_p_values(draw(100 + seed, 1000)[0])
        shares.append([(p <= level).mean() for level in (0.05, 0.2)])
    np.testing.assert_allclose(np.mean(shares, axis=0), [0.05, 0.2], atol=0.015)


def test_a_class_that_is_left_out_is_as_if_it_had_never_been_there():
    X, y = places(1, 300)
    known, row_classes = KnownClasses.of_rows(DenseMatrix(X), y, 9).with_rows(DenseMatrix(X), y)
    judge, rows, own = known.judge(row_classes), places(2, 20)[0], places(2, 20)[1]
    for row, c in zip(rows, own, strict=True):
        others = known._replace(rows=known.rows[row_classes != c]).judge().scores(row[None])
        np.testing.assert_allclose(judge.scores(row[None], np.array([c])), others, rtol=1e-4, atol=1e-4)
        kept = np.arange(9) != c
        means = known._replace(means=known.means[kept], rows=known.rows[:0], shares=known.shares[kept])
        one = known._replace(rows=known.rows[:0]).judge()
        gone = means.judge()
        gone._total = one._total  # the metric of all rows stays
        np.testing.assert_allclose(one.scores(row[None], np.array([c])), gone.scores(row[None]), rtol=1e-4, atol=1e-4)


def test_rows_that_were_learned_are_not_taken_for_held_out_ones():
    train = places(1, 900)
    fitted = mc.SquareLossClassifier().fit(*train).calibrate(*train, known=train)
    assert not len(fitted.known_classes_["rows"])


def test_two_classes_leave_one_of_which_all_are_sure_so_that_probabilities_count_in_full():
    train = heaps(1, 200, slice(0, 2))
    fitted = mc.SquareLossClassifier().fit(*train).calibrate(*heaps(2, 100, slice(0, 2)), known=train)
    assert fitted.known_classes_["exponent"][0] == 1


def test_what_is_kept_is_bounded_and_goes_through_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(known_classes, "_KEPT", 400)
    fitted = calibrated(places)
    assert fitted.known_classes_["rows"].shape == (400, 6)
    assert fitted.known_classes_["rows"].dtype == np.float16
    fitted.save(tmp_path / "m")
    rows = places(3, 50)[0]
    np.testing.assert_array_equal(mc.load(tmp_path / "m").unknown_p_values(rows), fitted.unknown_p_values(rows))
    monkeypatch.setattr(known_classes, "_NUMBERS", 6 * 100)
    X, y = DenseMatrix(places(1, 900)[0]), places(1, 900)[1]
    found, row_classes = KnownClasses.of_rows(X, y, 9).with_rows(X, y)
    assert len(found.rows) == 100
    assert set(row_classes) == set(range(9))


def test_few_held_out_rows_choose_as_many_do(monkeypatch):
    monkeypatch.setattr(pseudo_unknowns, "_ASKED", 200)
    assert len(calibrated(places).known_classes_["rows"])
    assert len(calibrated(places).held_out_["near"]) == 500
