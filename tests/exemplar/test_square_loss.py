"""The closed form is the minimizer of the objective, and tends to its relatives where it should."""

import numpy as np
import pytest
from sklearn.base import clone

import manyclass as mc
from tests.exemplar.problems import pool, unit


def minimizer(x, negatives, regularization, theta):
    """(w, bias) of theta/2 (f(x) - 1)^2 + mean (f(x_i) + 1)^2 / 2 + lambda/2 |w|^2 by its normal equations."""
    n, d = negatives.shape
    A = np.column_stack([np.vstack([x, negatives]), np.ones(n + 1)])
    weights = np.r_[theta, np.full(n, 1 / n)]
    ridge = np.diag(np.r_[np.full(d, regularization), 0])
    found = np.linalg.solve(A.T @ (weights[:, None] * A) + ridge, A.T @ (weights * np.r_[1, -np.ones(n)]))
    return found[:-1], found[-1]


@pytest.mark.parametrize("seed", range(50))
def test_the_closed_form_is_the_minimizer(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 80), rng.integers(1, 30)
    X, Q = pool(n, d, seed)
    regularization, theta = 10 ** rng.uniform(-4, 1), 10 ** rng.uniform(-3, 2)
    enc = mc.SquareLossExemplar(regularization, theta).fit(X)
    W, biases = enc.classifier(Q)
    for q, w, bias, code in zip(Q, W, biases, enc.transform(Q), strict=True):
        expected, expected_bias = minimizer(q, X, regularization, theta)
        size = np.linalg.norm(expected)
        np.testing.assert_allclose(w, expected, atol=1e-6 * size)
        np.testing.assert_allclose(code, expected / size, atol=1e-6)
        assert bias == pytest.approx(expected_bias, abs=1e-6 * (1 + abs(expected_bias)))


def test_the_weight_of_the_image_changes_its_length_and_not_its_code():
    X, Q = pool()
    light, heavy = (mc.SquareLossExemplar(0.1, theta).fit(X) for theta in (0.01, 100))
    assert light.transform(Q).tobytes() == heavy.transform(Q).tobytes()
    assert (np.linalg.norm(light.classifier(Q)[0], axis=1) < np.linalg.norm(heavy.classifier(Q)[0], axis=1)).all()


def test_without_regularization_it_is_discriminant_analysis():
    X, Q = pool()
    lda = mc.ExemplarLDA(shrinkage=0).fit(X)
    far = [np.abs(mc.SquareLossExemplar(r).fit(X).transform(Q) - lda.transform(Q)).max() for r in (1, 1e-2, 1e-4, 0)]
    assert far == sorted(far, reverse=True)
    assert far[-1] < 1e-6
    # The boundaries w'z + bias = 0 are the same too, as theta is 1.
    W, bias = mc.SquareLossExemplar(0).fit(X).classifier(Q)
    V, other = lda.classifier(Q)
    np.testing.assert_allclose(bias / np.linalg.norm(W, axis=1), other / np.linalg.norm(V, axis=1), rtol=1e-6)


