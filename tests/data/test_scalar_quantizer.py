"""ScalarQuantizer and ScalarMatrix: one small integer per number."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import manyclass as mc

BITS = pytest.mark.parametrize("bits", [4, 8])


def shifted(seed, n, d):
    """Columns of all signs, sizes and offsets; some are constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 6, d) + rng.integers(-3, 4, d)
    X[:, rng.random(d) < 0.2] = rng.integers(-2, 3)
    return X.astype(np.float32)


@BITS
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_values_come_back_within_half_a_step(bits, n, d, seed):
    X = shifted(seed, n, d)
    quantizer = mc.ScalarQuantizer(bits).fit(X)
    assert (np.abs(quantizer.encode(X).toarray() - X) <= quantizer.scale_ * 0.501 + np.abs(X) * 1e-6).all()


@BITS
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_the_steps_span_the_range_and_zero(bits, n, d, seed):
    X = shifted(seed, n, d)
    reach = np.maximum(X.max(axis=0), 0) - np.minimum(X.min(axis=0), 0)
    scale = mc.ScalarQuantizer(bits).fit(X).scale_
    np.testing.assert_allclose(scale[reach > 0] * (2**bits - 1), reach[reach > 0], rtol=1e-6)


@BITS
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_zero_comes_back_as_exactly_zero(bits, d, seed):
    quantizer = mc.ScalarQuantizer(bits).fit(shifted(seed, 20, d))
    Xq = quantizer.encode(np.zeros((2, d)))
    np.testing.assert_array_equal(Xq.toarray(), np.zeros((2, d)))
    np.testing.assert_array_equal(Xq @ np.ones(d), [0, 0])


@BITS
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_decoded_rows_have_the_same_codes(bits, d, seed):
    Xq = mc.ScalarQuantizer(bits).fit(shifted(seed, 20, d)).encode(shifted(seed + 1, 20, d))
    np.testing.assert_array_equal(Xq.quantizer.encode(Xq.toarray()).codes, Xq.codes)


@BITS
@pytest.mark.parametrize("value", [0.0, 3.25, -7.0, 1e-44, 1e30])
def test_constant_columns_come_back(bits, value):
    X = np.full((3, 2), value, np.float32)
    np.testing.assert_allclose(mc.ScalarQuantizer(bits).fit(X).encode(X).toarray(), X, rtol=1e-6, atol=1e-38)


@BITS
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
@example([float(np.finfo(np.float32).max)])
@example([float(np.finfo(np.float32).max), float(np.finfo(np.float32).min)])
def test_a_column_is_refused_or_every_code_of_it_decodes_to_a_number(bits, column):
    try:
        quantizer = mc.ScalarQuantizer(bits).fit(np.array(column)[:, None])
    except ValueError:
        assert max(map(abs, column)) > 3e38
        return
    assert np.isfinite(quantizer.decode(np.array([[0], [2**bits - 1]], np.uint8))).all()


@BITS
def test_values_outside_the_range_are_clipped(bits):
    quantizer = mc.ScalarQuantizer(bits).fit([[-1.0, 0.0], [1.0, 2.0]])
    far = quantizer.encode(np.array([[-3e38, -3e38], [3e38, 3e38]], np.float32)).toarray()
    np.testing.assert_allclose(far, [[-1, 0], [1, 2]], atol=0.15)


def test_the_range_is_that_of_all_rows_however_many():
    X = np.zeros((70_000, 64), np.float32)
    X[-1, 5], X[40_000, 5] = 200, -55
    np.testing.assert_allclose(mc.ScalarQuantizer().fit(X).encode(X[[-1, 40_000]]).rows([0, 1])[:, 5], [200, -55])


@pytest.mark.parametrize(("bits", "d", "expected"), [(8, 5, 5), (4, 5, 3), (4, 6, 3), (4, 1, 1)])
def test_a_row_takes_as_many_bytes_as_promised(bits, d, expected):
    Xq = mc.ScalarQuantizer(bits).fit(np.ones((2, d))).encode(np.ones((7, d)))
    assert Xq.codes.shape == (7, expected)
    assert Xq.nbytes == 7 * expected


def test_of_four_bits_the_earlier_column_is_in_the_low_half():
    codes = mc.ScalarQuantizer(4).fit([[15.0, 15.0, 15.0]]).encode([[1.0, 2.0, 3.0]]).codes
    np.testing.assert_array_equal(codes, [[0x21, 0x03]])


@BITS
def test_the_state_makes_the_same_quantizer(bits):
    X = shifted(0, 20, 5)
    quantizer = mc.ScalarQuantizer(bits).fit(X)
    again = mc.ScalarQuantizer.from_state(*quantizer.state())
    np.testing.assert_array_equal(again.encode(X).codes, quantizer.encode(X).codes)
    np.testing.assert_array_equal(again.decode(quantizer.encode(X).codes), quantizer.encode(X).toarray())


