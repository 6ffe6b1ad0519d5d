import pytest

from manyclass.data.store.journal import HEADER, Journal, Mark

FIRST = dict.fromkeys(HEADER, 1) | {"dtype": "<f4", "width": 2, "block_bytes": 16, "serial": 0, "rows_name": "X"}
MARKS = [Mark(2, 11, 12), Mark(3, 13, 14), Mark(4, 15, 16), Mark(5, 17, 18)]


@pytest.fixture
def journal(tmp_path):
    journal = Journal.start(tmp_path, FIRST)
    for mark in MARKS:
        journal.add_mark(mark)
    return journal


def test_a_journal_comes_back_as_it_was(tmp_path, journal):
    assert Journal.read(tmp_path) == journal


def test_cut_anywhere_it_gives_the_marks_that_are_whole(tmp_path, journal):
    data = journal.path.read_bytes()
    for cut in range(len(data)):
        journal.path.write_bytes(data[:cut])
        found = Journal.read(tmp_path)
        whole = data[:cut].count(b"\n") - 1
        assert (found.marks if found else None) == (MARKS[:whole] if whole >= 0 else None)


def test_a_flipped_bit_ends_it_before_the_line(tmp_path, journal):
    data = journal.path.read_bytes()
    for bit in range(0, 8 * len(data), 3):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        journal.path.write_bytes(flipped)
        found = Journal.read(tmp_path)
        whole = data[: bit // 8].count(b"\n") - 1
        assert (found.marks if found else None) == (MARKS[:whole] if whole >= 0 else None)


@pytest.mark.parametrize("keep", range(5))
def test_marks_can_be_forgotten_and_written_again(tmp_path, journal, keep):
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b"half a li")
    journal.keep(keep)
    assert Journal.read(tmp_path).marks == MARKS[:keep]
    for mark in MARKS[keep:]:
        journal.add_mark(mark)
    assert journal.path.read_bytes() == whole


def test_the_last_mark_of_a_block_speaks_for_it(journal):
    assert journal.blocks() == [MARKS[0], MARKS[2], MARKS[3]]


def test_no_journal_is_none(tmp_path):
    assert Journal.read(tmp_path) is None
