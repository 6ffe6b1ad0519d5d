import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from manyclass import SquareLossClassifier
from manyclass.data.product_quantizer import ProductQuantizer
from manyclass.data.quantizer import restore_quantizer
from manyclass.data.scalar_quantizer import ScalarQuantizer

X = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)


@pytest.mark.parametrize("quantizer", [ProductQuantizer(block=2, n_centroids=8), ScalarQuantizer(bits=4)])
def test_a_quantizer_comes_back_from_its_kind_and_state(quantizer):
    quantizer.fit(X)
    again = restore_quantizer(quantizer.kind, *quantizer.state())
    np.testing.assert_array_equal(again.encode(X).codes, quantizer.encode(X).codes)


def test_an_unknown_kind_is_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"must be one of \['product', 'scalar'\]; got 'pickle'"):
        restore_quantizer("pickle", {}, {})


FITTED = pytest.mark.parametrize(
    "quantizer", [ProductQuantizer(block=2, n_centroids=8).fit(X), ScalarQuantizer().fit(X)]
)


@FITTED
def test_a_matrix_does_not_change_with_the_array_that_it_was_made_of(quantizer):
    codes = quantizer.encode_rows(X)
    Xq = quantizer.matrix(codes)
    before = Xq.toarray()
    codes[:] = 0
    np.testing.assert_array_equal(Xq.toarray(), before)
    with pytest.raises(ValueError, match="read-only"):
        Xq.codes[0] = 0


@FITTED
def test_a_view_of_an_array_that_can_be_written_is_not_trusted(quantizer):
    codes = quantizer.encode_rows(X)
    view = codes.view()
    view.flags.writeable = False
    Xq = quantizer.matrix(view)
    before = Xq.toarray()
    codes[:] = 0
    np.testing.assert_array_equal(Xq.toarray(), before)


@FITTED
def test_codes_that_nobody_can_write_are_not_copied(quantizer):
    codes = quantizer.encode_rows(X)
    codes.flags.writeable = False
    assert np.shares_memory(quantizer.matrix(codes).codes, codes)
    assert np.shares_memory(quantizer.matrix(codes[10:20]).codes, codes)
    assert quantizer.encode(X).codes.base is None


STEPS = pytest.mark.parametrize(
    "quantizer", [ProductQuantizer(block=2, n_centroids=8, random_state=0), ScalarQuantizer()]
)


@STEPS
def test_a_quantizer_is_a_step_of_a_pipeline(quantizer):
    y = np.arange(len(X)) % 2
    pipeline = make_pipeline(quantizer, SquareLossClassifier()).fit(X, y)
    expected = SquareLossClassifier().fit(clone(quantizer).fit(X).encode(X), y)
    np.testing.assert_array_equal(pipeline.predict(X), expected.predict(clone(quantizer).fit(X).encode(X)))
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3


def test_settings_are_searched_by_their_names():
    pipeline = make_pipeline(ProductQuantizer(n_centroids=8, random_state=0), SquareLossClassifier())
    search = GridSearchCV(pipeline, {"productquantizer__block": [1, 2]}, cv=2).fit(X, np.arange(len(X)) % 2)
    assert search.best_estimator_[0].block in (1, 2)


@STEPS
def test_a_clone_has_the_settings_and_has_learned_nothing(quantizer):
    copy = clone(quantizer.fit(X))
    assert copy.get_params() == quantizer.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(quantizer)


@STEPS
def test_settings_are_checked_where_they_are_set(quantizer):
    with pytest.raises(ValueError, match=r"must be one of .*; got 'blok'"):
        clone(quantizer).set_params(blok=3)
    wrong = next(iter(quantizer.get_params()))
    with pytest.raises(ValueError, match=wrong):
        clone(quantizer).set_params(**{wrong: -7})
