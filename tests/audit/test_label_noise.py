"""The model of noise: its gradient, what it says by hand, and that it finds the noise that was put in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.audit import label_noise
from manyclass.audit.label_noise import LabelNoise, _loss


def twin(exponents, noise, alike, views, y):
    """P(wrong) of every row by plain loops over the formula."""
    found = []
    for i, label in enumerate(y):
        scores = sum(e * view[i] for e, view in zip(exponents, views, strict=True))
        q = np.exp(scores - scores.max())
        q /= q.sum()
        best = max(q[c] for c in range(len(q)) if c != label)
        wrong = noise * (1 - q[label]) * ((1 - alike) / (len(q) - 1) + alike * q[label] / (1 - best))
        found.append(wrong / (wrong + (1 - noise) * q[label]))
    return np.array(found)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 6), st.integers(1, 8), st.integers(1, 2), st.floats(0.01, 0.5), st.floats(0, 1), st.integers(0, 99)
)
def test_probabilities_are_those_of_the_formula(k, m, n_views, noise, alike, seed):
    rng = np.random.default_rng(seed)
    views, y = [rng.normal(size=(m, k)) for _ in range(n_views)], rng.integers(0, k, m)
    exponents = rng.uniform(0.5, 2, n_views)
    judged = LabelNoise(exponents, noise, alike, k).judge(views, y)
    assert judged.wrong == pytest.approx(twin(exponents, noise, alike, views, y), rel=1e-9)
    assert (judged.proposed != y).all()
    Q = np.sqrt(np.exp(sum(e * view for e, view in zip(exponents, views, strict=True))))
    R, rows = np.log(Q / Q.sum(axis=1, keepdims=True)), np.arange(m)
    assert judged.score == pytest.approx(R[rows, y] - max(alike, 0.25) * R[rows, judged.proposed])


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    views, y = [rng.normal(size=(40, 5)) for _ in range(2)], rng.integers(0, 5, 40)
    at = np.array([0.3, -0.2, -2.0, 0.4])

    def loss(parameters):
        return _loss(LabelNoise._of(parameters, 5), views, y)

    numeric = [(loss(at + step)[0] - loss(at - step)[0]) / 2e-6 for step in 1e-6 * np.eye(4)]
    assert loss(at)[1] == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_the_noise_that_was_put_in_is_found(noise):
    rng = np.random.default_rng(1)
    n, k = 4000, 8
    scores = 3 * rng.normal(size=(n, k))
    Q = np.exp(scores)
    truth = (Q.cumsum(axis=1) > rng.random((n, 1)) * Q.sum(axis=1, keepdims=True)).argmax(axis=1)
    flipped = rng.random(n) < noise
    y = np.where(flipped, (truth + rng.integers(1, k, n)) % k, truth)
    found = LabelNoise.fit([scores / 5], y)
    assert found.exponents[0] == pytest.approx(5, rel=0.15)
    assert found.noise == pytest.approx(noise, abs=0.03)
    # What is said to be wrong with some probability is wrong so often.
    wrong = found.judge([scores / 5], y).wrong
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        some = (wrong >= low) & (wrong <= high)
        if some.sum() > 50:
            assert flipped[some].mean() == pytest.approx(wrong[some].mean(), abs=0.1)


def test_some_rows_at_a_time_give_the_loss_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    views, y = [rng.normal(size=(50, 7)).astype(np.float32) for _ in range(2)], rng.integers(0, 7, 50)
    model = label_noise.LabelNoise(np.array([0.5, 2.0]), 0.1, 0.3, 7)
    whole = label_noise._mean_loss(model, views, y)
    monkeypatch.setattr(label_noise, "_BLOCK", 7 * 12)
    parts = label_noise._mean_loss(model, views, y)
    assert parts[0] == pytest.approx(whole[0])
    assert parts[1] == pytest.approx(whole[1])
