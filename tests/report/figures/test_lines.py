"""Lines: axes by factors where values spread, whole ticks where values are whole, a ring around what was chosen."""

import re

import pytest

pytest.importorskip("matplotlib")

from manyclass.report.figures.lines import Axis, Curve, draw_lines, is_wide


def drawn(x, y, log=False, chosen=None):
    return draw_lines("k", "d", [Curve("a", 1, x, y, chosen)], Axis("epoch", log), Axis("accuracy < 1"))


def words(svg):
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_axes_are_named_and_the_line_has_its_color():
    svg = drawn([1, 2, 3], [0.1, 0.2, 0.3])
    assert {"epoch", "accuracy &lt; 1"} <= set(words(svg))
    assert "var(--series-1)" in svg
    assert "var(--series-0)" not in svg


def test_ticks_of_whole_numbers_are_whole():
    assert {"1", "2"} <= set(words(drawn([1, 2], [0.1, 0.15])))
    assert "1.5" not in words(drawn([1, 2], [0.1, 0.15]))
    assert "1.5" in words(drawn([1, 2.5], [0.1, 0.15]))


def test_no_tick_is_above_what_values_can_be():
    def ticks(most):
        svg = draw_lines("k", "d", [Curve("a", 1, [1, 2], [100, 100])], Axis("epoch"), Axis("accuracy", most=most))
        return [float(word) for word in words(svg) if word.isdigit()]

    assert max(ticks(100)) == 100 < max(ticks(None))


def test_factors_are_written_as_plain_numbers():
    assert {"1", "100", "10000"} <= set(words(drawn([1, 100, 10_000], [0.1, 0.2, 0.3], log=True)))


def test_a_chosen_point_has_one_mark_more():
    plain, ringed = (drawn([1, 2, 3], [3, 2, 1], chosen=chosen).count("<use") for chosen in (None, 1))
    assert ringed == plain + 1


@pytest.mark.parametrize("n", [1, 25, 26, 1000])
def test_a_long_line_has_few_marks(n):
    svg = drawn(range(n), range(n))
    assert svg.count("<use") - drawn([], []).count("<use") <= 25 + 12  # and the ticks


@pytest.mark.parametrize(("values", "wide"), [([], False), ([1, 20], False), ([1, 21], True), ([-1, 50], False)])
def test_values_are_wide_from_a_factor_of_twenty_on(values, wide):
    assert is_wide(values) is wide


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("far", [[1e308, 1.0], [1.0, 1e308, 5.0], [1e308, 1e308], [1e-308, 1e308]])
def test_the_largest_numbers_can_be_drawn(far, log):
    places = list(range(1, 1 + len(far)))
    assert "var(--series-1)" in drawn(places, far)
    assert "var(--series-1)" in drawn(far, places, log=log)
