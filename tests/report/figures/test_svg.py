"""Drawings fit to stand inside a page."""

import re

import pytest

from manyclass.report.figures.svg import SERIES, TEXT, TITLED, draw_svg, inline_svg

PLAIN = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" width="9pt">
 <metadata>when</metadata><defs><style>*{}</style><path id="m1" d="M 0.123456 1"/></defs>
 <g id="titled"><defs><path id="m2" d="M 0 0"/></defs>
 <use xlink:href="#m1" style="fill: #010203"/><use xlink:href="#m2"/></g>
 <g id="free" clip-path="url(#c1)">
 <text style="font-size: 9px; font-family: 'X', 'Y'; fill: #010203">a &lt; b</text></g>
 <clipPath id="c1"/>
</svg>"""


def test_an_inlined_drawing_keeps_shapes_and_loses_the_rest():
    assert inline_svg(PLAIN, "k", "seen & said", ["one", "<two>"], {"#010203": "currentColor"}) == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="seen &amp; said" style="max-width: 11px">'
        '<defs><path d="M 0.12 1" id="k-m1" /></defs>'
        '<g><defs><path d="M 0 0" id="k-m2" /></defs>'
        '<use href="#k-m1" style="fill: currentColor"><title>one</title></use>'
        '<use href="#k-m2"><title>&lt;two&gt;</title></use></g>'
        '<g clip-path="url(#k-c1)"><text style="font-size: 9px; fill: currentColor">a &lt; b</text></g>'
        '<clipPath id="k-c1" /></svg>'
    )


def test_there_must_be_a_title_for_each_mark():
    with pytest.raises(ValueError, match="zip"):
        inline_svg(PLAIN, "k", "", ["one"], {})


def draw(figure):
    chart = figure.subplots()
    chart.scatter([1, 2, 3], [1, 2, 3], color=SERIES[1], gid=TITLED)
    chart.set_xlabel("a label", color=TEXT)


def test_a_drawing_has_colors_of_the_page_and_a_title_for_each_mark():
    svg = draw_svg("key", "three points", 100, draw, ["x", "y", "z"])
    assert re.findall("<title>(.*?)</title>", svg) == ["x", "y", "z"]
    assert "var(--series-1)" in svg
    assert re.findall(r"#[0-9a-f]{6}", svg) == []
    assert "font-family" not in svg


def test_drawings_with_other_keys_share_no_id():
    ids = [set(re.findall(r' id="([^"]*)"', draw_svg(key, "", 100, draw, ["x", "y", "z"]))) for key in ("a", "b")]
    assert ids[0]
    assert not ids[0] & ids[1]
