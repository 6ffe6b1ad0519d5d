import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass import _native
from manyclass.estimators import linear_model
from manyclass.solvers import shortlist
from manyclass.solvers.shortlist import ClassShortlist, top_by_shortlist


def trained(k, d, rank=16, noise=0.3, seed=0):
    """Weights that share a subspace, with noise of their own, and rows of these classes."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(k, rank)) @ rng.normal(size=(rank, d))
    W = means + noise * np.sqrt(rank) * rng.normal(size=(k, d))
    X = means[rng.integers(0, k, 300)] + np.sqrt(rank) * rng.normal(size=(300, d))
    return X.astype(np.float32), W.astype(np.float32), rng.normal(size=k).astype(np.float32)


def best(X, W, b, top):
    return np.argsort(-(X.astype(np.float64) @ W.T.astype(np.float64) + b), axis=1, kind="stable")[:, :top]


POINTS = np.array(
    [[1.77, 0, 0, 1.02, 1.02, 0.91, 0.91, 0.35], [0, 1.77, 0, 1.02, 1.02, -0.91, -0.91, 0.35],
     [0, 0, 1.6, 1.02, -1.02, 0.91, -0.91, 0]]
).T  # fmt: skip
POINTS = np.concatenate([POINTS, -POINTS])


def in_blocks(V, fill=0.0):
    """V (n, d) as (n, blocks, 3): block b has columns b, b + blocks and b + 2 * blocks."""
    blocks = 8 * -(-V.shape[1] // 24)
    wide = np.full((len(V), 3 * blocks), fill)
    wide[:, : V.shape[1]] = V
    return wide.reshape(len(V), 3, blocks).transpose(0, 2, 1)


def unpacked(packed):
    """Which point stands for each block of each class (k, blocks)."""
    codes = packed.codes[:, :, [*range(0, 64, 2), *range(1, 64, 2)]]
    return np.concatenate([codes & 15, codes >> 4], axis=2).swapaxes(1, 2).reshape(-1, codes.shape[1])[: len(packed.W)]


def rough_twin(packed, x):
    """Rough scores as the header of the loop has them, unpacked and one number after the other."""
    v = in_blocks((x - packed.center)[None] * packed.columns)[0]
    unit = 1.77 / 15 * np.linalg.norm(v, axis=1).max()
    entries = np.floor(v @ POINTS.T / unit + 0.5)
    sums = np.take_along_axis(entries, unpacked(packed).T, axis=1).sum(axis=0)
    return packed.offsets + packed.slopes * unit * sums


@pytest.fixture(params=_native.levels())
def level(request):
    before = _native.level()
    _native.set_level(request.param)
    yield request.param
    _native.set_level(before)


@given(k=st.integers(1, 150), d=st.integers(1, 90), top=st.integers(1, 6), seed=st.integers(0, 99))
def test_a_shortlist_has_the_best_classes_for_any_shape(k, d, top, seed):
    X, W, b = trained(k, d, seed=seed)
    top = min(top, k)
    # So few numbers stray as they please: the margin leaves nothing out.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortlist, "FEWEST", 0)
        packed = ClassShortlist.of(W, b, X[:9].mean(axis=0))
    found = np.empty((len(X), top), np.int64)
    _native.top_of_shortlist(X=X, **vars(packed), margin=1e6, fewest=0, best=found)
    S = X.astype(np.float64) @ W.T.astype(np.float64) + b
    np.testing.assert_allclose(np.take_along_axis(S, found, 1), -np.sort(-S, axis=1)[:, :top], rtol=1e-4, atol=1e-3)


def test_most_classes_are_never_looked_at_twice(level):
    X, W, b = trained(3000, 512)
    packed = ClassShortlist.of(W, b, X.mean(axis=0))
    found, looks = packed.top(X, 5)
    assert looks < 0.05 * len(X) * len(W)
    assert (found == best(X, W, b, 5)).mean() > 0.999


def test_every_level_looks_at_the_same_classes(any_level):
    X, W, b = trained(2000, 300)
    packed = ClassShortlist.of(W, b, X.mean(axis=0))
    results = []
    for name in any_level:
        _native.set_level(name)
        results.append(packed.top(X, 3))
    assert len({looks for _, looks in results}) == 1
    for found, _ in results:
        np.testing.assert_array_equal(found, results[0][0])


def test_rough_scores_stray_as_far_as_is_said():
    X, W, b = trained(1000, 1024)
    packed = ClassShortlist.of(W, b, X.mean(axis=0))
    V = (X - packed.center) * packed.columns
    errors = []
    for x, v in zip(X[:50], V, strict=False):
        exact = (W - W.mean(axis=0)) @ x.astype(np.float64) + b
        unit = 1.77 / 15 * np.linalg.norm(in_blocks(v[None])[0], axis=1).max()
        rounding = packed.rounding * unit * np.sqrt(344 / 12)
        spread = np.hypot(np.linalg.norm(v), rounding) * packed.spreads
        errors.append((rough_twin(packed, x) - exact) / spread)
    assert 0.8 < np.std(errors) < 1.1
    assert abs(np.mean(errors)) < 0.05


def test_weights_are_packed_as_the_nearest_points_and_whole_numbers():
    X, W, b = trained(70, 225)
    packed = ClassShortlist.of(W, b, X.mean(axis=0))
    U = (W - W.mean(axis=0, dtype=np.float64)) / packed.columns
    lengths = np.linalg.norm(U, axis=1)
    u = in_blocks(U)
    far = np.square(15 / lengths[:, None, None, None] * u[:, :, None] - POINTS).sum(axis=3)
    chosen = unpacked(packed)
    np.testing.assert_allclose(np.take_along_axis(far, chosen[..., None], 2)[..., 0], far.min(axis=2), atol=1e-4)
    q = POINTS[chosen]
    along = (u * q).sum(axis=(1, 2))
    np.testing.assert_allclose(packed.slopes, lengths**2 / along, rtol=1e-4)
    stray = lengths * np.sqrt((q**2).sum(axis=(1, 2)) * (lengths / along) ** 2 - 1)
    np.testing.assert_allclose(packed.spreads, stray / 15, rtol=1e-3)
    np.testing.assert_allclose(packed.lengths, lengths / 15, rtol=1e-5)
    np.testing.assert_allclose(packed.offsets, b + (W - W.mean(axis=0)) @ packed.center, rtol=1e-4, atol=1e-4)
    rest = U - packed.units[:, None] * (packed.fine.astype(float) - 64)
    np.testing.assert_allclose(np.abs(packed.fine.astype(int) - 64).max(axis=1), 63)
    assert (np.abs(rest) <= 0.501 * packed.units[:, None]).all()
    np.testing.assert_allclose(packed.fine_spreads, np.linalg.norm(rest, axis=1) / 15, rtol=1e-3)


def test_without_a_margin_those_are_looked_at_twice_that_reach_the_best_so_far():
    # The best by 7 bits of those whose rough score is among the highest of runs of 64 classes.
    X, W, b = trained(500, 256)
    packed = ClassShortlist.of(W, b, X.mean(axis=0))
    found = np.empty((1, 1), np.int64)
    for x in X[:20]:
        looks = _native.top_of_shortlist(X=x[None], **vars(packed), margin=0.0, fewest=0, best=found)
        rough = rough_twin(packed, x)
        fine = packed.units * ((packed.fine.astype(np.int64) - 64) @ fine_row(packed, x)) + packed.offsets
        runs = np.sort([rough[start : start + 64].max() for start in range(0, 500, 64)])
        first = np.flatnonzero(rough >= runs[3] - 1e-4)  # five of eight runs
        least = min(fine[first].max(), rough.max())
        assert (rough >= least + 1e-3).sum() <= looks <= (rough >= least - 1e-3).sum()


def fine_row(packed, x):
    v = (x - packed.center) * packed.columns
    unit = np.abs(v).max() / 127
    return np.rint(v / unit) * unit


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(shortlist, "ROWS", 100)
    monkeypatch.setattr(shortlist, "BLOCK", 128)
    monkeypatch.setattr(shortlist, "CLASSES", 500)
    monkeypatch.setattr(shortlist, "COLUMNS", 64)
    monkeypatch.setattr(linear_model, "SCORES", 1)
    if not _native.lookups_are_fast():
        monkeypatch.setattr(_native, "lookups_are_fast", lambda: True)


def linear(W, b):
    model = mc.StochasticClassifier()
    model.classes_, model.n_features_in_ = np.arange(len(W)) + 7, W.shape[1]
    model.coef_, model.intercept_ = W, b
    return model


def test_predictions_of_a_classifier_are_those_of_all_scores(small, monkeypatch):
    X, W, b = trained(2000, 256)
    model, calls = linear(W, b), []
    kept = ClassShortlist.top
    monkeypatch.setattr(ClassShortlist, "top", lambda self, *a: calls.append(1) or kept(self, *a))
    np.testing.assert_array_equal(model.predict_top(X, 5), 7 + best(X, W, b, 5))
    assert len(calls) == 4  # the sample, and three blocks
    np.testing.assert_array_equal(model.predict(mc.as_matrix(X)), 7 + best(X, W, b, 1)[:, 0])


def test_the_number_of_threads_changes_no_prediction(small):
    X, W, b = trained(1000, 128)
    with mc.threads(1):
        one = linear(W, b).predict_top(X, 3)
    with mc.threads(3):
        np.testing.assert_array_equal(linear(W, b).predict_top(X, 3), one)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e38])
def test_rows_that_are_no_numbers_are_named_as_ever(small, bad):
    X, W, b = trained(600, 256)
    X[250, 3] = bad
    assert top_by_shortlist(lambda at: X[at], X.shape, W, b, 2) is None
    with pytest.raises(ValueError, match="row 250"):
        linear(W, b).predict_top(X, 2)


@pytest.mark.parametrize("change", ["zeros", "tiny", "float64", "huge"])
def test_weights_that_have_nothing_to_tell_are_scored_whole(small, change):
    X, W, b = trained(600, 256)
    if change == "zeros":
        W[:] = 0
    elif change == "tiny":
        W *= np.float32(1e-38)
    elif change == "float64":
        X = X.astype(np.float64)
    else:
        W[5] *= 1e30
    expected = best(X, W, b, 2) + 7
    np.testing.assert_array_equal(linear(W, b).predict_top(X, 2), expected)


def test_a_list_that_misses_one_of_a_sample_is_not_used(small, monkeypatch):
    X, W, b = trained(600, 256)
    monkeypatch.setattr(ClassShortlist, "top", lambda self, rows, top: (np.zeros((len(rows), top), np.int64), 0))
    assert top_by_shortlist(lambda at: X[at], X.shape, W, b, 2) is None


def test_a_list_that_is_too_long_is_not_used(small, monkeypatch):
    X, W, b = trained(600, 256)
    monkeypatch.setattr(shortlist, "MARGIN", 1000.0)
    assert top_by_shortlist(lambda at: X[at], X.shape, W, b, 2) is None


def test_rows_of_few_large_entries_have_their_own_best_class():
    # Of three entries each, whose errors do not average: by the list, a third of them get another class.
    rng = np.random.default_rng(0)
    W, X = (rng.normal(size=shape).astype(np.float32) for shape in ((2048, 512), (200, 512)))
    packed = ClassShortlist.of(W, np.zeros(len(W), np.float32), X.mean(axis=0))
    for x in X:
        x[rng.permutation(512)[3:]] = 0
    X += packed.center
    np.testing.assert_array_equal(packed.top(X, 1)[0][:, 0], (X @ W.T).argmax(axis=1))


def test_classes_of_few_large_weights_are_left_to_all_scores():
    rng = np.random.default_rng(0)
    W, X = (rng.normal(size=shape).astype(np.float32) for shape in ((2048, 512), (4096, 512)))
    W[5] = 0
    W[5, 3] = 100
    assert shortlist.top_by_shortlist(lambda at: X[at], X.shape, W, np.zeros(len(W), np.float32), 1) is None