def test_fitting_again_leaves_encoded_rows_alone():
    quantizer = mc.ScalarQuantizer().fit([[1.0, 2.0]])
    Xq = quantizer.encode([[1.0, 2.0]])
    quantizer.fit([[9.0, 9.0, 9.0]])
    np.testing.assert_allclose(Xq.toarray(), [[1, 2]])
    np.testing.assert_allclose(Xq @ np.ones(2), [3])


SCALE, ZERO = np.ones(2, np.float32), np.zeros(2, np.uint8)


@pytest.mark.parametrize(
    ("settings", "arrays", "message"),
    [
        ({"bits": 5}, {"scale": SCALE, "zero": ZERO}, "bits must be 4 or 8; got 5"),
        ({"bits": "8"}, {"scale": SCALE, "zero": ZERO}, "bits must be a whole number"),
        ({"bits": True}, {"scale": SCALE, "zero": ZERO}, "bits must be a whole number"),
        ({}, {"scale": SCALE, "zero": ZERO}, "a scalar quantizer must have the setting bits"),
        ({"bits": 8}, {"scale": SCALE}, "a scalar quantizer must have the setting bits"),
        ({"bits": 8}, {"scale": SCALE[:1], "zero": ZERO}, "scale and zero must be vectors of one length"),
        ({"bits": 8}, {"scale": SCALE.astype(float), "zero": ZERO}, "scale and zero must be vectors of one length"),
        ({"bits": 8}, {"scale": SCALE * 0, "zero": ZERO}, "scale must be finite and positive"),
        ({"bits": 8}, {"scale": SCALE * np.float32(np.nan), "zero": ZERO}, "scale must be finite and positive"),
        ({"bits": 8}, {"scale": SCALE[:0], "zero": ZERO[:0]}, "scale and zero must be vectors of one length"),
        ({"bits": 8}, {"scale": SCALE * np.float32(1e37), "zero": ZERO}, "scale must be finite and positive"),
        ({"bits": 4}, {"scale": SCALE, "zero": ZERO + 16}, r"scale must be finite and positive, .* zero at most 15"),
    ],
)
def test_a_state_that_cannot_be_right_is_refused(settings, arrays, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        mc.ScalarQuantizer.from_state(settings, arrays)


@pytest.mark.parametrize("bits", [0, 2, 16, 8.5, "8"])
def test_bits_are_four_or_eight(bits):
    with pytest.raises(ValueError, match=r"^bits must be 4 or 8; got"):
        mc.ScalarQuantizer(bits)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda q: q.encode([[1.0]]), "X must have 2 columns, as in fit; got shape"),
        (lambda q: q.encode([[1.0, 0.0], [np.nan, 1.0]]), "X must hold finite numbers; row 1 has NaN or infinity"),
        (lambda q: q.fit([[np.inf, 1.0]]), "X must hold finite numbers; row 0 has NaN or infinity"),
        (lambda q: q.fit(np.zeros((0, 2))), r"X must have at least one row and one column; got shape \(0, 2\)"),
        (lambda q: q.fit(np.zeros((4, 0))), r"X must have at least one row and one column; got shape \(4, 0\)"),
        (
            lambda q: q.fit([[1.0, 1e39]]),
            r"X must hold numbers that float32 can hold, .*; column 1 goes from 0 to 1e\+39",
        ),
        (lambda q: q.fit([[0, 1e300]]), "X must hold numbers that float32 can hold"),
        (lambda q: q.fit([[-1e308, 0], [1e308, 0]]), "X must hold numbers that float32 can hold"),
        (lambda q: q.matrix(np.zeros((2, 3), np.uint8)), r"codes must be bytes of shape \(n, 2\); got uint8 of shape"),
        (lambda q: q.matrix(np.zeros((2, 2))), r"codes must be bytes of shape \(n, 2\); got float64 of shape"),
        (lambda q: mc.ScalarQuantizer().encode([[1.0]]), r"the ScalarQuantizer must be fitted first; call fit\(X\)"),
        (lambda q: mc.ScalarQuantizer().state(), r"the ScalarQuantizer must be fitted first; call fit\(X\)"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(act, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        act(mc.ScalarQuantizer().fit([[1.0, 2.0]]))


@pytest.mark.parametrize(("offset", "told"), [(0, []), (100, []), (1e4, ["subtract the mean of X from its rows"])])
def test_columns_so_far_from_zero_that_few_codes_are_left_are_told_of(offset, told):
    X = np.random.default_rng(0).standard_normal((100, 5)).astype(np.float32) + offset
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mc.ScalarQuantizer().fit(X)
    assert [str(one.message).split("; ")[1] for one in caught] == told
