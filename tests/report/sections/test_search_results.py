"""What the page says of searches is what the records hold."""

import pytest

from manyclass.report.sections.search_results import show_search


def test_the_leading_method_is_named(report):
    body = show_search(report()).body
    assert "SLEM leads with 62.0 %, 12.0 points before cosine." in body
    assert "1 of the 2 results shown are right." in body


def _methods(a, b, against_a=None, against_b=None, more=()):
    """Methods a and b with intervals that overlap, one of them held against another by a paired difference."""
    spread = {"low": 0.1, "high": 0.9}
    return [
        {"name": "a", "map": a, "against": against_a, **spread},
        {"name": "b", "map": b, "against": against_b, **spread},
        *more,
    ]


def _against(method, low, high):
    return {"method": method, "difference": (low + high) / 2, "low": low, "high": high, "p": 0.01}


CERTAIN = {
    "of the leader": (_methods(0.5, 0.4, against_a=_against("b", 0.08, 0.12)), "8.0 to 12.0", "more than chance"),
    "of the second": (_methods(0.5, 0.4, against_b=_against("a", -0.12, -0.08)), "8.0 to 12.0", "more than chance"),
    "in doubt": (_methods(0.5, 0.4, against_b=_against("a", -0.3, 0.1)), "-10.0 to 30.0", "so chance may"),
}  # fmt: skip


@pytest.mark.parametrize(("methods", "interval", "verdict"), CERTAIN.values(), ids=CERTAIN)
def test_what_is_known_of_a_lead_is_the_interval_of_the_difference(report, methods, interval, verdict):
    body = show_search(report(search={"methods": methods})).body
    assert "a leads with 50.0 %, 10.0 points before b; query by query" in body
    assert f"the lead is {interval} points (95 % interval), {verdict}" in body


UNKNOWN = {
    "no difference": _methods(0.5, 0.4),
    "against a third": _methods(
        0.5, 0.4, _against("c", 0.1, 0.3), _against("c", 0.1, 0.2), more=[{"name": "c", "map": 0.2}]
    ),
}


@pytest.mark.parametrize("methods", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_said_of_a_difference_that_was_not_measured(report, methods):
    body = show_search(report(search={"methods": methods})).body
    assert "a leads with 50.0 %, 10.0 points before b.<" in body
