"""The section on embeddings: every method and difference of the record, with intervals."""

import pytest

from manyclass.report.report_data import ProbeReport, ReportData
from manyclass.report.sections.probe import show_probe
from tests.report.synthetic import probe_record


def body(*records):
    return show_probe(ReportData(probes=[ProbeReport(f"probe {i}", one) for i, one in enumerate(records)])).body


def test_without_a_probe_there_is_no_section():
    assert show_probe(ReportData()) is None


def test_methods_have_intervals_costs_and_settings():
    text = body(probe_record())
    for words in ("70.0 % [65.0, 75.0]", "-10.0 [-15.0, -5.0]", "metric cosine", "2.6 kB", "500.0 ms", "best"):
        assert words in text


def test_embeddings_are_compared_and_the_verdict_comes_first():
    text = body(probe_record())
    assert text.startswith("<p>clip is better than dino by 10.0 points [4.0, 16.0].</p>")
    assert "+4.0 to +16.0" in text
    assert "Which is better" not in body(probe_record(comparison=[]))


def test_the_learning_curve_has_a_line_for_every_number_of_examples():
    text = body(probe_record())
    assert text.count("By the number of examples of a class") == 1
    assert "42.0 % [37.0, 47.0]" in text
    assert "50.0 % [45.0, 55.0]" in text


def test_names_are_text():
    assert "<script>" not in body(probe_record(verdict="<script>", protocol="<script>"))


@pytest.mark.parametrize("count", [1, 2])
def test_several_probes_are_told_apart_by_name(count):
    assert ("<h3>probe 0</h3>" in body(*[probe_record()] * count)) == (count > 1)


def test_an_embedding_without_methods_does_no_harm():
    assert body(probe_record(embeddings=[{"name": "x", "columns": 3, "methods": [], "shots": []}], comparison=[]))
