"""Parts of a piece of work: a partition, in order, at multiples; and what a part says of itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass import __version__
from manyclass._core.errors import SettingsError, StorageError
from manyclass._core.shards import Shard, ShardRecord, library_versions


@given(n=st.integers(0, 500), count=st.integers(1, 40), multiple=st.integers(1, 30))
def test_spans_are_a_partition_in_order_that_begins_at_multiples_and_is_even(n, count, multiple):
    spans = [Shard(i, count).span(n, multiple) for i in range(1, count + 1)]
    assert [position for span in spans for position in span] == list(range(n))
    assert all(span.start % multiple == 0 or span.start == n for span in spans)
    groups = [-(-len(span) // multiple) for span in spans]
    assert max(groups) - min(groups) <= 1


def test_of_more_parts_than_things_some_are_empty():
    assert [len(Shard(i, 5).span(3)) for i in range(1, 6)] == [0, 1, 0, 1, 1]


def test_a_part_is_written_as_two_numbers():
    assert (Shard.parse("3/16"), Shard.parse(Shard(3, 16)), str(Shard(3, 16))) == (Shard(3, 16), Shard(3, 16), "3/16")


@pytest.mark.parametrize(
    "text", ["", "3", "0/4", "5/4", "-1/4", "1/0", "1/4/2", "a/b", " 1/4", "1/2\n", "\u0661/\u0662", 3, None]
)
def test_anything_else_is_refused_in_one_sentence(text):
    with pytest.raises(SettingsError, match=r"`classes` must be i/n with i from 1 to n, such as 3/16; got"):
        Shard.parse(text, "classes")


def test_a_shard_that_cannot_be_is_refused():
    with pytest.raises(SettingsError, match="got '5/4'"):
        Shard.parse(Shard(5, 4))


def record(**changed):
    return {"number": 2, "count": 3, "first": 4, "stop": 8, "total": 10, "whole": {"seed": 0}, **changed}


def test_a_record_is_read_as_it_was_written():
    written = ShardRecord.of(Shard(2, 3), range(4, 8), 10, {"seed": 0})
    assert written.json() == record()
    assert ShardRecord.from_json(record()) == written


@pytest.mark.parametrize(
    "value",
    [
        None, [], {}, record(more=1), record(whole=[]), record(number=0), record(number=4), record(count=2.0),
        record(first=9), record(stop=11), record(first=-1), record(total=True), record(number="2"),
    ],
)  # fmt: skip
def test_a_record_that_no_part_of_ours_has_is_refused(value):
    with pytest.raises(StorageError, match="a part must"):
        ShardRecord.from_json(value)


def test_versions_are_those_of_what_is_installed():
    assert library_versions(("PIL",)).keys() == {"manyclass", "numpy", "PIL"}
    assert library_versions(()) == {"manyclass": __version__, "numpy": np.__version__}
