"""Search that learns from marks: against the direct solution of weighted least squares, and refits without an image."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.exemplar import relevance_feedback


def unit(X):
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def prior(world, positives):
    """The mean of the positives, so scaled that it scores 1 more than the mean of the world."""
    mean = positives.mean(axis=0)
    return 1 / max(mean @ (mean - world.mean(axis=0)), 0.1 * mean @ mean) * mean


def direct(world, positives, negatives, strength, without=None):
    """Minimize the objective by the normal equations in w and b at once, or its sum without one image of the world."""
    sizes = len(positives), len(world), len(negatives)
    X, y = np.vstack([positives, world, negatives]).astype(np.float64), np.repeat([1.0, -1.0, -1.0], sizes)
    c = np.repeat([1 / max(1, n) for n in sizes], sizes)
    if without is not None:
        c[sizes[0] + without] = 0
    X1 = np.column_stack([X, np.ones(len(X))])
    H = X1.T @ (c[:, None] * X1) + strength * np.diag([*np.ones(X.shape[1]), 0])
    solution = np.linalg.solve(H, X1.T @ (c * y) + strength * np.append(prior(world, positives), 0))
    return solution[:-1], solution[-1]


def drawn(seed, n=None, p=None, m=None, k=None):
    """World, positives and negatives of any sizes."""
    rng = np.random.default_rng(seed)
    n, p, m, k = (given or int(rng.integers(1, most)) for given, most in ((n, 60), (p, 40), (m, 6), (k, 6)))
    scales = rng.uniform(0.1, 2, p)
    return [rng.standard_normal((rows, p)) * scales + shift for rows, shift in ((n, 0.2), (m, 0.5), (k, -0.3))]


@pytest.mark.parametrize("seed", range(40))
def test_the_direction_is_that_of_the_minimizer(seed):
    world, P, N = drawn(seed)
    N = N[: seed % 4]
    strength = float(10 ** np.random.default_rng(seed).uniform(-2, 1))
    found = mc.RelevanceFeedback(strength).fit(world).query(P, N)
    w, _ = direct(world, P, N, strength)
    np.testing.assert_allclose(found.direction, w / np.linalg.norm(w), atol=2e-6)
    assert found.direction.dtype == found.background.dtype == np.float32
    assert found.regularization == (strength,)


@pytest.mark.parametrize("seed", range(25))
def test_the_background_are_scores_of_refits_without_each_image(seed):
    world, P, N = drawn(seed)
    N, strength = N[: seed % 3], 0.1 + 0.1 * seed
    found = mc.RelevanceFeedback(strength).fit(world).query(P, N)
    w, b = direct(world, P, N, strength)
    for i, x in enumerate(world):
        without, bias = direct(world, P, N, strength, without=i)
        assert found.background[i] == pytest.approx((x @ without + bias - b) / np.linalg.norm(w), abs=2e-5, rel=1e-4)


def test_images_of_a_world_of_few_are_left_out_down_to_a_thousandth_of_the_largest_variance():
    world, P, N = drawn(3, n=20, p=60, m=2, k=1)
    strength = 1e-3 * float(np.linalg.eigvalsh(np.cov(world.T, bias=True))[-1])
    found = mc.RelevanceFeedback(strength).fit(world).query(P, N).background
    w, b = direct(world, P, N, strength)
    for i, x in enumerate(world):
        without, bias = direct(world, P, N, strength, without=i)
        assert found[i] == pytest.approx((x @ without + bias - b) / np.linalg.norm(w), abs=2e-3)


def test_by_default_two_machines_of_falling_strength_have_one_vote_each():
    world, P, N = drawn(8, 40, 9, 2, 3)
    feedback = mc.RelevanceFeedback().fit(world)
    found = feedback.query(P, N)
    largest = np.linalg.eigvalsh(np.cov(world.T, bias=True))[-1]
    np.testing.assert_allclose(found.regularization, [20 * largest * 5**-0.75, 0.2 * largest * 5**-0.75])
    votes = [mc.RelevanceFeedback(strength).fit(world).query(P, N) for strength in found.regularization]
    mean = votes[0].direction + votes[1].direction
    np.testing.assert_allclose(found.direction, mean / np.linalg.norm(mean), atol=1e-6)
    scores = (votes[0].background + votes[1].background) / np.linalg.norm(mean)
    np.testing.assert_allclose(found.background, scores, atol=1e-5)


def test_one_mark_alone_orders_images_as_its_similarity_does():
    rng = np.random.default_rng(0)
    world, images = unit(rng.standard_normal((300, 40)) + 0.2), unit(rng.standard_normal((200, 40)) + 0.2)
    found = mc.RelevanceFeedback().fit(world).query(images[0])
    assert found.direction @ images[0] > 0.999
    plain, ours = images @ images[0], images @ found.direction
    assert np.corrcoef(np.argsort(np.argsort(plain)), np.argsort(np.argsort(ours)))[0, 1] > 0.999


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_the_objective_is_zero(seed):
    world, P, N = drawn(seed, n=30, p=50)
    found = mc.RelevanceFeedback(0.3).fit(world).query(P, N)

    def gradient(scale, b):
        w = scale * found.direction.astype(np.float64)
        sums = [X.T @ (X @ w + b - y) / len(X) for X, y in ((P, 1), (world, -1), (N, -1))]
        return sum(sums) + 0.3 * (w - prior(world, P))

    _, b = direct(world, P, N, 0.3)
    scale = np.linalg.norm(direct(world, P, N, 0.3)[0])
    assert np.abs(gradient(scale, b)).max() < 1e-5
    assert np.abs(gradient(1.1 * scale, b)).max() > 1e-3


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4), st.integers(0, 4), st.integers(0, 999))
def test_any_shapes_give_a_unit_direction_and_a_score_for_each_of_the_world(n, p, m, k, seed):
    world, P, N = drawn(seed, n, p, m, 4)
    found = mc.RelevanceFeedback().fit(world).query(P, N[:k])
    assert found.direction.shape == (p,)
    assert found.background.shape == (n,)
    assert np.isfinite(found.background).all()
    assert np.linalg.norm(found.direction) == pytest.approx(1, abs=1e-5)


def test_the_background_spreads_as_images_that_the_machine_has_not_seen():
    rng = np.random.default_rng(0)
    world, others = rng.standard_normal((2, 150, 200))
    found = mc.RelevanceFeedback(0.1).fit(world).query(rng.standard_normal((3, 200)))
    fresh = (others @ found.direction).std()
    assert found.background.std() == pytest.approx(fresh, rel=0.15)
    assert (world @ found.direction).std() < 0.3 * fresh


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_a_rotation_of_everything_rotates_the_direction_and_leaves_the_scores(shape):
    world, P, N = drawn(3, *shape, m=3, k=2)
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((shape[1], shape[1])))
    one = mc.RelevanceFeedback().fit(world).query(P, N)
    other = mc.RelevanceFeedback().fit(world @ Q).query(P @ Q, N @ Q)
    np.testing.assert_allclose(one.direction @ Q, other.direction, atol=1e-5)
    np.testing.assert_allclose(one.background, other.background, atol=1e-4)


def test_marks_in_another_order_or_given_twice_over_are_the_same_query():
    world, P, N = drawn(4, 30, 8, 4, 3)
    feedback = mc.RelevanceFeedback(0.2).fit(world)
    one = feedback.query(P, N)
    for positives, negatives in ((P[::-1], N[::-1]), (np.vstack([P, P]), np.vstack([N, N]))):
        np.testing.assert_allclose(feedback.query(positives, negatives).direction, one.direction, atol=1e-6)


def test_an_empty_list_of_negatives_is_none():
    world, P, _ = drawn(5, 30, 8)
    feedback = mc.RelevanceFeedback(0.2).fit(world)
    for none in (None, [], np.zeros((0, 8)), ()):
        np.testing.assert_array_equal(feedback.query(P, none).direction, feedback.query(P).direction)


def test_one_vector_is_one_mark():
    world, P, _ = drawn(5, 30, 8)
    feedback = mc.RelevanceFeedback(0.2).fit(world)
    np.testing.assert_array_equal(feedback.query(P[0]).direction, feedback.query(P[:1]).direction)


DEGENERATE = {
    "equal rows in the world": (lambda W: np.repeat(W[:5], 6, axis=0), lambda W: (W[7:9], W[9:10])),
    "rows of zeros in the world": (lambda W: np.vstack([W, np.zeros((5, 10))]), lambda W: (W[:2], W[2:3])),
    "a world of one image": (lambda W: W[:1], lambda W: (W[1:3], W[3:4])),
    "a world of one image and one mark": (lambda W: W[:1], lambda W: (W[1:2], None)),
    "a mark that is the whole world": (lambda W: W[:1], lambda W: (W[:1], None)),
    "a mark of zeros": (lambda W: W, lambda W: (np.zeros((1, 10)), None)),
    "a mark at the mean of the world": (lambda W: W, lambda W: (W.mean(axis=0)[None], None)),
    "a positive that is a negative": (lambda W: W, lambda W: (W[:1] + 1, W[:1] + 1)),
    "a world of zeros": (lambda W: np.zeros((4, 10)), lambda W: (W[:2], W[2:3])),
    "everything zero": (lambda W: np.zeros((4, 10)), lambda W: (np.zeros((1, 10)), None)),
    "marks from the world": (lambda W: W, lambda W: (W[:4], W[4:9])),
    "more marks than numbers": (lambda W: W[:4], lambda W: (W[:15], W[15:30])),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_marks_and_worlds_have_finite_answers(case):
    W = np.random.default_rng(0).standard_normal((30, 10))
    world, (P, N) = DEGENERATE[case][0](W), DEGENERATE[case][1](W)
    found = mc.RelevanceFeedback().fit(world).query(P, N)
    assert np.isfinite(found.direction).all()
    assert np.isfinite(found.background).all()
    nothing = case == "everything zero"
    assert np.linalg.norm(found.direction) == pytest.approx(0 if nothing else 1, abs=1e-5)


def test_what_nothing_tells_from_the_world_searches_for_itself():
    x = unit(np.random.default_rng(0).standard_normal((1, 10)))
    np.testing.assert_allclose(mc.RelevanceFeedback().fit(x).query(x).direction, x[0], atol=1e-6)


def test_of_a_large_world_of_long_rows_some_are_fitted_on_and_all_are_scored(monkeypatch):
    monkeypatch.setattr(relevance_feedback, "MOST", 20)
    world, P, N = drawn(6, 50, 30, 3, 2)
    found = mc.RelevanceFeedback(0.3).fit(world).query(P, N)
    rows = np.linspace(0, 49, 20).astype(int)
    fitted = mc.RelevanceFeedback(0.3).fit(world[rows]).query(P, N)
    np.testing.assert_allclose(found.direction, fitted.direction, atol=1e-6)
    np.testing.assert_allclose(found.background[rows], fitted.background, atol=1e-5)
    others = np.setdiff1d(np.arange(50), rows)
    np.testing.assert_allclose(found.background[others], world[others] @ found.direction, atol=1e-5)


def test_the_same_bits_for_any_number_of_threads():
    world, P, N = drawn(7, 3000, 20, 3, 2)
    answers = []
    for count in (1, 3):
        with mc.threads(count):
            answers.append(mc.RelevanceFeedback().fit(world).query(P, N))
    assert answers[0].direction.tobytes() == answers[1].direction.tobytes()
    assert answers[0].background.tobytes() == answers[1].background.tobytes()


def test_marks_bring_their_kind_and_push_another_away():
    rng = np.random.default_rng(2)
    kinds = unit(rng.standard_normal((3, 128)))
    images = unit(np.repeat(kinds, 20, axis=0) + 0.05 * rng.standard_normal((60, 128)))
    g = mc.Gallery()
    g.add(images)
    feedback = mc.RelevanceFeedback().fit(unit(rng.standard_normal((400, 128))))
    query = feedback.query(g.codes([0, 1, 2, 20, 21, 22]), g.codes(range(40, 46)))
    hits = g.search_embeddings(query.direction, k=60, background=query.background)
    kind = hits.ids[0] // 20
    assert set(kind[:40]) == {0, 1}
    assert np.median(hits.percentiles[0, :40]) > 99
    assert hits.matched.tolist() == [True]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda f: f.query([]), "positives must have at least one row; got none"),
        (lambda f: f.query(np.zeros((2, 3))), r"positives must have 4 columns, as the world has; got \(2, 3\)"),
        (
            lambda f: f.query(np.ones((1, 4)), np.ones(3)),
            r"negatives must have 4 columns, as the world has; got \(3,\)",
        ),
        (lambda f: f.query(np.full((1, 4), np.inf)), "positives must hold finite numbers"),
        (lambda f: mc.RelevanceFeedback(0.0).fit(np.eye(3)), "regularization must be a finite number, more than 0"),
        (lambda f: mc.RelevanceFeedback("much").fit(np.eye(3)), "regularization must be .*; got 'much'"),
        (lambda f: mc.RelevanceFeedback().fit(np.zeros((0, 3))), "world must have at least one row"),
        (lambda f: mc.RelevanceFeedback().fit(np.full((2, 2), np.nan)), "world must hold finite numbers"),
        (lambda f: mc.RelevanceFeedback().query(np.eye(3)), "not fitted"),
    ],
)
def test_a_mistake_is_one_sentence(wrong, sentence):
    feedback = mc.RelevanceFeedback().fit(np.random.default_rng(0).standard_normal((30, 4)))
    with pytest.raises(ValueError, match=sentence):
        wrong(feedback)
