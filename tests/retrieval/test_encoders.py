"""The encoder of vectors as they are, and what passes for an encoder."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import manyclass as mc
from manyclass.retrieval.encoders import CosineEncoder, check_encoder, is_inner_product
from tests.retrieval import twins

X = np.random.default_rng(0).standard_normal((2500, 4))


@pytest.mark.parametrize("kind", [np.float32, np.float64, sp.csr_array, mc.DenseMatrix])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_of_any_matrix_have_unit_length(kind, n_threads):
    with mc.threads(n_threads):
        found = CosineEncoder(4).transform(kind(X))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, X / np.linalg.norm(X, axis=1, keepdims=True), atol=1e-6)


def test_similarity_is_the_cosine():
    encoder = CosineEncoder(4)
    C = encoder.transform(X[:20])
    expected = [[u @ v / np.linalg.norm(u) / np.linalg.norm(v) for v in X[5:9]] for u in X[:20]]
    np.testing.assert_allclose(encoder.similarity(C, encoder.transform(X[5:9])), expected, atol=1e-6)


def test_the_background_is_encoded_and_may_have_no_rows():
    assert CosineEncoder(4).background_.shape == (0, 4)
    np.testing.assert_allclose(np.linalg.norm(CosineEncoder(4, X[:7]).background_, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("rows", "words"),
    [(np.ones((2, 5)), "X must have 4 columns, as the gallery has; got 5"), (np.diag([1, np.inf, 1, 1]), "row 1")],
)
def test_rows_of_another_width_or_without_a_direction_are_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        CosineEncoder(4).transform(rows)


@pytest.mark.parametrize("encoder", [CosineEncoder(4), twins.Distances(4)])
def test_whatever_has_the_methods_passes(encoder):
    check_encoder(encoder, "encoder")


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (CosineEncoder, "got a class"),
        (mc.SquareLossExemplar(), "got a SquareLossExemplar without background_"),
        (SimpleNamespace(transform=None), "got a SimpleNamespace without similarity"),
        (None, "got a NoneType without transform"),
    ],
)
def test_what_cannot_encode_is_refused_with_what_it_lacks(encoder, words):
    with pytest.raises(ValueError, match=f"reranker must be a fitted encoder .*; {words}"):
        check_encoder(encoder, "reranker")


def test_only_what_says_so_is_an_inner_product():
    assert is_inner_product(CosineEncoder(2))
    assert not is_inner_product(twins.Distances(2))
    assert not is_inner_product(None)
