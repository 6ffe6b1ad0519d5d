"""Whatever holds rows serves as X, and rows that are not numbers are named."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from estimators.problems import blobs
from scipy import sparse

import manyclass as mc
from manyclass.data.inputs import RowScale, ScaleLimits, open_examples, open_features

X, Y = blobs(k=5, per_class=20)


def fitted(matrix, **settings):
    return mc.StochasticClassifier(max_epochs=4, n_threads=1, random_state=0, **settings).fit(matrix, Y)


def memory_map(folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def read_only(folder):
    array = X.copy()
    array.flags.writeable = False
    return array


def path_of_npy(folder):
    memory_map(folder)
    return folder / "x.npy"


def path_of_store(folder):
    mc.write_store(folder / "x.store", X)
    return str(folder / "x.store")


KINDS = {
    "matrix": lambda folder: mc.DenseMatrix(X),
    "memory map": memory_map,
    "read-only array": read_only,
    "columns first": lambda folder: np.asfortranarray(X),
    "every second row": lambda folder: np.repeat(X, 2, axis=0)[::2],
    "list": lambda folder: mc.DenseMatrix(np.array(X.tolist(), np.float32)),
    "sparse": lambda folder: sparse.csr_array(X),
    "sparse columns": lambda folder: sparse.csc_matrix(X),
    "shards": lambda folder: mc.ShardedMatrix([X[:30], X[30:]]),
    "path of .npy": path_of_npy,
    "path of a store": path_of_store,
}


@pytest.mark.parametrize("objective", ["ovr", "multiclass", "softmax"])
@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_rows_gives_the_machines_of_the_array(tmp_path, kind, objective):
    given = KINDS[kind](tmp_path)
    plain, other = fitted(X, objective=objective), fitted(given, objective=objective)
    np.testing.assert_array_equal(other.coef_, plain.coef_)
    np.testing.assert_allclose(other.decision_function(given), plain.decision_function(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(other.predict(given), plain.predict(X))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int16])
def test_other_numbers_give_the_machines_of_their_float32(dtype):
    rows = (100 * X).astype(dtype)
    np.testing.assert_array_equal(fitted(rows).coef_, fitted(rows.astype(np.float32)).coef_)


def test_codes_give_the_machines_of_what_they_decode_to():
    codes = mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X).encode(X)
    model = fitted(codes)
    np.testing.assert_array_equal(model.coef_, fitted(codes.toarray()).coef_)
    assert model.score(X, Y) > 0.9


def spoilt(value, row=37):
    rows = X.copy()
    rows[row, 3] = value
    return rows


METHODS = {
    "fit": lambda model, rows: mc.StochasticClassifier().fit(rows, Y),
    "validation": lambda model, rows: mc.StochasticClassifier().fit(X, Y, validation=(rows, Y)),
    "first partial_fit": lambda model, rows: mc.StochasticClassifier().partial_fit(rows, Y, classes=range(5)),
    "partial_fit": lambda model, rows: model.partial_fit(rows, Y),
    "add_classes": lambda model, rows: model.add_classes(rows, Y + 3),
    "predict": lambda model, rows: model.predict(rows),
    "decision_function": lambda model, rows: model.decision_function(rows),
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_a_matrix_that_is_not_finite_is_named(method, value):
    model = fitted(X)
    coef = model.coef_.copy()
    with pytest.raises(ValueError, match="must hold finite numbers; row 37 has NaN or infinity"):
        METHODS[method](model, mc.DenseMatrix(spoilt(value)))
    np.testing.assert_array_equal(model.coef_, coef)


PLAIN = {
    "array": np.asarray,
    "float64": lambda rows: rows.astype(np.float64),
    "float16": lambda rows: rows.astype(np.float16),
    "objects": lambda rows: rows.astype(object),
    "sparse": sparse.csr_array,
    "sparse columns": sparse.csc_matrix,
}


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("method", METHODS)
def test_an_entry_of_an_array_that_is_not_finite_is_named(method, value, kind):
    with pytest.raises(ValueError, match=r"\bX must hold finite numbers; row 37 has NaN or infinity in column 3$"):
        METHODS[method](fitted(X), PLAIN[kind](spoilt(value)))


def test_an_entry_far_down_an_array_is_named():
    rows = np.zeros((300_000, 8), np.float32)
    rows[[222_222, 250_000], [6, 1]] = np.inf
    with pytest.raises(ValueError, match="row 222222 has NaN or infinity in column 6"):
        fitted(X).predict(rows)


def test_a_row_of_a_file_that_is_not_finite_is_named(tmp_path):
    np.save(tmp_path / "x.npy", spoilt(np.nan))
    with pytest.raises(ValueError, match="row 37 has NaN or infinity"):
        fitted(str(tmp_path / "x.npy"))


@pytest.mark.parametrize("wrap", [np.asarray, mc.DenseMatrix])
def test_a_number_beyond_float32_is_named(wrap):
    with pytest.raises(ValueError, match="X as float32 must hold finite numbers; row 37 has NaN or infinity"):
        fitted(wrap(spoilt(1.0).astype(np.float64) * np.where(np.arange(len(X)) == 37, 1e60, 1.0)[:, None]))


@pytest.mark.parametrize("wrap", [np.asarray, mc.DenseMatrix, sparse.csr_array])
@pytest.mark.parametrize(
    "use",
    [
        lambda model, rows: model.predict(rows),
        lambda model, rows: model.decision_function(rows),
        lambda model, rows: model.predict_top(rows, 2),
        lambda model, rows: model.partial_fit(rows, Y),
        lambda model, rows: model.add_classes(rows, Y + 3),
        lambda model, rows: model.fit(X, Y, validation=(rows, Y)),
    ],
)
def test_rows_of_another_width_are_refused(use, wrap):
    words = "X has 7 features, but StochasticClassifier is expecting 8 features as input"
    with pytest.raises(ValueError, match=words):
        use(fitted(X), wrap(X[:, :7]))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_a_matrix_of_nothing_is_refused(shape):
    with pytest.raises(ValueError, match=r"X must have at least one row and one column; got shape \("):
        mc.StochasticClassifier().fit(mc.DenseMatrix(np.zeros(shape, np.float32)), np.arange(shape[0]))


def test_no_rows_of_a_matrix_have_no_predictions():
    assert fitted(X).predict(mc.DenseMatrix(np.zeros((0, 8), np.float32))).shape == (0,)


ROWS = np.random.default_rng(0).standard_normal((200, 8)).astype(np.float32)


def told(work):
    """What is said while some work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(one.message) for one in caught]


