"""Methods by name, with their settings."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.datasets.dataset import Dataset
from manyclass.runs.exemplar_methods import METHODS, choose_methods, fit_method
from manyclass.runs.negatives import Negatives

NEGATIVES = Negatives(
    np.random.default_rng(0).standard_normal((60, 6), dtype=np.float32),
    np.zeros(0, np.intp),
    "all of them",
    Dataset(mc.DenseMatrix(np.zeros((1, 6), np.float32))),
)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_is_fitted_and_encodes(name):
    fitted = fit_method(choose_methods(name, 0, {})[0], NEGATIVES, None)
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
    [("slem", {}, False), ("kernel-slem", {}, True), ("kernel-slem", {"factorization": "incomplete_cholesky"}, False)],
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
