"""Shapes of JSON: what fits is given back plain, and what does not is named with its place."""

import numpy as np
import pytest

from manyclass.runs.record_shapes import (
    anything,
    boolean,
    count,
    digest,
    fraction,
    having,
    list_of,
    name,
    number,
    object_of,
    optional,
    text,
)


@pytest.mark.parametrize(
    ("shape", "value", "plain"),
    [
        (text, "x", "x"),
        (name, np.int64(3), "3"),
        (boolean, np.bool_(True), True),
        (number, np.float32(0.5), 0.5),
        (count, 3.0, 3),
        (fraction, 1, 1.0),
        (optional(count), None, None),
        (list_of(count), (1, 2), [1, 2]),
        (anything, {"a": [np.int8(1), None, True]}, {"a": [1, None, True]}),
        (object_of(class_=name, note=optional(text)), {"class": 1, "more": 2}, {"class": "1", "note": None, "more": 2}),
        (having(anything, rank=count), {"rank": 2}, {"rank": 2}),
    ],
)
def test_what_fits_is_given_back_plain(shape, value, plain):
    found = shape(value, "here")
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(
    ("shape", "value", "words"),
    [
        (text, 3, "here must be text; got 3"),
        (name, True, "here must be a name; got True"),
        (boolean, 1, "here must be true or false; got 1"),
        (number, float("nan"), "here must be a finite number or null; got nan"),
        (count, -1, "here must be a whole number, at least 0; got -1"),
        (fraction, 1.5, "here must be a share from 0 to 1; got 1.5"),
        (digest, "abc", "here must be a SHA-256 in 64 digits; got abc"),
        (list_of(count), [1, "x"], r"here\[1\] must be a number; got x"),
        (object_of(rows=count), {"row": 1}, "here must have the entry 'rows'; got row"),
        (anything, object(), "here must be what JSON can hold; got object"),
        (having(anything, rank=count), {"rank": 0.5}, "here.rank must be a whole number"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(shape, value, words):
    with pytest.raises(ValueError, match=words):
        shape(value, "here")