def test_the_scale_of_rows_is_that_of_all_but_a_hundredth():
    X = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
    X[7] *= 1e6
    X[11] = 0
    assert RowScale.of(mc.DenseMatrix(X)).lengths == pytest.approx((1, 1), rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e3, 1e6])
def test_the_fraction_in_which_rows_differ_is_right_however_far_they_lie_from_zero(offset):
    scale = RowScale.of(mc.DenseMatrix(ROWS.astype(np.float64) + offset))
    X = ROWS.astype(np.longdouble) + offset
    assert scale.apart == pytest.approx(float(X.var(axis=0).sum() / np.square(X).sum(axis=1).mean()), rel=1e-6)


def test_the_column_that_dwarfs_the_others_is_named():
    X = ROWS * np.where(np.arange(8) == 5, 1e3, 1).astype(np.float32)
    scale = RowScale.of(mc.DenseMatrix(X))
    assert scale.column == 5
    assert 0 < scale.beside < 1e-4
    assert scale.troubles(ScaleLimits(beside=1e-9)) == []
    (words,) = scale.troubles(ScaleLimits(beside=1e-3))
    assert re.match(r"column 5 of X has all but \S+ of the variance, .*; divide the columns of X", words)


@pytest.mark.parametrize("X", [np.ones((200, 3)), np.zeros((200, 3)), ROWS[:, :1], ROWS * np.eye(8)[2], ROWS[:1]])
def test_rows_that_are_all_the_same_and_columns_alone_are_no_cause_for_a_warning(X):
    scale = RowScale.of(mc.DenseMatrix(X))
    assert scale.troubles(ScaleLimits(0.5, 0.5)) == []


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1, []), (3, []), (20, ["lengths of about 20,"]), (0.05, ["lengths of about 0.05,"])],
)
def test_rows_on_another_scale_than_those_of_the_fit_are_told_of(factor, words):
    X = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
    estimator = SimpleNamespace()
    open_examples(estimator, mc.DenseMatrix(X), reset=True)
    said = told(lambda: open_features(estimator, mc.DenseMatrix(factor * X)))
    assert len(said) == len(words)
    for one, word in zip(said, words, strict=True):
        assert word in one
        assert "fitted on rows of lengths from 1 to 1; scale the rows of both" in one


def test_rows_of_zeros_and_no_rows_have_no_scale():
    estimator = SimpleNamespace()
    open_examples(estimator, mc.DenseMatrix(ROWS), reset=True)
    assert told(lambda: open_features(estimator, mc.DenseMatrix(0 * ROWS))) == []
    assert told(lambda: open_features(estimator, mc.DenseMatrix(ROWS[:0]))) == []
    open_examples(estimator, mc.DenseMatrix(0 * ROWS), reset=True)
    assert told(lambda: open_features(estimator, mc.DenseMatrix(ROWS))) == []


def test_few_rows_say_nothing_of_the_scale_of_others():
    estimator = SimpleNamespace()
    open_examples(estimator, mc.DenseMatrix(ROWS[:20]), reset=True)
    assert told(lambda: open_features(estimator, mc.DenseMatrix(100 * ROWS))) == []


def told_of(rows, y=Y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mc.StochasticClassifier("ovr", max_epochs=2, n_threads=1, random_state=0).fit(rows, y)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("shift", [1e9, 1e12, -1e12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_whose_spread_float32_loses_is_told_of(shift, dtype):
    shifted = X.astype(np.float64)
    shifted[:, 2] += shift
    (words,) = told_of(shifted.astype(dtype))
    size = re.escape(f"{abs(shift):.1g}")
    assert re.match(f"column 2 of X has values of about {size}, beside which float32 loses the others; ", words)
    assert words.endswith("subtract its mean from that column, or leave it out")


def test_a_constant_column_of_usual_size_is_not_told_of():
    assert told_of(np.hstack([X, np.ones((len(X), 1), X.dtype)])) == []


def test_rows_that_are_all_the_same_but_for_rounding_have_no_way_out():
    same = np.full((100, 3), 1e12) + np.random.default_rng(0).normal(size=(100, 3))
    assert RowScale.of(mc.DenseMatrix(same)).troubles(ScaleLimits(apart=1e-3)) == []
