"""Integers and text from Arrow columns."""

import numpy as np
import pytest

from manyclass.data.readers.parquet import plain

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(2)], ids=str
)
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_text_of_every_kind_is_read(kind, encoded):
    column = pa.chunked_array([pa.array(["ab", "cd"], kind), pa.array(["é"], kind)])
    values = plain(column.dictionary_encode() if encoded else column, "x")
    assert values.dtype.kind == "U"
    assert values.tolist() == ["ab", "cd", "é"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.bool_()], ids=str)
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_integers_keep_their_type(kind, encoded):
    column = pa.chunked_array([pa.array([1, 0]).cast(kind), pa.array([1]).cast(kind)])
    values = plain(column.dictionary_encode() if encoded else column, "x")
    np.testing.assert_array_equal(values, [1, 0, 1])
    assert values.dtype == kind.to_pandas_dtype()


def test_a_gap_in_a_later_chunk_is_named():
    column = pa.chunked_array([["a", "b"], ["c", None]])
    with pytest.raises(ValueError, match=r"^x must have no gaps; row 3 is null$"):
        plain(column, "x")


@pytest.mark.parametrize(
    "values", [[1.5], [{"a": 1}], [["a"]], pa.nulls(1), pa.array([1.5]).dictionary_encode()], ids=str
)
def test_other_kinds_are_refused(values):
    with pytest.raises(ValueError, match=r"^x must be integers or strings; got [a-z]+"):
        plain(pa.chunked_array([pa.array(values)]), "x")


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ValueError, match=r"^x must be text in UTF-8; row 1 is not$"):
        plain(pa.chunked_array([[b"a", b"\xff"]]), "x")
