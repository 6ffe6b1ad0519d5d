import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from manyclass.data.readers.parquet_stream import ColumnStream, stream_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def path(tmp_path):
    table = pa.table({"number": np.arange(1000), "other": np.zeros(1000)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=300)
    return tmp_path / "a.parquet"


def value(stream, row):
    first, batch = stream.batch(row)
    return batch[row - first].as_py()


def test_rows_are_found_in_any_order(path):
    stream = ColumnStream(path, "number", 64)
    rows = np.random.default_rng(0).permutation(1000).tolist()
    assert [value(stream, row) for row in rows] == rows


def test_rows_in_order_are_read_once(path, monkeypatch):
    stream, begun = ColumnStream(path, "number", 64), []
    read_from = ColumnStream._read_from
    monkeypatch.setattr(ColumnStream, "_read_from", lambda self, group: begun.append(group) or read_from(self, group))
    assert [value(stream, row) for row in range(1000)] == list(range(1000))
    assert begun == [0]


def test_threads_share_a_stream(path):
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda row: value(stream_of(str(path), "number", 16), row), range(1000))) == [*range(1000)]


def test_a_process_keeps_few_streams(tmp_path, path):
    paths = [tmp_path / f"{i}.parquet" for i in range(9)]
    for one in paths:
        one.write_bytes(path.read_bytes())
    streams = [stream_of(str(one), "number", 16) for one in paths]
    assert stream_of(str(paths[-1]), "number", 16) is streams[-1]
    assert stream_of(str(paths[0]), "number", 16) is not streams[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_reads_for_itself(path):
    mine = stream_of(str(path), "number", 16)
    assert value(mine, 5) == 5
    child = os.fork()
    if not child:
        theirs = stream_of(str(path), "number", 16)
        os._exit(0 if theirs is not mine and value(theirs, 999) == 999 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert value(mine, 6) == 6
