"""Parts are all of one whole, or a sentence says what is wrong with them."""

from itertools import permutations
from pathlib import Path

import pytest

from manyclass._core.errors import StorageError
from manyclass._core.shards import Shard, ShardRecord
from manyclass.runs.joining.parts import Part, in_order

WHOLE = {"features": {"seed": 0, "encoder": "e"}, "labels": "y", "versions": {"numpy": "2"}}


def part(number, count, name=None, whole=WHOLE, span=None, total=10):
    shard = Shard(number, count)
    record = ShardRecord.of(shard, shard.span(10) if span is None else span, total, whole)
    return Part(Path(name or f"part{number}"), record, record.stop - record.first)


def test_they_come_in_their_order_however_they_are_given():
    parts = [part(i, 4) for i in range(1, 5)]
    assert all(in_order(given) == parts for given in permutations(parts))


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([1, 3, 4], "part 2/4 is missing; make it, and give it with the others"),
        ([2, 3], "parts 1/4 and 4/4 are missing; make them, and give them with the others"),
        ([4], "parts 1/4, 2/4 and 3/4 are missing; make them, and give them with the others"),
    ],
)
def test_missing_ones_are_named(there, said):
    with pytest.raises(StorageError) as error:
        in_order(part(i, 4) for i in there)
    assert str(error.value) == said


def test_of_many_missing_ones_some_are_named():
    with pytest.raises(StorageError, match="parts 1/16, 2/16, 3/16, 4/16, 5/16 and 10 more are missing"):
        in_order([part(16, 16)])


def test_a_count_that_somebody_mistyped_takes_no_memory():
    count = 10**15
    with pytest.raises(StorageError, match=f"parts 2/{count}, .* and 999,999,999,999,994 more are missing"):
        in_order([part(1, count)])


def test_the_same_part_twice_is_refused():
    with pytest.raises(StorageError, match="part1 and copy are both part 1/2; leave one of them out"):
        in_order([part(1, 2), part(2, 2), part(1, 2, "copy")])


def test_parts_of_two_divisions_are_refused():
    with pytest.raises(StorageError, match="part1 is part 1/2 and part2 is part 2/3"):
        in_order([part(1, 2), part(2, 3)])


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        ({**WHOLE, "features": {"seed": 1, "encoder": "e"}}, r"differ in seed \(0 and 1\)$"),
        ({**WHOLE, "features": {"seed": 0, "encoder": "f"}}, r"differ in encoder \(e and f\); machines may learn"),
        ({**WHOLE, "labels": "z"}, "differ in labels"),
        ({**WHOLE, "versions": {"numpy": "3"}}, r"differ in numpy \(2 and 3\); make all parts with the same versions"),
        ({**WHOLE, "more": 1}, "differ in more"),
        ({}, "differ in features"),
    ],
)
def test_what_differs_is_named(whole, said):
    with pytest.raises(StorageError, match=f"part1 and part2 are not parts of one whole: they {said}"):
        in_order([part(1, 2), part(2, 2, whole=whole)])


def test_parts_that_leave_a_gap_or_end_early_are_refused():
    with pytest.raises(StorageError, match="part2 must begin at 5"):
        in_order([part(1, 2), part(2, 2, span=range(6, 10))])
    with pytest.raises(StorageError, match="the parts must have all 10; they end at 9"):
        in_order([part(1, 2), part(2, 2, span=range(5, 9))])
    with pytest.raises(StorageError, match="differ in total"):
        in_order([part(1, 2), part(2, 2, total=11)])


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        ({}, "p is no part: it was made without `shard`"),
        ({"shard": 3}, "p cannot be read as a part: a part must be described by"),
        ({"shard": part(1, 2).record.json()}, "p was changed since it was made: it has 4 of its 5 images"),
    ],
)
def test_a_folder_that_is_no_part_is_refused(provenance, said):
    with pytest.raises(StorageError, match=said):
        Part.of(Path("p"), provenance, 4)
