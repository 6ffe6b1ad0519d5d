import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass import _native
from manyclass.data.dense import DenseMatrix
from manyclass.estimators.heads import packed_weights
from manyclass.estimators.heads.packed_weights import PackedWeights, pack_weights, packed_shapes
from tests.estimators.heads.weights import all_scores, best, grouped

BITS = (4, 8, 12, 16)


def packed(W, b, bits, center=None):
    k, d = W.shape
    arrays = {name: np.zeros(shape, np.uint8) for name, shape in packed_shapes(k, d, bits).items()}

    def put(name, first, rows):
        arrays[name][first : first + len(rows)] = rows

    known = pack_weights(DenseMatrix(W), b, np.zeros(d, np.float32) if center is None else center, bits, put)
    return PackedWeights(**arrays, **{**known, "rounding": float(known["rounding"][0])}, bits=bits)


@pytest.fixture(params=_native.levels())
def level(request):
    before = _native.level()
    _native.set_level(request.param)
    yield request.param
    _native.set_level(before)


@pytest.mark.parametrize("bits", BITS)
@given(k=st.integers(1, 300), d=st.integers(1, 90), seed=st.integers(0, 99))
def test_scores_are_those_of_the_weights_that_the_bits_stand_for(bits, k, d, seed):
    W, b, X = grouped(k, d, n=5, seed=seed)
    center = X.mean(axis=0)
    head = packed(W, b, bits, center)
    V = head.coef(slice(0, k))
    S = all_scores(V, b, X) + center.astype(np.float64) @ (W - V).T  # at the center scores are exact
    # Rows have three digits with 16 bits, and else two.
    assert np.abs(head.scores(X, slice(0, k)) - S).max() <= 2e-3 * max(1, np.abs(S).max())


@pytest.mark.parametrize(("bits", "largest"), [(4, 0.12), (8, 0.02), (12, 1e-3), (16, 1e-4)])
def test_weights_come_back_up_to_half_a_unit(bits, largest):
    W, b, _ = grouped(300, 200)
    error = packed(W, b, bits).coef(slice(0, 300)) - W
    assert np.sqrt(np.mean(error**2) / np.mean((W - W.mean(axis=0)) ** 2)) < largest
    if bits > 4:  # four bits cut off what is far out
        head = packed(W, b, bits)
        half = head.units[:, None] * head.columns / (2 if bits == 8 else 512)
        assert (np.abs(error) <= half * 1.01 + 1e-6).all()


@pytest.mark.parametrize("bits", [12, 16])
def test_what_scores_without_the_second_byte_stray_is_told(bits):
    W, b, X = grouped(2500, 300, n=30)
    head = packed(W, b, bits)
    high = PackedWeights(**{**vars(head), "low": np.full_like(head.low, 0)})  # as if all were at their lower end
    middle = high.scores(X, slice(0, 2500)) + 127.5 / 256 * (X @ head.columns)[:, None] * head.units
    error = middle - head.scores(X, slice(0, 2500))
    told = np.linalg.norm(X * head.columns, axis=1)[:, None] * head.weight_spreads
    assert 0.9 < np.std(error / told) < 1.1


@pytest.mark.parametrize("bits", BITS)
def test_the_best_are_the_best_of_all_scores_at_every_level(level, bits):
    W, b, X = grouped(3000, 384)
    head = packed(W, b, bits)
    found, scores, looks = head.top(X, 5)
    S = head.scores(X, slice(0, 3000))
    np.testing.assert_array_equal(found, best(S, 5))
    np.testing.assert_array_equal(scores, np.take_along_axis(S, found, axis=1))
    assert looks < len(X) * 100


@pytest.mark.parametrize("bits", BITS)
def test_scores_have_the_same_bits_at_every_level(bits):
    W, b, X = grouped(400, 101, n=7)
    head, found, before = packed(W, b, bits), [], _native.level()
    for level in _native.levels():
        _native.set_level(level)
        found.append((head.scores(X, slice(0, 400)), *head.top(X, 3)[:2]))
    _native.set_level(before)
    for others in found[1:]:
        for mine, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("bits", BITS)
