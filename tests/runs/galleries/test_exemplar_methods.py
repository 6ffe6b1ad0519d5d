"""Methods by name, with their settings."""

from dataclasses import replace

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.datasets.dataset import Dataset
from manyclass.runs.galleries.exemplar_methods import METHODS, choose_methods, fit_method, plain_is_ahead
from manyclass.runs.galleries.negatives import Negatives

NEGATIVES = Negatives(
    np.random.default_rng(0).standard_normal((60, 6), dtype=np.float32),
    np.zeros(0, np.intp),
    "all of them",
    Dataset(mc.DenseMatrix(np.zeros((1, 6), np.float32))),
)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_is_fitted_and_encodes(name):
    few = {"n_steps": 1000} if name == "esvm" else {}
    fitted = fit_method(choose_methods(name, 0, few)[0], NEGATIVES, None)
    assert fitted.name == name
    assert len(fitted.space(6).transform(NEGATIVES.X[:3])) == 3


def test_a_list_is_as_good_as_commas():
    assert choose_methods(["slem", "lda"], 1, {}) == choose_methods("slem, lda", 1, {})


def test_a_setting_goes_to_every_method_that_has_it():
    found = choose_methods("slem,lda,kernel-slem", 0, {"regularization": 0.5, "gamma": 2.0})
    assert [one.settings for one in found] == [{"regularization": 0.5}, {}, {"regularization": 0.5, "gamma": 2.0}]


@pytest.mark.parametrize(
    ("names", "settings", "words"),
    [
        ("slam", {}, "`method` must be some of slem, .*; got slam; did you mean slem?"),
        ("", {}, "got nothing"),
        ("lda,lda", {}, "`method` must name every method once; got lda,lda"),
        ("lda,none", {"rank": 2}, "`rank` does not go with `method='lda,none'`"),
    ],
)
def test_what_cannot_be_is_an_error_of_settings(names, settings, words):
    with pytest.raises(SettingsError, match=words):
        choose_methods(names, 0, settings)


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("slem", {}, False),
        ("kernel-slem", {}, True),
        ("kernel-slem", {"factorization": "incomplete_cholesky"}, False),
        ("kernel-slem", {"factorization": "nystrom", "rank": 8}, False),
        ("kernel-slem", {"factorization": "nystrom"}, True),
    ],
)
def test_which_methods_hold_a_gram_matrix(name, settings, expected):
    assert choose_methods(name, 0, settings)[0].holds_gram_matrix is expected


def test_rows_as_they_are_have_negatives_to_be_judged_by():
    fitted = fit_method(choose_methods("none", 0, {"n_background": 20})[0], NEGATIVES, None)
    assert fitted.encoder is None
    assert fitted.background.shape == (20, 6)


def test_no_method_at_all_is_refused():
    with pytest.raises(ValueError, match=r"`method` must be some of .*; got none"):
        choose_methods([], 0, {})


def own(X):
    """Negatives that are rows of the gallery."""
    return Negatives(X, np.arange(len(X)), "its own", Dataset(mc.DenseMatrix(X)))


def test_negatives_of_the_gallery_itself_are_told_away_less():
    X = NEGATIVES.X
    plain, gallery = (fit_method(choose_methods("slem", 0, {})[0], some, None) for some in (NEGATIVES, own(X)))
    assert gallery.encoder.regularization_ == pytest.approx(3 * plain.encoder.regularization_)
    given = fit_method(choose_methods("slem", 0, {"regularization": 0.5})[0], own(X), None)
    assert given.encoder.regularization_ == 0.5


def labeled_rows(informative):
    """20 things in 4 rows each, told by columns in which negatives vary least or most."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(20), 4)
    spread = np.array([9, 9, 9, 1, 1, 1], np.float32)
    told = rng.normal(size=(20, 6))[y] * (spread == (1 if informative else 9)) * spread * 3
    X = (told + rng.normal(size=(80, 6)) * np.where(spread == 9, 9 if informative else 0.1, 1)).astype(np.float32)
    negatives = Negatives(
        (rng.normal(size=(400, 6)) * spread).astype(np.float32), np.zeros(0, np.intp), "", Dataset(mc.DenseMatrix(X))
    )
    return negatives, Dataset(mc.DenseMatrix(X), y)


def test_labels_choose_the_settings_and_are_asked_about_rows_as_they_are():
    negatives, rows = labeled_rows(informative=True)
    fitted = fit_method(choose_methods("slem", 0, {})[0], negatives, rows)
    assert fitted.best == max(one["mAP"] for one in fitted.tried) > fitted.plain
    assert plain_is_ahead(fitted, 400) == ""


def test_rows_as_they_are_are_named_where_they_are_better():
    negatives, rows = labeled_rows(informative=False)
    fitted = fit_method(choose_methods("lda", 0, {})[0], negatives, rows)
    worse = replace(fitted, tried=[{"mAP": fitted.plain / 2}])
    assert f"they have mAP {fitted.plain:.1%}, and lda {fitted.plain / 2:.1%}" in plain_is_ahead(worse, 400)


def test_few_negatives_without_labels_are_no_ground_to_learn_from():
    fitted = fit_method(choose_methods("slem", 0, {})[0], NEGATIVES, None)
    assert plain_is_ahead(fitted, 99) == "99 negatives are too few without labels, of 100 at least"
    assert plain_is_ahead(fitted, 100) == ""
    assert plain_is_ahead(fit_method(choose_methods("none", 0, {})[0], NEGATIVES, None), 99) == ""


@pytest.mark.parametrize(
    ("name", "settings", "d", "expected"),
    [
        ("slem", {}, 4096, True),
        ("slem", {}, 4097, False),
        ("slem", {"regularization": 0.1}, 8, False),
        ("slem", {"positive_weight": 2.0}, 8, True),
        ("esvm", {}, 8, False),
        ("kernel-slem", {}, 8, False),
    ],
)
def test_settings_are_chosen_unasked_where_that_is_quick(name, settings, d, expected):
    assert choose_methods(name, 0, settings)[0].tunes_itself(d) is expected