def test_much_regularization_leaves_the_centered_image():
    X, Q = pool()
    np.testing.assert_allclose(mc.SquareLossExemplar(1e9).fit(X).transform(Q), unit(Q - X.mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_unit_of_the_features_does_not_matter_if_lambda_follows(scale, dtype):
    X, Q = pool(dtype=dtype)
    plain = mc.SquareLossExemplar(1e-2).fit(X).transform(Q)
    scaled = mc.SquareLossExemplar(1e-2 * scale**2).fit(X * dtype(scale)).transform(Q * dtype(scale))
    np.testing.assert_allclose(scaled, plain, atol=2e-5 if dtype is np.float32 else 1e-6)


def test_fewer_negatives_than_dimensions_are_enough():
    X, Q = pool(n=5, d=20)
    expected = [minimizer(q, X, 1e-3, 1.0)[0] for q in Q]
    np.testing.assert_allclose(mc.SquareLossExemplar(1e-3).fit(X).transform(Q), unit(expected), atol=1e-6)


@pytest.mark.parametrize("X", [pool(n=5, d=20)[0], pool()[0] * [1, 1, 1, 0, 1, 1, 1], np.zeros((4, 3))], ids=len)
def test_a_covariance_without_an_inverse_asks_for_regularization(X):
    with pytest.raises(
        ValueError, match=r"regularization must be larger, because the covariance .* is singular; got 0"
    ):
        mc.SquareLossExemplar(0).fit(X)


def test_one_negative_is_told_from_the_image_by_their_difference():
    enc = mc.SquareLossExemplar().fit([[1.0, 2.0]])
    np.testing.assert_allclose(enc.transform([[4.0, 6.0]]), [[0.6, 0.8]], atol=1e-6)


def test_an_image_at_the_mean_of_the_negatives_has_a_code_of_zeros():
    enc = mc.SquareLossExemplar().fit([[1.0, 2.0], [3.0, 6.0]])
    assert enc.transform([[2.0, 4.0]]).tolist() == [[0, 0]]
    w, bias = enc.classifier([2.0, 4.0])
    assert (w.tolist(), bias) == ([0, 0], 0)


def test_an_image_that_is_itself_a_negative_or_zero_has_a_code_like_any_other():
    X, _ = pool()
    Q = np.vstack([X[3], np.zeros(7)])
    expected = unit([minimizer(q, X, 1e-3, 1.0)[0] for q in Q])
    np.testing.assert_allclose(mc.SquareLossExemplar(1e-3).fit(X).transform(Q), expected, atol=1e-6)


def test_trials_are_the_fits_that_they_stand_for():
    X, Q = pool()
    settings = [{"regularization": r} for r in (1e-3, 0.1, 10.0)]
    for setting, trial in zip(settings, mc.SquareLossExemplar().trials(X, settings), strict=True):
        fitted = mc.SquareLossExemplar(**setting).fit(X)
        assert trial.get_params()["regularization"] == setting["regularization"]
        np.testing.assert_allclose(trial.transform(Q), fitted.transform(Q), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("regularization", -1, "regularization must be a finite number, at least 0, or 'auto'; got -1"),
        ("regularization", np.nan, "regularization must be a finite number, at least 0, or 'auto'; got nan"),
        ("positive_weight", 0, "positive_weight must be a finite number above 0; got 0"),
    ],
)
def test_settings_that_are_none_are_refused(name, value, message):
    with pytest.raises(ValueError, match=message):
        mc.SquareLossExemplar(**{name: value}).fit(pool()[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(3, 9), (60, 9), (40, 1600)])
def test_the_strength_is_the_largest_eigenvalue_where_nobody_says(n, d, dtype):
    X, Q = pool(n, d, dtype=dtype)
    enc = mc.SquareLossExemplar().fit(X)
    C = np.asarray(X, np.float64) - np.asarray(X, np.float64).mean(axis=0)
    top = np.linalg.eigvalsh(C @ C.T / n)[-1]
    assert enc.regularization_ == pytest.approx(top, rel=1e-6)
    codes = mc.SquareLossExemplar(top).fit(X).transform(Q)
    np.testing.assert_allclose(enc.transform(Q), codes, atol=1e-5)


def test_the_unit_of_the_features_does_not_matter_where_nobody_says():
    X, Q = pool()
    codes = [mc.SquareLossExemplar().fit(c * X).transform(c * Q) for c in (1, 1e-3, 1e5)]
    np.testing.assert_allclose(codes[1], codes[0], atol=1e-6)
    np.testing.assert_allclose(codes[2], codes[0], atol=1e-6)


def test_negatives_that_do_not_differ_leave_the_difference_from_them():
    enc = mc.SquareLossExemplar().fit(np.ones((4, 2)))
    np.testing.assert_allclose(enc.transform([[4.0, 5.0]]), [[0.6, 0.8]], atol=1e-6)


def test_trials_know_the_strength_that_nobody_gave():
    X, Q = pool()
    trial = next(iter(mc.SquareLossExemplar().trials(X, [{"regularization": "auto"}])))
    np.testing.assert_allclose(trial.transform(Q), mc.SquareLossExemplar().fit(X).transform(Q), atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(3, 40), (19, 40), (20, 40), (39, 40), (1, 8)])
@pytest.mark.parametrize("regularization", [1e-4, 0.3])
def test_few_negatives_of_many_columns_have_the_inverse_of_their_covariance(n, d, regularization):
    X = np.random.default_rng(n).normal(size=(n, d)) * np.linspace(0.1, 3, d) + 5
    direct = np.linalg.inv(np.cov(X.T, bias=True) + regularization * np.eye(d) if n > 1 else regularization * np.eye(d))
    encoder = mc.SquareLossExemplar(regularization, random_state=0)
    fitted = clone(encoder).fit(X)
    (trial,) = encoder.trials(X, [{"regularization": regularization}])
    for one in (fitted, trial):
        np.testing.assert_allclose(one.projection_, direct, rtol=1e-6, atol=1e-8 / regularization)
        assert one.regularization_ == regularization


def test_the_strength_of_few_negatives_is_the_largest_variance_too():
    X = np.random.default_rng(0).normal(size=(5, 64))
    largest = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    assert mc.SquareLossExemplar(random_state=0).fit(X).regularization_ == pytest.approx(largest)
    (trial,) = mc.SquareLossExemplar(random_state=0).trials(X, [{}])
    assert trial.regularization_ == pytest.approx(largest)
    with pytest.raises(ValueError, match="singular"):
        mc.SquareLossExemplar(0.0, random_state=0).fit(X)
