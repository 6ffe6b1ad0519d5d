"""Rows of none of the classes: p-values are as often low as they say, and None stands for such rows."""

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs

X, Y = blobs(k=6, per_class=60, spread=1.0)


def drawn(seed, n=1500, k=8, d=12):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (np.random.default_rng(9).normal(size=(k, d))[y] + rng.normal(size=(n, d))).astype(np.float32), y


def test_p_values_of_known_rows_are_as_often_low_as_they_say():
    fitted = mc.LinearClassifier(penalty=mc.Ridge(1e-3)).fit(*drawn(0, 400))
    shares = []
    for seed in range(1, 21):
        p = fitted.calibrate(*drawn(seed, 300)).unknown_p_values(drawn(100 + seed)[0])
        shares.append([(p <= level).mean() for level in (0.05, 0.2)])
    np.testing.assert_allclose(np.mean(shares, axis=0), [0.05, 0.2], atol=0.015)


def test_they_go_by_the_best_probability():
    fitted = mc.SquareLossClassifier().fit(X, Y)
    best, held = np.log(fitted.predict_proba(X).max(axis=1)), fitted.held_out_["sure"]
    twin = [(1 + (held <= one).sum()) / (1 + len(held)) for one in best]
    np.testing.assert_allclose(fitted.unknown_p_values(X), twin, atol=2 / len(held))


@pytest.mark.parametrize("labels", [np.arange(6), np.array(["a", "b", "c", "d", "e", "f"])])
def test_rows_of_low_p_values_are_none_of_the_classes_and_others_as_ever(labels):
    fitted = mc.SquareLossClassifier().fit(X, labels[Y])
    rows = np.concatenate([X, np.zeros((5, X.shape[1]), np.float32)])
    found, p = fitted.predict(rows, unknown=0.05), fitted.unknown_p_values(rows)
    assert found.dtype == object
    assert [one is None for one in found] == (p <= 0.05).tolist()
    assert 0 < sum(one is None for one in found) < len(rows)
    kept = p > 0.05
    assert found[kept].tolist() == fitted.predict(rows)[kept].tolist()
    assert fitted.predict(rows).dtype == labels.dtype


def test_p_values_have_the_same_bits_for_any_number_of_threads():
    fitted = mc.StochasticClassifier(max_epochs=5, random_state=0).fit(X, Y)
    alone = fitted.unknown_p_values(X)
    with mc.threads(2):
        np.testing.assert_array_equal(fitted.unknown_p_values(mc.DenseMatrix(X)), alone)


@pytest.mark.parametrize(
    ("unknown", "words"),
    [(0.0, "unknown must be a finite number above 0"), (1.5, "between 0 and 1"), (0.01, "at least 0.048, as 20 held")],
)
def test_a_share_that_held_out_rows_cannot_tell_is_refused(unknown, words):
    fitted = mc.LinearClassifier().fit(X, Y).calibrate(X[:20], Y[:20])
    with pytest.raises(ValueError, match=words):
        fitted.predict(X, unknown=unknown)


def test_without_held_out_rows_nothing_is_unknown_and_the_error_says_what_to_do():
    fitted = mc.LinearClassifier().fit(X, Y)
    assert not hasattr(fitted, "unknown_p_values")
    with pytest.raises(AttributeError, match="call calibrate with such rows"):
        fitted.predict(X, unknown=0.05)
