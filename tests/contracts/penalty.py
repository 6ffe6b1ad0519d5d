"""What every penalty promises, and every gauge besides, as checks, and the penalties to check.

A check takes a penalty, random numbers, a shape and a dtype. A later norm joins by its line in `PENALTIES` of
penalties/norms.py.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

from manyclass.penalties.norms import PENALTIES as REGISTRY
from manyclass.penalties.norms import L1Norm, TraceNorm
from manyclass.penalties.penalty import Gauge
from manyclass.penalties.ridge import Ridge

GAUGES = [*(kind(0.7) for kind in REGISTRY.values() if issubclass(kind, Gauge)), TraceNorm(1e-6)]
PENALTIES = [*GAUGES, Ridge(0.3), *(gauge + Ridge(0.3) for gauge in GAUGES), L1Norm(0.0), TraceNorm(0.0), Ridge(0.0)]

every_gauge = pytest.mark.parametrize("penalty", GAUGES, ids=repr)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def draw(rng, shape, dtype):
    """A matrix: of whole numbers with many ties, of low rank, of zeros, or of nothing special."""
    W = rng.standard_normal(shape)
    kind = rng.integers(4)
    if kind == 0:
        W = np.rint(W)
    elif kind == 1:
        W = np.outer(W[:, 0], W[0])
    elif kind == 2:
        W = 0 * W
    return W.astype(dtype)


def exact(A):
    return np.asarray(A, np.float64)


def tolerance(dtype):
    return 1e-4 if dtype == np.float32 else 1e-9


def check_it_is_convex_and_zero_at_zero(penalty, rng, shape, dtype):
    V, W = draw(rng, shape, dtype), draw(rng, shape, dtype)
    for t in (0.25, 0.5):
        chord = (1 - t) * penalty.value(V) + t * penalty.value(W)
        assert 0 <= penalty.value((1 - t) * V + t * W) <= chord + tolerance(dtype) * (1 + chord)
    assert penalty.value(np.zeros(shape, dtype)) == 0


def check_the_proximal_step_is_the_minimum(penalty, rng, shape, dtype):
    W, step = draw(rng, shape, dtype), rng.uniform(0.01, 3)
    V = penalty.prox(W, step)

    def objective(V):
        return penalty.value(V) + ((exact(V) - W) ** 2).sum() / (2 * step)

    # The objective is strongly convex, so that any other point lies above by the square of its distance.
    assert V.shape == shape
    assert V.dtype == dtype
    for size in (1e-2, 1.0):
        move = size * rng.standard_normal(shape)
        assert objective(exact(V) + move) >= objective(V) - tolerance(dtype) * (1 + objective(V))
    for other in (W, np.zeros(shape), 0.9 * exact(V)):
        assert objective(other) >= objective(V) - tolerance(dtype) * (1 + objective(V))


def check_the_value_that_comes_with_a_proximal_step_is_the_value(penalty, rng, shape, dtype):
    W = draw(rng, shape, dtype)
    V, value = penalty.prox_and_value(W, 0.4)
    np.testing.assert_array_equal(V, penalty.prox(W, 0.4))
    assert value == pytest.approx(penalty.value(V), rel=10 * tolerance(dtype), abs=1e-6)


def check_proximal_steps_bring_points_no_further_apart(penalty, rng, shape, dtype):
    V, W = draw(rng, shape, dtype), draw(rng, shape, dtype)
    after = np.linalg.norm(exact(penalty.prox(V, 0.5)) - penalty.prox(W, 0.5))
    assert after <= np.linalg.norm(exact(V) - W) + tolerance(dtype)


def check_value_and_conjugate_are_never_less_than_the_product(penalty, rng, shape, dtype):
    W, G = draw(rng, shape, dtype), draw(rng, shape, dtype)
    product = (exact(W) * G).sum()
    assert penalty.value(W) + penalty.conjugate(G) >= product - tolerance(dtype) * (1 + abs(product))


def check_value_and_conjugate_add_up_to_the_product_after_a_proximal_step(penalty, rng, shape, dtype):
    # (W - V) / step is a subgradient at V = prox(W).
    W, step = draw(rng, shape, np.float64), 0.5
    V = penalty.prox(W, step)
    G = (W - V) / step * (1 - 1e-7)
    if any(part is not None and part.strength > 0 for part in penalty.parts()):
        assert penalty.value(V) + penalty.conjugate(G) == pytest.approx((V * G).sum(), rel=1e-5, abs=1e-6)


def check_the_conjugate_along_a_ray_is_that_of_each_multiple(penalty, rng, shape, dtype):
    G = draw(rng, shape, dtype)
    along = penalty.conjugate_along(G)
    for t in (0.0, 0.3, 1.0):
        exactly = penalty.conjugate((t * G).astype(dtype))
        assert along(t) == pytest.approx(exactly, rel=100 * tolerance(dtype), abs=tolerance(dtype))


def check_arguments_stay_as_they_are(penalty, rng, shape, dtype):
    W = draw(rng, shape, dtype)
    before = W.copy()
    W.flags.writeable = False
    penalty.value(W), penalty.prox_and_value(W, 1.0), penalty.conjugate(W)
    V = penalty.prox(W, 1e-3)
    V += 1
    np.testing.assert_array_equal(W, before)


def check_gauge_it_grows_in_proportion(gauge, rng, shape, dtype):
    W = draw(rng, shape, dtype)
    for t in (0, 0.5, 4):
        assert gauge.value(dtype(t) * W) == pytest.approx(t * gauge.value(W), rel=tolerance(dtype))
    assert gauge.value(W) == pytest.approx(gauge.strength * gauge.norm(W))


def check_gauge_the_sum_is_no_more_than_the_parts(gauge, rng, shape, dtype):
    V, W = draw(rng, shape, dtype), draw(rng, shape, dtype)
    assert gauge.norm(V + W) <= (gauge.norm(V) + gauge.norm(W)) * (1 + tolerance(dtype))


def check_gauge_the_product_is_no_more_than_polar_times_norm(gauge, rng, shape, dtype):
    W, G = draw(rng, shape, dtype), draw(rng, shape, dtype)
    assert (exact(W) * G).sum() <= gauge.polar(G) * gauge.norm(W) * (1 + tolerance(dtype))


def check_gauge_the_atom_attains_the_polar(gauge, rng, shape, dtype):
    G = draw(rng, shape, dtype)
    u, v = gauge.atom(G)
    assert u.shape + v.shape == shape
    assert u.dtype == v.dtype == dtype
    assert exact(u) @ exact(G) @ exact(v) == pytest.approx(gauge.polar(G), rel=tolerance(dtype), abs=1e-12)


def check_gauge_the_atom_has_norm_one(gauge, rng, shape, dtype):
    u, v = gauge.atom(draw(rng, shape, dtype))
    for length in (np.linalg.norm(u), np.linalg.norm(v), gauge.norm(np.outer(u, v))):
        assert length == pytest.approx(1, rel=tolerance(dtype))


def check_gauge_atoms_make_up_W_for_its_norm(gauge, rng, shape, dtype):
    W = gauge.prox(rng.standard_normal(shape).astype(dtype), 0.5)
    U, V, weights = gauge.atoms(W)
    assert (weights > 0).all()
    np.testing.assert_allclose((U * weights) @ V.T, W, atol=1e-4 if dtype == np.float32 else 1e-10)
    np.testing.assert_allclose(weights.sum(), gauge.norm(W), rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-6)


def check_gauge_a_spectral_one_adds_up_singular_values(gauge, rng, shape, dtype):
    # Where rows and columns are orthogonal, others may add up to the same.
    W = rng.standard_normal(shape).astype(dtype) if gauge.spectral else np.ones((2, 2), dtype)
    assert np.isclose(gauge.norm(W), np.linalg.norm(W, "nuc"), rtol=1e-4) == gauge.spectral


def check_gauge_the_proximal_step_meets_its_condition(gauge, rng, shape, dtype):
    W, step = draw(rng, shape, dtype), rng.uniform(0.01, 3)
    V = exact(gauge.prox(W, step))
    size = 1 + gauge.norm(W)
    assert ((W - V) * V).sum() == pytest.approx(step * gauge.value(V), abs=tolerance(dtype) * size**2)
    assert gauge.polar(W - V) <= step * gauge.strength + tolerance(dtype) * size


def check_by_search_the_proximal_step_is_the_minimum(penalty, rng, shape, dtype):
    # W has no zero singular values, rows or entries near the minimum with a short step, so that the search is smooth.
    shape = (min(shape[0], 3), min(shape[1], 3))
    W, step = rng.standard_normal(shape), 0.01

    def objective(v):
        V = v.reshape(shape)
        return penalty.value(V) + ((V - W) ** 2).sum() / (2 * step)

    found = minimize(objective, W.ravel(), method="Powell", options={"xtol": 1e-9, "ftol": 1e-13, "maxiter": 3000})
    V = penalty.prox(W, step)
    assert objective(V) <= found.fun + 1e-9
    np.testing.assert_allclose(V, found.x.reshape(shape), atol=1e-4)


def _named(prefix):
    return [check for name, check in list(globals().items()) if name.startswith(prefix)]


GAUGE_CHECKS, SEARCH_CHECKS = _named("check_gauge_"), _named("check_by_search_")
CHECKS = [check for check in _named("check_") if check not in GAUGE_CHECKS + SEARCH_CHECKS]
