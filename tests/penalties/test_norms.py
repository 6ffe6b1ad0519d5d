"""Gauges, and their sums with a ridge."""

import numpy as np
import pytest

from manyclass import GroupNorm, L1Norm, Ridge, TraceNorm

W = np.array([[3.0, 0.0, -4.0], [0.0, 0.0, 0.0], [0.0, -6.0, 0.0]])


@pytest.mark.parametrize(
    ("gauge", "norm", "polar"), [(L1Norm(2.0), 13, 6), (GroupNorm(2.0), 11, 6), (TraceNorm(2.0), 11, 6)]
)
def test_norms_and_polars(gauge, norm, polar):
    assert gauge.norm(W) == pytest.approx(norm)
    assert gauge.value(W) == pytest.approx(2 * norm)
    assert gauge.polar(W) == pytest.approx(polar)
    assert gauge.norm(W) == pytest.approx(gauge.norm(-W))


@pytest.mark.parametrize("gauge", [L1Norm(1.0), GroupNorm(1.0), TraceNorm(1.0)])
def test_the_atom_is_the_steepest(gauge):
    np.testing.assert_allclose(np.outer(*gauge.atom(W)), [[0, 0, 0], [0, 0, 0], [0, -1, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("gauge", "V"),
    [
        (L1Norm(2.0), [[2, 0, -3], [0, 0, 0], [0, -5, 0]]),
        (GroupNorm(2.0), [[2.4, 0, -3.2], [0, 0, 0], [0, -5, 0]]),
        (TraceNorm(2.0), [[2.4, 0, -3.2], [0, 0, 0], [0, -5, 0]]),
    ],
)
def test_proximal_steps(gauge, V):
    np.testing.assert_allclose(gauge.prox(W, 0.5), V, atol=1e-12)


def test_the_atom_of_the_group_norm_is_one_row():
    u, v = GroupNorm(1.0).atom(W[:2])
    np.testing.assert_allclose(u, [1, 0])
    np.testing.assert_allclose(v, [0.6, 0, -0.8])


def test_the_trace_norm_of_an_orthogonal_matrix_is_its_size():
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))
    assert TraceNorm(1.0).norm(Q) == pytest.approx(30)
    assert TraceNorm(1.0).polar(Q) == pytest.approx(1)


@pytest.mark.parametrize("gauge", [L1Norm(1.0), GroupNorm(1.0), TraceNorm(1.0)])
def test_steps_given_as_scalars_of_numpy_leave_float32_as_it_is(gauge):
    assert gauge.prox(W.astype(np.float32), np.float64(0.5)).dtype == np.float32


@pytest.mark.parametrize("gauge", [L1Norm(1.0), GroupNorm(1.0), TraceNorm(1.0)])
def test_slopes_up_to_the_strength_cost_nothing_and_no_others_are_allowed(gauge):
    G = W / gauge.polar(W)
    assert gauge.conjugate(G) == 0
    assert gauge.conjugate(1.001 * G) == np.inf


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
