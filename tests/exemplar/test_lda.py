"""Discriminant analysis by its formula, also where the covariance is singular."""

import numpy as np
import pytest

import manyclass as mc
from tests.exemplar.problems import pool, unit


def test_the_classifier_is_that_of_the_formula():
    X, Q = pool()
    W, biases = mc.ExemplarLDA(shrinkage=0).fit(X).classifier(Q)
    S = np.linalg.inv(np.cov(X.T, bias=True))
    np.testing.assert_allclose(W, (Q - X.mean(axis=0)) @ S, rtol=1e-8)
    np.testing.assert_allclose(biases, [-(q + X.mean(axis=0)) @ w / 2 for q, w in zip(Q, W, strict=True)], rtol=1e-8)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_with_few_negatives_it_is_the_pseudoinverse(n):
    X, Q = pool(n=n, d=20)
    enc = mc.ExemplarLDA(shrinkage=0).fit(X)
    S = np.linalg.pinv(np.cov(X.T, bias=True), rcond=1e-10, hermitian=True)
    assert enc.rank_ == n - 1
    np.testing.assert_allclose(enc.transform(Q), unit((Q - X.mean(axis=0)) @ S), atol=1e-6)


def test_a_constant_column_has_no_say():
    X, Q = pool()
    X[:, 2] = 1e4
    encoder = mc.ExemplarLDA(shrinkage=0).fit(X)
    with pytest.warns(UserWarning, match="scale the rows of both in the same way"):
        codes = encoder.transform(Q)
    others = np.delete(np.arange(7), 2)
    assert np.abs(codes[:, 2]).max() < 1e-12
    np.testing.assert_allclose(
        codes[:, others], mc.ExemplarLDA(shrinkage=0).fit(X[:, others]).transform(Q[:, others]), atol=1e-6
    )


@pytest.mark.parametrize(("X", "rows"), [(np.ones((1, 3)), "1 sample"), (np.ones((4, 3)), "4 equal samples")])
@pytest.mark.parametrize("encoder", [mc.ExemplarLDA(), mc.WhitenedPCA()])
def test_negatives_that_do_not_differ_are_refused(encoder, X, rows):
    with pytest.raises(ValueError, match=f"negatives must differ from one another to have a covariance; got {rows}"):
        encoder.fit(X)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_codes_do_not_depend_on_the_unit_of_the_features(scale):
    X, Q = pool()
    plain = mc.ExemplarLDA(shrinkage=0).fit(X).transform(Q)
    np.testing.assert_allclose(mc.ExemplarLDA(shrinkage=0).fit(X * scale).transform(Q * scale), plain, atol=1e-6)


def shrunk(X, a):
    """(1 - a) S + a m I, as it is written."""
    S = np.cov(X.T, bias=True)
    return (1 - a) * S + a * S.trace() / len(S) * np.eye(len(S))


@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("a", [0.2, 1.0, "auto"])
def test_the_covariance_is_shrunk_toward_the_identity(a, n):
    X, Q = pool(n=n, d=8)
    enc = mc.ExemplarLDA(a).fit(X)
    if a == "auto":
        s = np.linalg.eigvalsh(np.cov(X.T, bias=True))
        a = s[-1] / (s[-1] + s.mean())
    assert enc.shrinkage_ == pytest.approx(a)
    W, _ = enc.classifier(Q)
    np.testing.assert_allclose(W, (Q - X.mean(axis=0)) @ np.linalg.inv(shrunk(X, a)), rtol=1e-7)


def test_by_default_it_has_the_embeddings_of_the_square_loss():
    X, Q = pool(n=5, d=8)
    codes = [enc.fit(X).transform(Q) for enc in (mc.ExemplarLDA(), mc.SquareLossExemplar())]
    np.testing.assert_allclose(*codes, atol=1e-6)


@pytest.mark.parametrize("value", [-0.1, 1.1, "none", None, np.nan])
def test_shrinkage_is_a_fraction(value):
    with pytest.raises(ValueError, match=r"shrinkage must be a number from 0 to 1, or 'auto'; got"):
        mc.ExemplarLDA(value).fit(np.eye(3))
