"""Shapes of records: what fits is given back in plain types, what does not is refused with its place."""

import numpy as np
import pytest

from manyclass.runs.record_shapes import anything, count, fraction, having, list_of, name, number, object_of, optional


def test_scalars_of_numpy_become_plain_numbers():
    shape = object_of(rows=count, share=fraction, more=anything)
    found = shape({"rows": np.int32(3), "share": np.float32(0.5), "more": [np.int64(1)]}, "x")
    assert found == {"rows": 3, "share": 0.5, "more": [1]}
    assert [type(value) for value in (found["rows"], found["more"][0])] == [int, int]


@pytest.mark.parametrize(
    ("shape", "value", "said"),
    [
        (count, -1, "x must be a whole number, at least 0; got -1"),
        (number, float("nan"), "x must be a finite number or null; got nan"),
        (fraction, 1.5, "x must be a share from 0 to 1; got 1.5"),
        (list_of(count), [1, "a"], r"x\[1\] must be a number; got a"),
        (name, True, "x must be a name; got True"),
        (object_of(a=count), {}, "x must have the entry 'a'; got None"),
        (having(object_of(), a=count), {"a": "b"}, "x.a must be a number; got b"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(shape, value, said):
    with pytest.raises(ValueError, match=said):
        shape(value, "x")


def test_what_may_be_absent_is_none():
    assert object_of(a=optional(count))({}, "x") == {"a": None}
