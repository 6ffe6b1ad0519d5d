"""Fitting on some rows and measuring on others."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.compression import fit_on_sample, relative_error


class Recorder(mc.ScalarQuantizer):
    """Remembers the rows that it was fitted on."""

    def fit(self, X, y=None):
        self.seen = mc.as_matrix(X).toarray()
        return super().fit(X, y)


X = np.arange(400, dtype=np.float32).reshape(100, 4)


@pytest.mark.parametrize("n_sample", [1, 30, 90, 500])
def test_rows_that_measure_are_not_rows_that_fit(n_sample):
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X), n_sample, seed=0)
    assert len(fitted.quantizer.seen) == fitted.fit_rows == min(n_sample, 90)
    assert (fitted.error_rows, fitted.held_out) == (10, True)


def test_without_a_sample_all_rows_fit_and_none_is_called_held_out():
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X), None, seed=0)
    assert np.array_equal(fitted.quantizer.seen, X)
    assert not fitted.held_out


def test_one_row_is_enough():
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X[1:2]), 10, seed=0)
    assert (fitted.fit_rows, fitted.error_rows, fitted.held_out) == (1, 1, False)


def test_the_sample_depends_on_the_seed_alone():
    a, b, c = (fit_on_sample(Recorder(), mc.DenseMatrix(X), 20, seed).quantizer.seen for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_a_bad_number_in_the_sample_is_named_by_its_row_in_the_source():
    bad = X.copy()
    bad[57, 2] = np.inf
    with pytest.raises(ValueError, match="the source must hold finite numbers within float32; row 57 has NaN"):
        fit_on_sample(Recorder(), mc.DenseMatrix(bad), 100, seed=0)


def test_the_relative_error_is_a_ratio_of_lengths():
    quantizer = mc.ScalarQuantizer(bits=8).fit(X)
    decoded = quantizer.encode(X).toarray()
    expected = np.linalg.norm(X - decoded) / np.linalg.norm(X)
    assert relative_error(quantizer, X) == pytest.approx(expected, rel=1e-5)
    assert relative_error(quantizer, 0 * X) == 0
