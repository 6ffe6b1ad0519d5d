"""Generated classes: the same rows however they are asked for, and a problem worth learning."""

import numpy as np
import pytest
from contracts.matrix import CHECKS
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

import manyclass as mc
from manyclass.datasets import low_rank_classes


def made(n, d, seed, k=5, **settings):
    return low_rank_classes(n, d, k, random_state=seed, **settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(n=st.integers(1, 70), d=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_it_keeps_the_contract_of_a_matrix(check, n, d, seed):
    check(lambda rng, n, d: made(n, d, seed), np.random.default_rng(seed), n, d, 3)


@given(
    n=st.integers(1, 90),
    d=st.integers(1, 40),
    k=st.integers(1, 30),
    imbalance=st.sampled_from([0, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_more_rows_are_the_same_rows_and_then_others(n, d, k, imbalance, seed):
    fewer, more = (made(m, d, seed, k, imbalance=imbalance) for m in (n, n + 37))
    np.testing.assert_array_equal(more.rows(slice(0, n)), fewer.toarray())
    np.testing.assert_array_equal(more.y[:n], fewer.y)


@given(n=st.integers(1, 60), d=st.integers(1, 40), k=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_rows_have_unit_length_and_a_class_in_range(n, d, k, seed):
    X = made(n, d, seed, k)
    np.testing.assert_allclose(X.row_norms(), 1, rtol=1e-5)
    assert X.y.shape == (n,)
    assert X.y.dtype == np.int64
    assert X.n_classes == k
    assert ((X.y >= 0) & (k > X.y)).all()


def test_any_number_of_threads_gives_the_same_bits():
    with mc.threads(1), threadpool_limits(1):
        alone = made(333, 501, 0, k=301).toarray()
    with mc.threads(3), threadpool_limits(2):
        np.testing.assert_array_equal(made(333, 501, 0, k=301).toarray(), alone)


def test_another_seed_gives_other_rows_and_another_order():
    X, Z = made(40, 8, 0), made(40, 8, 1)
    assert not np.isclose(X.toarray(), Z.toarray()).all(axis=1).any()
    assert (X.y != Z.y).any()


def test_no_row_repeats_the_noise_of_another():
    X = made(2000, 30, 0)
    centered = X.toarray() - np.stack([X.toarray()[X.y == c].mean(axis=0) for c in range(5)])[X.y]
    cosines = centered @ centered.T / np.outer(*[np.linalg.norm(centered, axis=1)] * 2)
    assert (cosines - 2 * np.eye(2000) < 0.999).all()


@pytest.mark.parametrize(("k", "rounds"), [(7, 3), (40, 1)])
def test_every_class_occurs_once_in_every_round(k, rounds):
    y = made(rounds * k, 4, 0, k).y.reshape(rounds, k)
    assert (np.sort(y, axis=1) == np.arange(k)).all()
    assert (np.diff(y) != 1).any()


@pytest.mark.parametrize("imbalance", [0.5, 1.0, 2.0])
def test_class_sizes_follow_the_power_law(imbalance):
    k, n = 20, 20_000
    shares = np.arange(1, k + 1) ** -imbalance
    counts = np.bincount(made(n, 4, 0, k, imbalance=imbalance).y, minlength=k)
    # Each round rounds every class up or down.
    np.testing.assert_allclose(counts, n * shares / shares.sum(), atol=2 * np.sqrt(n / k))


def test_another_imbalance_gives_other_rows_of_the_same_classes():
    even, skew = made(500, 16, 0), made(500, 16, 0, imbalance=1.0)
    np.testing.assert_array_equal(even.means, skew.means)
    assert (np.bincount(even.y) != np.bincount(skew.y)).any()


@pytest.mark.parametrize("rank", [1, 3, 12])
def test_without_noise_the_rows_span_as_many_dimensions_as_were_asked_for(rank):
    X = made(300, 30, 0, k=50, rank=rank, noise=0).toarray()
    assert np.linalg.matrix_rank(X, tol=1e-3) == rank


def test_without_any_variation_a_row_is_the_mean_of_its_class():
    X = made(20, 9, 0, noise=0, shared=0)
    np.testing.assert_allclose(X.toarray(), X.means[X.y], atol=1e-6)


def test_noise_and_shared_variation_are_as_large_as_they_say():
    d, noise, shared, rank = 60, 0.05, 0.4, 8
    X = low_rank_classes(4000, d, 1, rank=rank, noise=noise, shared=shared)
    added = np.concatenate([X._variations(group) for group in range(250)])
    inside = np.linalg.svd(added, full_matrices=False)[1] ** 2 / len(added)
    assert inside[:2].sum() == pytest.approx(2 * shared**2 + 2 * noise**2, rel=0.1)
    np.testing.assert_allclose(inside[2:].mean(), noise**2, rtol=0.1)


@pytest.mark.parametrize(("n", "d"), [(0, 5), (3, 1)])
def test_the_smallest_sizes_work(n, d):
    assert made(n, d, 0).toarray().shape == (n, d)


def test_it_streams_into_codes():
    X = made(300, 24, 0)
    quantizer = mc.ProductQuantizer(8, 16, random_state=0).fit(X)
    np.testing.assert_array_equal(quantizer.encode(X).codes, quantizer.encode(X.toarray()).codes)


def test_what_is_held_does_not_grow_with_the_width_of_the_rows_times_their_number():
    assert low_rank_classes(1_000_000, 256, 100).nbytes < 10e6


def test_a_linear_classifier_learns_what_the_nearest_mean_does_not():
    X, n = low_rank_classes(4800, 128, 80, noise=0.2), 4000
    A, y = X.toarray(), X.y
    means = np.stack([A[:n][y[:n] == c].mean(axis=0) for c in range(80)])
    nearest = ((A[n:] @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T).argmax(axis=1) == y[n:]).mean()
    linear = RidgeClassifier(3).fit(A[:n], y[:n]).score(A[n:], y[n:])
    assert 0.4 < nearest < 0.7
    assert 0.8 < linear < 0.95


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n": -1}, "n must be a whole number, at least 0; got -1"),
        ({"d": 0}, "d must be a whole number, at least 1; got 0"),
        ({"n_classes": 0}, "n_classes must be a whole number, at least 1; got 0"),
        ({"rank": 9}, "rank must be a whole number, from 1 to 8; got 9"),
        ({"noise": -0.1}, "noise must be a finite number, at least 0; got -0.1"),
        ({"shared": np.inf}, "shared must be a finite number, at least 0; got inf"),
        ({"imbalance": "a"}, "imbalance must be a finite number, at least 0; got 'a'"),
        ({"random_state": -1}, "random_state must be a whole number, from 0 to 4294967295; got -1"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        low_rank_classes(**({"n": 10, "d": 8, "n_classes": 3} | settings))
