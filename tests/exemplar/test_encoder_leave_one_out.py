"""How similar images are to the background set: as to strangers, though the encoder was fitted on it."""

import numpy as np
import pytest

import manyclass as mc
from tests.exemplar.problems import pool

EXACT = {
    "square": lambda: mc.SquareLossExemplar(1e-4),
    "lda": lambda: mc.ExemplarLDA(shrinkage=0),
    "whitening": lambda: mc.WhitenedPCA(n_components=None),
    "rbf": lambda: mc.KernelSquareLossExemplar(gamma=0.1, regularization=1e-3),
    "poly": lambda: mc.KernelSquareLossExemplar(kernel="poly", gamma=0.01, regularization=0.1),
    "full rank": lambda: mc.KernelSquareLossExemplar(gamma=0.1, factorization="incomplete_cholesky"),
}


def strangers(make, X, Q):
    """Similarities of Q and every row of X by encoders that were fitted without that row."""
    columns = []
    for i in range(len(X)):
        enc = make().fit(np.delete(X, i, axis=0))
        columns.append(enc.similarity(enc.transform(Q), enc.transform(X[i : i + 1]))[:, 0])
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_the_background_set_is_as_alike_as_if_each_of_it_were_left_out(make):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(50, 25)) + 0.5, rng.normal(size=(9, 25))
    enc, wanted = make().fit(X), strangers(make, X, Q)
    found = enc.background_similarity(enc.transform(Q))
    seen = enc.similarity(enc.transform(Q), enc.background_)
    # What is left: lambda / n, and what the mean moves by where codes have unit length.
    assert np.linalg.norm(found - wanted) < 0.35 * np.linalg.norm(seen - wanted)


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_what_the_background_set_needs_goes_through_a_file(make, tmp_path):
    X, Q = pool()
    enc = make().set_params(n_background=12, random_state=0).fit(X)
    enc.save(tmp_path / "model")
    again = mc.load(tmp_path / "model")
    found = [e.background_similarity(e.transform(Q)) for e in (enc, again)]
    assert found[0].shape == (9, 12)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [1, 2, 8])
@pytest.mark.parametrize("name", ["square", "lda", "whitening", "rbf"])
def test_few_negatives_give_cosines_all_the_same(name, n):
    X, Q = pool(n=n, d=10)
    if n == 1 and name in ("lda", "whitening"):
        return  # refused: one negative has no covariance
    enc = EXACT[name]().fit(X)
    found = enc.background_similarity(enc.transform(np.vstack([Q, X])))
    assert np.abs(found).max() <= 1 + 1e-6


@pytest.mark.parametrize("name", ["square", "whitening", "rbf"])
def test_a_gallery_of_strangers_is_seldom_matched_however_few_the_negatives(name):
    rng = np.random.default_rng(0)
    make = {**EXACT, "rbf": lambda: mc.KernelSquareLossExemplar(gamma=0.002)}[name]
    gallery = mc.Gallery(make().fit(rng.normal(size=(250, 100))))
    gallery.add(rng.normal(size=(500, 100)))
    assert gallery.search(rng.normal(size=(200, 100)), k=1).matched.mean() < 0.15
