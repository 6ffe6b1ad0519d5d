"""Exemplar support vector machines against LIBSVM, against a plain loop, and against each other."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import manyclass as mc
from manyclass.exemplar import _svm_solvers, svm
from manyclass.exemplar._svm_solvers import ExemplarSgd
from tests.exemplar.problems import hinge_objective, pool, unit


def images(n=80, d=12, seed=0):
    """Negatives and images of unit length, with a mean."""
    X, Q = pool(n, d, seed)
    return unit(X), unit(Q)[:4]


def libsvm(x, X, regularization, theta):
    weights = {1: theta, -1: 1 / len(X)}
    machine = SVC(kernel="linear", C=1 / regularization, class_weight=weights, tol=1e-9)
    machine.fit(np.vstack([x, X]), np.r_[1, -np.ones(len(X))])
    return machine.coef_[0], machine.intercept_[0]


@pytest.mark.parametrize("theta", [5.0, 1.0, 0.3, 0.05])
@pytest.mark.parametrize("regularization", [1.0, 0.1])
def test_the_exact_solver_finds_what_libsvm_finds(regularization, theta):
    X, Q = images()
    enc = mc.ExemplarSVM(regularization, theta, solver="exact", tolerance=1e-6, max_epochs=20_000, n_background=1).fit(
        X
    )
    for q, w, bias in zip(Q, *enc.classifier(Q), strict=True):
        expected, other = libsvm(q, X, regularization, theta)
        np.testing.assert_allclose(w, expected, atol=5e-3 * np.linalg.norm(expected))
        best = hinge_objective(expected, other, q, X, regularization, theta)
        assert hinge_objective(w, bias, q, X, regularization, theta) <= best * (1 + 2e-6)


def test_a_weight_of_the_image_beyond_all_negatives_changes_nothing_at_the_optimum():
    X, Q = images()
    found = [mc.ExemplarSVM(0.1, theta, solver="exact", n_background=1, random_state=0).fit(X) for theta in (1.0, 50.0)]
    assert found[0].transform(Q).tobytes() == found[1].transform(Q).tobytes()


def plain_sgd(x, X, drawn, regularization, theta, square):
    """The loop as it is written down: one image, one step after the other."""
    w, bias = np.zeros(len(x)), 0.0
    for t, i in enumerate(drawn):
        step = 1 / (regularization * t + max(square, regularization))
        missed, crossed = theta * (w @ x + bias < 1), float(w @ X[i] + bias > -1)
        w = max(1 - step * regularization, 0.5) * w + step * (missed * x - crossed * X[i])
        bias += step * square * (missed - crossed)
    return w, bias


@pytest.mark.parametrize("theta", [1.0, 0.1])
@pytest.mark.parametrize("block", [1, 7, 128])
def test_steps_in_blocks_are_those_of_the_plain_loop(monkeypatch, theta, block):
    monkeypatch.setattr("manyclass.exemplar._svm_solvers.BLOCK", block)
    X, Q = images()
    drawn = np.random.default_rng(0).integers(len(X), size=300)
    W, biases = ExemplarSgd(0.05, theta, 0.7).run(lambda index: X[index], drawn, Q)
    for q, w, bias in zip(Q, W, biases, strict=True):
        expected, other = plain_sgd(q, X, drawn, 0.05, theta, 0.7)
        np.testing.assert_allclose(w, expected, rtol=1e-9, atol=1e-12)
        assert bias == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("theta", [1.0, 0.3])
def test_many_steps_come_near_the_optimum(theta):
    X, Q = images()
    exact = mc.ExemplarSVM(0.1, theta, solver="exact", n_background=1).fit(X)
    far = []
    for n_steps in (30, 5000):
        enc = mc.ExemplarSVM(0.1, theta, n_steps=n_steps, n_background=1, random_state=0).fit(X)
        far.append(1 - np.einsum("ij,ij->i", enc.transform(Q), exact.transform(Q)).mean())
    assert far[1] < 1e-3 < far[0]


def test_sweeps_in_blocks_do_not_depend_on_how_many_images_are_solved_at_once(monkeypatch):
    X, Q = images()
    enc = mc.ExemplarSVM(0.1, solver="exact", tolerance=1e-7, n_background=1, random_state=0).fit(X)
    together = enc.transform(Q)
    monkeypatch.setattr(svm, "BATCH", 1)
    np.testing.assert_allclose(enc.transform(Q), together, atol=1e-6)


def test_the_code_does_not_depend_on_where_the_origin_is():
    X, Q = images()
    for solver in ("sgd", "exact"):
        enc = mc.ExemplarSVM(0.1, solver=solver, n_steps=500, n_background=1, random_state=0)
        plain, moved = enc.fit(X).transform(Q), enc.fit(X + 100).transform(Q + 100)
        np.testing.assert_allclose(moved, plain, atol=1e-5)


def test_the_block_keeps_the_scores_of_the_classifiers_that_it_changes():
    rng = np.random.default_rng(0)
    rows, W, Q = rng.normal(size=(5, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    block = _svm_solvers.NegativeBlock(rows, W, Q)
    current, own = W.copy(), np.einsum("ij,ij->i", W, Q)
    for i in range(5):
        np.testing.assert_allclose(block.score(i), current @ rows[i], atol=1e-12)
        a, D = rng.normal(size=(2, 2))
        own += block.change(i, a, D)
        current += a[:, None] * Q - D[:, None] * rows[i]
        np.testing.assert_allclose(own, np.einsum("ij,ij->i", current, Q), atol=1e-12)
    np.testing.assert_allclose(block.classifiers(), current, atol=1e-12)


@pytest.mark.parametrize("solver", ["sgd", "exact"])
def test_one_negative_is_told_from_the_image_by_their_difference(solver):
    enc = mc.ExemplarSVM(0.1, solver=solver, n_steps=50, n_background=1).fit([[1.0, 2.0]])
    np.testing.assert_allclose(enc.transform([[4.0, 6.0]]), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("solver", ["sgd", "exact"])
def test_an_image_that_is_the_only_negative_has_a_code_of_zeros(solver):
    enc = mc.ExemplarSVM(0.1, solver=solver, n_steps=50, n_background=1).fit([[1.0, 2.0], [1.0, 2.0]])
    assert enc.transform([[1.0, 2.0]]).tolist() == [[0, 0]]


def test_an_image_that_is_itself_a_negative_is_solved_like_any_other():
    X, _ = images()
    enc = mc.ExemplarSVM(1.0, solver="exact", tolerance=1e-7, max_epochs=20_000, n_background=1).fit(X)
    expected, _ = libsvm(X[5], X, 1.0, 1.0)
    np.testing.assert_allclose(enc.classifier(X[5])[0], expected, atol=1e-3 * np.linalg.norm(expected))


def test_too_few_sweeps_are_told():
    X, Q = images()
    with pytest.warns(ConvergenceWarning, match="after 2 sweeps the relative duality gap .* raise max_epochs"):
        enc = mc.ExemplarSVM(1e-4, solver="exact", max_epochs=2, n_background=1, random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="after 2 sweeps"):
        enc.transform(Q)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"regularization": 0}, "regularization must be a finite number above 0, or 'auto'; got 0"),
        ({"solver": "newton"}, "solver must be one of sgd, exact; got 'newton'"),
        ({"n_steps": 0}, "n_steps must be a whole number, at least 1; got 0"),
        ({"tolerance": 0}, "tolerance must be a finite number above 0; got 0"),
        ({"max_epochs": 0}, "max_epochs must be a whole number, at least 1; got 0"),
    ],
)
def test_settings_that_are_none_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        mc.ExemplarSVM(**settings).fit(pool()[0])


@pytest.mark.parametrize("theta", [1.0, 0.2])
def test_an_image_among_its_negatives_is_solved_in_a_few_sweeps(theta):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(60, 6)), 0.5 * rng.normal(size=(4, 6))
    enc = mc.ExemplarSVM(1e-3, theta, solver="exact", max_epochs=100, n_background=1, random_state=0).fit(X)
    W, biases = enc.classifier(Q)  # a gap above the tolerance would be a warning, which is an error here
    for q, w, bias in zip(Q, W, biases, strict=True):
        near = [(w * (1 + a), bias + b) for a in (-1e-2, 1e-2) for b in (-1e-2, 1e-2)]
        best = min(hinge_objective(*one, q, X, 1e-3, theta) for one in near)
        assert hinge_objective(w, bias, q, X, 1e-3, theta) <= best * (1 + 2e-4)


def test_a_step_on_a_face_ends_at_its_optimum():
    """Against a bounded least-squares solver: minimize |Z'a|^2 / (2 lambda) - 2 sum(a) over 0 <= a <= 1/n."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    Z, start, regularization = rng.normal(size=(8, 3)), rng.uniform(0, 1 / 8, size=8), 0.05
    H = Z @ Z.T / regularization
    solver = _svm_solvers.DualDescent(lambda index: Z[index], 8, 1.0, regularization, 1.0, 1e-4, 10)

    def value(a):
        return a @ H @ a / 2 - 2 * a.sum()

    found = start
    for _ in range(20):  # a face may bind what is free at the optimum; sweeps let go of it, and here the gradient does
        gradient = H @ found - 2
        free = ((found > 0) | (gradient < 0)) & ((found < 1 / 8) | (gradient > 0))
        if not free.any():
            break
        found = found.copy()
        found[free] += solver._face_step(Z[free], gradient[free], found[free])
    best = minimize(value, start, jac=lambda a: H @ a - 2, bounds=[(0, 1 / 8)] * 8, method="L-BFGS-B", tol=1e-14)
    assert value(found) <= best.fun + 1e-9 * abs(best.fun)


def test_the_strength_is_the_largest_eigenvalue_where_nobody_says():
    X, Q = images()
    top = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    enc = mc.ExemplarSVM(solver="exact", n_background=1, random_state=0).fit(X)
    assert enc.regularization_ == pytest.approx(top)
    given = mc.ExemplarSVM(enc.regularization_, solver="exact", n_background=1, random_state=0).fit(X)
    np.testing.assert_allclose(enc.transform(Q), given.transform(Q), atol=1e-5)
