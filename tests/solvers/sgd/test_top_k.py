"""The best classes, found a panel at a time, are those that all scores at once would give."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.solvers.sgd import top_k as module
from manyclass.solvers.sgd.top_k import top_classes


def plain(S, top):
    """By sorting all of them."""
    return np.argsort(-S, axis=1, kind="stable")[:, :top]


@given(
    n=st.integers(0, 9), k=st.integers(1, 30), top=st.integers(1, 30), width=st.integers(1, 12),
    values=st.integers(1, 9), dtype=st.sampled_from([np.float32, np.float64]), seed=st.integers(0, 99),
)  # fmt: skip
def test_panels_give_what_all_scores_give(n, k, top, width, values, dtype, seed):
    S = np.random.default_rng(seed).integers(-values, values, (n, k)).astype(dtype)
    top = min(top, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CLASSES", width)
        patch.setattr(module, "_ROWS", 4)
        found = top_classes(lambda rows: lambda classes: S[rows, classes], (n, 3), k, top)
    np.testing.assert_array_equal(found, plain(S, top))


def whole(d, k, seed=0, dtype=np.float32):
    """Rows and weights of small whole numbers, whose products are exact in any order and often equal."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (150, d)).astype(dtype), rng.integers(-1, 2, (k, d)).astype(np.float32)


def linear(W):
    model = mc.StochasticClassifier()
    model.classes_, model.n_features_in_ = np.arange(len(W)), W.shape[1]
    model.coef_, model.intercept_ = W, (np.arange(len(W)) % 2).astype(np.float32)
    return model


@pytest.mark.parametrize("top", [1, 5, 2500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_classifier_finds_its_best_classes_over_many_panels(dtype, top):
    X, W = whole(4, 5000, dtype=dtype)
    model = linear(W)
    S = X @ W.T.astype(np.float64) + model.intercept_
    np.testing.assert_array_equal(model.predict_top(X, top), plain(S, top))


@pytest.mark.parametrize("top", [1, 5])
def test_the_number_of_threads_changes_no_prediction(top):
    rng = np.random.default_rng(0)
    X, model = rng.normal(size=(700, 9)).astype(np.float32), linear(rng.normal(size=(4500, 9)).astype(np.float32))
    with mc.threads(1):
        one = model.predict_top(X, top)
    with mc.threads(3):
        np.testing.assert_array_equal(model.predict_top(X, top), one)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("top", [1, 5])
def test_many_classes_take_little_memory_and_many_rows_at_a_time(dtype, top):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(128, 64)).astype(dtype)
    model = linear(rng.normal(size=(60_000, 64)).astype(np.float32))
    heights = []
    kept = model._blocks()
    model._blocks = lambda: lambda rows, start: heights.append(len(rows)) or kept(rows, start)
    with mc.threads(1):
        tracemalloc.start()
        model.predict_top(X, top)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert min(heights) >= 64
    assert peak < 8e6