@given(
    k=st.integers(1, 700), d=st.integers(1, 100), top=st.integers(1, 6), n=st.integers(1, 9), seed=st.integers(0, 99)
)
def test_the_best_are_found_for_any_shape(bits, k, d, top, n, seed):
    W, b, X = grouped(k, d, n=n, seed=seed)
    head, top = packed(W, b, bits), min(top, k)
    S = head.scores(X, slice(0, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_weights, "CLASSES", 0)
        found, scores, _ = head.top(X, top)
    # What is left out by chance is seldom, and then nearly as good.
    np.testing.assert_allclose(scores, -np.sort(-S, axis=1)[:, :top], atol=0.15 * S.std() + 1e-4)
    np.testing.assert_array_equal(scores, np.take_along_axis(S, found, axis=1))


def test_the_number_of_threads_and_of_rows_changes_no_bit():
    W, b, X = grouped(2500, 96, n=300)
    with mc.threads(1):
        one, head = packed(W, b, 16), packed(W, b, 8)
        alone = head.top(X, 4)
    with mc.threads(3):
        three, several = packed(W, b, 16), head.top(X, 4)
        singly = [head.top(X[i : i + 1], 4) for i in range(20)]
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, vars(three)[name], err_msg=name)
    for mine, other in zip(alone, several, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(np.concatenate([found for found, _, _ in singly]), alone[0][:20])


def test_of_equal_scores_the_first_class_wins():
    W, b, X = grouped(300, 64)
    head = packed(np.concatenate([W, W]), np.concatenate([b, b]), 8)
    found = head.top(X, 2)[0]
    np.testing.assert_array_equal(found[:, 1], found[:, 0] + 300)


def test_classes_of_few_large_weights_are_never_ruled_out():
    W, b, X = grouped(2500, 128)
    W[7] = 0
    W[7, 3] = 60  # errors of one weight do not average
    X[:, 3] = 40
    head = packed(W, b, 8)
    assert head.rough[7] > 1e20
    assert np.median(head.rough) < 1e3
    np.testing.assert_array_equal(head.top(X, 5)[0], best(head.scores(X, slice(0, 2500)), 5))


def test_rows_of_few_large_entries_are_scored_by_all_weights():
    W, b, X = grouped(2500, 128, n=3)
    X[1] = 0
    X[1, 5] = 10
    X[2] = 0
    head = packed(W, b, 8)
    assert head.top(X[1:2], 5)[2] == 2500
    np.testing.assert_array_equal(head.top(X, 5)[0], best(head.scores(X, slice(0, 2500)), 5))


@pytest.mark.parametrize("size", [1e-12, 1e12, 1e25])
def test_rows_and_weights_may_be_tiny_and_huge(size):
    W, _b, X = grouped(500, 64)
    head = packed(W, np.zeros(500, np.float32), 8)
    np.testing.assert_array_equal(head.top(np.float32(size) * X, 1)[0], best(head.scores(X, slice(0, 500)), 1))


def test_scores_beyond_float32_are_refused():
    W, b, X = grouped(500, 64)
    with pytest.raises(ValueError, match="finite"):
        packed(W, b, 8).top(np.float32(1e37) * X, 1)


def test_weights_that_are_no_numbers_are_refused_by_the_row():
    W, b, _ = grouped(5000, 16)
    W[4321, 3] = np.nan
    with pytest.raises(ValueError, match="coef must hold finite numbers; row 4321 has"):
        packed(W, b, 8)


def test_the_weights_of_the_user_stay_as_they_are():
    W, b, _ = grouped(300, 32)
    before = W.copy()
    packed(W, b, 8)
    np.testing.assert_array_equal(W, before)


def test_four_bits_choose_the_unit_of_least_error():
    u = np.random.default_rng(0).normal(size=(20, 4000)).astype(np.float32)
    u[0, 0] = 10
    kept = []
    units, spreads = packed_weights._WEIGHTS[4](u, 0, lambda *some: kept.append(some))
    assert (units[1:] > 0.3).all()
    assert (units < 0.45).all()
    assert (spreads < 0.2).all()


@pytest.mark.parametrize("name", ["codes", "weights", "low", "units", "columns", "center"])
def test_arrays_that_do_not_fit_together_are_refused(name):
    W, b, X = grouped(300, 64)
    head = packed(W, b, 16)
    wrong = PackedWeights(**{**vars(head), name: vars(head)[name][1:].copy()})
    with pytest.raises(ValueError, match="must"):
        wrong.top(X, 1)
    with pytest.raises(ValueError, match="must"):
        wrong.scores(X, slice(0, 10))


def test_of_few_classes_all_are_scored_by_their_weights():
    W, b, X = grouped(300, 384)
    assert packed(W, b, 8).top(X, 1)[2] == 300 * len(X)
