"""Several positives and further negatives: against the direct solution of the weighted least squares."""

import numpy as np
import pytest

import manyclass as mc


def direct(negatives, positives, unwanted, theta, phi, strength):
    """Minimize 1/2 sum c (w'x + b - y)^2 + strength/2 |w|^2 by the normal equations in w and b at once."""
    X = np.vstack([positives, negatives, unwanted])
    sizes = len(positives), len(negatives), len(unwanted)
    y = np.repeat([1.0, -1.0, -1.0], sizes)
    c = np.repeat([theta / sizes[0], 1 / sizes[1], phi / max(1, sizes[2])], sizes)
    X1 = np.column_stack([X, np.ones(len(X))])
    H = X1.T @ (c[:, None] * X1) + strength * np.diag([*np.ones(X.shape[1]), 0])
    solution = np.linalg.solve(H, X1.T @ (c * y))
    return solution[:-1], solution[-1]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("p", "m"), [(1, 0), (1, 3), (4, 0), (3, 2), (9, 12)])
def test_the_classifier_is_the_minimizer(seed, p, m):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 8))
    N, P, M = (rng.standard_normal((n, d)) + shift for n, shift in ((50, 0.3), (p, 1), (m, -1)))
    theta, phi, strength = [*rng.uniform(0.1, 3, 2), 10 ** rng.uniform(-3, 0)]
    encoder = mc.SquareLossExemplar(strength, positive_weight=theta).fit(N)
    w, b = encoder.examples_classifier(P, M, negative_weight=phi)
    expected = direct(N, P, M, theta, phi, strength)
    np.testing.assert_allclose(w, expected[0], atol=1e-6)
    assert b == pytest.approx(expected[1], abs=1e-6)


def test_one_positive_alone_is_the_classifier_of_the_image():
    rng = np.random.default_rng(0)
    encoder = mc.SquareLossExemplar(0.1, positive_weight=0.3).fit(rng.standard_normal((40, 5)))
    x = rng.standard_normal(5)
    for ours, theirs in zip(encoder.examples_classifier(x[None]), encoder.classifier(x), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_a_gallery_searched_by_one_example_answers_as_search_does():
    rng = np.random.default_rng(1)
    g = mc.Gallery(mc.SquareLossExemplar(0.1).fit(rng.standard_normal((60, 6))))
    g.add(rng.standard_normal((30, 6)))
    x = rng.standard_normal((1, 6))
    a, b = g.search(x, k=30), g.search_examples(x, k=30)
    assert a.ids.tolist() == b.ids.tolist()
    np.testing.assert_allclose(a.scores, b.scores, atol=1e-6)
    assert a.matched.tolist() == b.matched.tolist()


def test_positives_draw_their_kind_and_negatives_push_theirs_away():
    rng = np.random.default_rng(2)
    kinds = rng.standard_normal((3, 12)) * 2
    images = np.repeat(kinds, 20, axis=0) + rng.standard_normal((60, 12))
    g = mc.Gallery(mc.SquareLossExemplar(0.1).fit(rng.standard_normal((300, 12)) * 2))
    g.add(images)
    found = g.search_examples(images[[0, 1, 20, 21]], images[40:43], k=60).ids[0] // 20
    assert set(found[:30]) == {0, 1}
    assert np.mean(found[-15:] == 2) > 0.8


@pytest.mark.parametrize(
    ("positives", "negatives", "sentence"),
    [
        (np.zeros((0, 4)), None, "positives must have at least one row; got none"),
        (np.zeros((2, 3)), None, "must have 4 numbers, or rows of them"),
        (np.zeros((2, 4)), np.zeros((1, 5)), "must have 4 numbers, or rows of them"),
        (np.full((1, 4), np.nan), None, "positives must hold finite numbers"),
    ],
)
def test_examples_that_do_not_fit_are_refused(positives, negatives, sentence):
    encoder = mc.SquareLossExemplar().fit(np.random.default_rng(0).standard_normal((30, 4)))
    with pytest.raises(ValueError, match=sentence):
        encoder.examples_classifier(positives, negatives)


def test_examples_may_be_any_matrix_and_mistakes_name_them():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    enc, rows = mc.SquareLossExemplar().fit(rng.normal(size=(50, 4))), rng.normal(size=(3, 4))
    w, bias = enc.examples_classifier(rows[:2], rows[2:])
    for kind in (csr_array, mc.as_matrix):
        found, offset = enc.examples_classifier(kind(rows[:2]), kind(rows[2:]))
        np.testing.assert_array_equal(found, w)
        assert offset == bias
    with pytest.raises(ValueError, match="negatives must have 4 numbers, or rows of them; got shape \\(1, 3\\)"):
        enc.examples_classifier(rows, rows[:1, :3])
