"""Values as JSON and arrays, and back."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass._core.sealed import decode_value, encode_value

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def there_and_back(value):
    arrays = {}
    text = json.dumps(encode_value(value, "x", arrays), allow_nan=False)
    return decode_value(json.loads(text), arrays)


@given(TREES)
def test_nested_values_come_back_with_their_types(value):
    found = there_and_back(value)
    assert found == value
    assert repr(found) == repr(value)


def test_nan_comes_back():
    assert math.isnan(there_and_back(float("nan")))


@pytest.mark.parametrize("value", [np.float32(0.1), np.int64(-3), np.uint8(3), np.bool_(True), np.float64("inf")])
def test_scalars_of_numpy_keep_their_type(value):
    found = there_and_back(value)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "é" * 9, ""]),
        np.array(["a", 3, None, 2.5, (1, 2)], object),
        np.array([["a"], ["b"]]),
        np.array([-(2**63), 2**63 - 1]),
        np.array([2**64 - 1], np.uint64),
        np.array([1, 2], ">i4"),
        np.array([True, False]),
        np.array([0.5, -0.0, np.nan], np.float16),
        np.zeros((0, 3), np.float32),
    ],
    ids=lambda array: array.dtype.str,
)
def test_arrays_keep_their_dtype_shape_and_items(array):
    found = there_and_back(array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_arrays_inside_of_others_have_names_of_their_own():
    U, V = np.ones((3, 2)), np.zeros((2, 4))
    arrays = {}
    encode_value((U, [V, U]), "factors_", arrays)
    assert {name: A.shape for name, A in arrays.items()} == {
        "factors_.0": (3, 2), "factors_.1.0": (2, 4), "factors_.1.1": (3, 2),
    }  # fmt: skip


@pytest.mark.parametrize("value", [print, {1, 2}, 1j, np.array([1j]), np.datetime64("2020-01-01"), [object()]])
def test_what_cannot_be_kept_is_refused_by_name(value):
    with pytest.raises(TypeError, match=r"^x(\.0)? must .* to be saved; got "):
        encode_value(value, "x", {})


def test_two_keys_of_the_same_spelling_keep_their_arrays_apart():
    value = {1: np.zeros(2), "1": np.ones(3)}
    found = there_and_back(value)
    assert [found[1].tolist(), found["1"].tolist()] == [[0, 0], [1, 1, 1]]
