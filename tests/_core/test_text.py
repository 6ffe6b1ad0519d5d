"""Amounts and names as people write them, where the examples of the docstrings end."""

import pytest

from manyclass._core.text import (
    did_you_mean,
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_seconds,
    join_names,
    number_at,
    pluralize,
    printable,
    shorten,
)


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),  # never 1000.0 kB
        (999_950_000, "1.0 GB"),
        (5e15, "5000.0 TB"),
    ],
)
def test_bytes_change_their_unit_before_there_are_four_digits(n_bytes, words):
    assert format_bytes(n_bytes) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 ms"), (1, "1.0 s"), (60, "1 min 0 s"), (3599.9, "59 min 59 s"), (7322, "122 min 2 s")],
)
def test_seconds_become_minutes(seconds, words):
    assert format_seconds(seconds) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (123_456, "1.235e+05"),
        (10**15, "1000000000000000"),
        (float("nan"), "nan"),
        ([1], "[1]"),
    ],
)
def test_a_number_has_four_digits_and_all_else_is_as_it_is(value, words):
    assert format_number(value) == words


def test_what_is_not_known_is_a_dash_everywhere():
    assert {format_percent(None), format_count(None), format_number(None)} == {"\u2013"}


def test_two_names_need_no_comma():
    assert join_names(["a", "b"]) == "a and b"


def test_nothing_is_plural():
    assert pluralize(0, "row") == "0 rows"


def test_a_name_of_several_lines_becomes_one():
    assert printable("a\nb\tc\u200b") == "a b c\ufffd"


@pytest.mark.parametrize("most", [2, 3, 9, 25, 26, 40])
def test_a_short_name_is_no_longer_than_asked_and_keeps_its_end(most):
    name = "abcdefghijklmnopqrstuvwxyz"
    short = shorten(name, most)
    assert len(short) == min(most, len(name))
    assert short.endswith("z")
    assert ("…" in short) == (most < len(name))


@pytest.mark.parametrize("value", [True, "3", None, [3]])
def test_what_is_no_number_is_none(value):
    assert number_at({"x": value}, "x") is None


def test_a_word_spelled_as_nothing_known_has_no_advice():
    assert did_you_mean("slem", []) == ""
