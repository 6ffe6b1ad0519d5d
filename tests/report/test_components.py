"""Parts of sections: captions, legends, and what is folded away."""

from types import SimpleNamespace

from manyclass.report.components import add_caption, color_of, fold, legend, paragraph, sign_of
from manyclass.report.figures.svg import SERIES, SIGNS
from manyclass.report.html import Markup


def runs(*names):
    return [SimpleNamespace(name=name, number=number) for number, name in enumerate(names)]


def test_one_run_needs_no_legend():
    assert legend([]) is None
    assert legend(runs("a")) is None


def test_a_legend_names_every_run_with_its_sign_and_color():
    text = legend(runs("a", "<b>"))
    assert text.count("<li>") == 2
    assert f'style="color:var(--series-1)" aria-hidden="true">{SIGNS[1]}</i> &lt;b&gt;' in text


def test_signs_and_colors_begin_again_where_there_are_more_runs():
    many = SimpleNamespace(name="x", number=len(SIGNS) * len(SERIES) + 1)
    assert sign_of(many) == SIGNS[1]
    assert color_of(many) == "color:var(--series-1)"


def test_drawings_have_one_caption_together():
    one, two = Markup("<svg>1</svg>"), Markup("<svg>2</svg>")
    assert add_caption([one], "a < b") == (
        '<figure><div class="chart"><div><svg>1</svg></div></div><figcaption>a &lt; b</figcaption></figure>'
    )
    both = add_caption([one, two], "c", above=Markup("<ul></ul>"))
    assert both.startswith('<figure><ul></ul><div class="charts">')
    assert both.count("<figcaption>") == 1


def test_what_is_folded_opens_by_its_summary():
    assert fold("more & more", paragraph("x")) == "<details><summary>more &amp; more</summary><p>x</p></details>"
