"""What may be added to what."""

import pytest

from manyclass import GroupNorm, L1Norm, Ridge, TraceNorm


@pytest.mark.parametrize(
    "total",
    [
        TraceNorm(1e-3) + Ridge(1e-5),
        Ridge(1e-5) + TraceNorm(1e-3),
        TraceNorm(1e-3) + Ridge(0) + Ridge(1e-5),
        Ridge(0) + (Ridge(1e-5) + TraceNorm(1e-3)),
        (TraceNorm(1e-3) + Ridge(0.0)) + (Ridge(1e-5) + Ridge(0)),
    ],
)
def test_the_order_of_a_sum_does_not_matter(total):
    assert total == TraceNorm(1e-3) + Ridge(1e-5)
    assert hash(total) == hash(TraceNorm(1e-3) + Ridge(1e-5))
    assert repr(total) == "TraceNorm(0.001) + Ridge(1e-05)"
    assert total.parts() == (TraceNorm(1e-3), Ridge(1e-5))


def test_sums_of_other_parts_are_others():
    assert TraceNorm(1.0) + Ridge(1.0) not in (TraceNorm(1.0) + Ridge(2.0), L1Norm(1.0) + Ridge(1.0), TraceNorm(1.0))


def test_two_ridges_are_one():
    assert Ridge(0.25) + Ridge(0.5) == Ridge(0.75)
    assert Ridge(0.25).parts() == (None, Ridge(0.25))


def test_a_gauge_alone_has_a_ridge_of_nothing():
    assert L1Norm(0.5).parts() == (L1Norm(0.5), Ridge(0.0))


@pytest.mark.parametrize("other", [L1Norm(1.0), TraceNorm(2.0), GroupNorm(1.0) + Ridge(1.0)])
def test_two_gauges_are_refused(other):
    with pytest.raises(
        ValueError, match=r"a penalty may have only one gauge besides a ridge; got TraceNorm\(1.0\) \+ "
    ):
        TraceNorm(1.0) + Ridge(0.5) + other


@pytest.mark.parametrize("other", [1.0, None, "Ridge"])
def test_what_is_no_penalty_cannot_be_added(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        Ridge(1.0) + other


def test_the_sum_of_a_list_is_the_sum_of_its_penalties():
    assert sum([TraceNorm(0.5), Ridge(0.1)]) == TraceNorm(0.5) + Ridge(0.1)
