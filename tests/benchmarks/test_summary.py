"""The page over all benchmarks says what the others say."""

import re
from pathlib import Path

import pytest

from benchmarks.__main__ import ALL
from benchmarks.summary import LINES, _whole_fits, number, summary, write_summary
from benchmarks.written import WrittenTable, read_page, read_pages

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"


def test_every_benchmark_is_on_the_page():
    assert list(LINES) == list(ALL)


def test_the_page_is_what_the_others_give():
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == summary(read_pages(FOLDER, list(LINES)))


@pytest.mark.parametrize("name", ALL)
def test_times_stand_on_the_page_of_the_benchmark(name):
    page = read_page(FOLDER / f"{name}.md")
    cells = {cell for table in page.tables for row in table.rows for cell in row}
    for _, _, ours, _, theirs, _ in LINES[name](page):
        for time in filter(None, (ours, theirs)):
            assert (
                time in cells or {part.removesuffix(" s").removesuffix(" right") for part in time.split(", ")} <= cells
            )


@pytest.mark.parametrize("name", ALL)
def test_a_ratio_is_the_time_of_the_peer_over_ours(name):
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0}

    def seconds(time):
        found = re.match(r"(?:> )?([\d.]+) (us|ms|s)", time)
        return float(found[1]) * units[found[2]]

    for what, _, ours, _, theirs, ratio in LINES[name](read_page(FOLDER / f"{name}.md")):
        if ratio:
            # Times are rounded for the page, some to two digits.
            assert number(ratio.removeprefix("> ")) == pytest.approx(seconds(theirs) / seconds(ours), rel=0.06), what


def test_pages_measured_on_other_machines_are_told_apart(tmp_path):
    for name, version in (("path", "0.1.0"), ("exemplar", "0.2.0"), ("search", "0.2.0")):
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        (tmp_path / f"{name}.md").write_text(text.replace("manyclass 0.1.0", f"manyclass {version}"), encoding="utf-8")
    text = write_summary(tmp_path).read_text(encoding="utf-8")
    assert "- path: measured with manyclass 0.1.0" in text
    assert "- exemplar, search: measured with manyclass 0.2.0" in text
    assert "(features.md)" not in text


def test_whole_fits_are_compared_by_their_means_and_what_is_not_installed_is_left_out():
    columns = ["whole fit", "mean seconds", "least", "mean test accuracy", "least accuracy", "times as long as ours"]
    rows = [
        ["StochasticClassifier()", "0.250", "0.210", "93.20%", "92.90%", ""],
        ["LogisticRegression", "1.400", "1.200", "91.70%", "91.70%", "5.6"],
        ["snapml", "not installed", "", "", "", ""],
    ]
    (line,) = _whole_fits(WrittenTable("As it is, features of a.npz: 3030 x 1280", columns, rows))
    assert line[2:] == ("0.250 s, 93.20% right", "LogisticRegression", "1.400 s, 91.70% right", "5.6")
