"""Heat maps: a title for every cell that there is, numbers where they can be read, a frame around the chosen."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from manyclass.report.figures.heatmap import _readable, draw_heatmap


def drawn(values, chosen=None):
    values = np.asarray(values, float)
    columns, rows = ([str(i) for i in range(n)] for n in values.shape[::-1])
    return draw_heatmap("k", "", values, ("trace", columns), ("ridge", rows), lambda v: f"<{v:.1f}>", chosen)


def titles(svg):
    return re.findall("<title>(.*?)</title>", svg)


def test_every_cell_says_its_settings_and_its_value():
    assert titles(drawn([[0.1, 0.2], [0.3, 0.4]], chosen=(1, 0))) == [
        "ridge 0, trace 0: &lt;0.1&gt;",
        "ridge 0, trace 1: &lt;0.2&gt;",
        "ridge 1, trace 0: &lt;0.3&gt;, chosen",
        "ridge 1, trace 1: &lt;0.4&gt;",
    ]


def test_what_is_not_known_is_a_gap():
    assert titles(drawn([[0.1, np.nan]])) == ["ridge 0, trace 0: &lt;0.1&gt;"]


@pytest.mark.parametrize(("columns", "written"), [(10, True), (11, False)])
def test_numbers_are_written_where_they_can_be_read(columns, written):
    svg = re.sub("<title>.*?</title>", "", drawn(np.full((1, columns), 0.5)))
    assert ("&lt;0.5&gt;" in svg) == written


def test_equal_values_and_none_at_all_can_be_drawn():
    assert len(titles(drawn([[1.0, 1.0]]))) == 2
    assert titles(drawn([[np.nan]])) == []


@pytest.mark.parametrize(("color", "text"), [((1, 1, 0), "#000000"), ((0, 0, 0.5), "#ffffff"), ((0, 1, 0), "#000000")])
def test_numbers_stand_out_from_their_cell(color, text):
    assert _readable(color) == text
