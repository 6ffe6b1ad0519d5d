"""Bars: every name and number is there, and the figure grows with them."""

import re

import pytest

pytest.importorskip("matplotlib")

from manyclass.report.figures.bars import Bar, draw_bars


def height(svg):
    return float(re.search(r'viewBox="0 0 \S+ (\S+)"', svg)[1])


def test_names_and_numbers_are_written_and_escaped():
    svg = draw_bars("k", "who is right", [Bar("<a>", 0, 0.9, "90 %"), Bar("b", 1, 0.5, "50 %", (0.4, 0.6))])
    assert all(text in svg for text in ("&lt;a&gt;", ">b<", ">90 %<", ">50 %<", 'aria-label="who is right"'))
    assert "var(--series-0)" in svg
    assert "var(--series-1)" in svg


def test_more_bars_take_more_room():
    few, many = (draw_bars("k", "", [Bar("a", i, 1.0, "1") for i in range(n)]) for n in (2, 12))
    assert height(many) - height(few) == pytest.approx(26 * 10, abs=2)


@pytest.mark.parametrize("interval", [None, (0.0, 0.0)])
def test_bars_of_no_length_can_be_drawn(interval):
    assert ">0 %<" in draw_bars("k", "", [Bar("a", 0, 0.0, "0 %", interval)])


def test_a_long_name_is_cut():
    assert "…" in draw_bars("k", "", [Bar("a" * 50, 0, 1.0, "1")])


@pytest.mark.parametrize("interval", [None, (0.0, 1e308), (-1e308, 1e308)])
def test_the_largest_numbers_can_be_drawn(interval):
    assert ">much<" in draw_bars("k", "", [Bar("a", 0, 1e308, "much", interval), Bar("b", 0, 1.0, "1")])


def test_whole_numbers_of_more_bits_than_c_has_can_be_drawn():
    assert ">much<" in draw_bars("k", "", [Bar("a", 0, 2**64, "much"), Bar("b", 0, 1, "1")])
