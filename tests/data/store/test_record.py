import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.store.format import DTYPES, FileRecord, npy_header


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 2**40), max_size=8))
def test_numpy_reads_our_header(dtype, shape):
    header = npy_header(dtype, tuple(shape))
    stream = io.BytesIO(header)
    assert np.lib.format.read_magic(stream) == (1, 0)
    assert np.lib.format.read_array_header_1_0(stream) == (tuple(shape), False, np.dtype(dtype))
    assert stream.tell() == len(header)
    assert len(header) % 64 == 0


@pytest.mark.parametrize("shape", [(0, 1), (10**18, 10**6), (2**62, 1)])
def test_the_header_of_rows_has_one_length_however_many_they_are(shape):
    assert len(npy_header("<f4", shape)) == 128


def test_a_record_comes_back_as_it_was():
    record = FileRecord.of_array("y-0.npy", np.arange(7))
    assert FileRecord.from_json(record.json()) == record
    assert record.span(0) == (128, 184)
