import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.data import product_quantizer as _product_quantizer
from manyclass.data.rotation import ROTATIONS

ROTATION = [None, *ROTATIONS]
KMEANS = [_product_quantizer._faiss_kmeans, _product_quantizer._sklearn_kmeans]


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)


def error(X, Y):
    return np.linalg.norm(X - Y) / np.linalg.norm(X)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 80),
    d=st.integers(1, 70),
    block=st.integers(1, 20),
    rotation=st.sampled_from(ROTATION),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape_becomes_one_byte_per_block_and_few_rows_are_kept_as_they_are(n, d, block, rotation, seed):
    X = gaussian(n, d, seed)
    pq = mc.ProductQuantizer(block, rotation=rotation, random_state=seed).fit(X)
    Xq = pq.encode(X)
    assert Xq.shape == X.shape
    assert Xq.codes.shape == (n, -(-d // block))
    np.testing.assert_allclose(pq.decode(Xq), X, atol=1e-5)


@pytest.mark.parametrize("rotation", ROTATION)
@pytest.mark.parametrize("kmeans", KMEANS)
def test_the_error_is_that_of_a_plain_kmeans_in_every_block(monkeypatch, kmeans, rotation):
    from sklearn.cluster import KMeans

    monkeypatch.setattr(_product_quantizer, "_kmeans", lambda: kmeans)
    X = gaussian(4000, 8)
    pq = mc.ProductQuantizer(4, 64, rotation=rotation, random_state=0).fit(X)
    ours = ((X - pq.decode(pq.encode(X))) ** 2).sum()
    plain = sum(KMeans(64, random_state=0).fit(X[:, j : j + 4]).inertia_ for j in (0, 4))
    assert ours < 1.05 * plain


@pytest.mark.parametrize("kmeans", KMEANS)
@pytest.mark.parametrize("block", [1, 2, 4, 8, 11])
def test_more_centroids_mean_less_error(monkeypatch, kmeans, block):
    monkeypatch.setattr(_product_quantizer, "_kmeans", lambda: kmeans)
    X = gaussian(2000, 22)
    errors = [
        error(X, pq.decode(pq.encode(X)))
        for pq in (mc.ProductQuantizer(block, c, random_state=0).fit(X) for c in (4, 32, 256))
    ]
    assert errors[0] > errors[1] > errors[2]


def test_a_permutation_helps_where_variances_differ():
    X = gaussian(5000, 64) * np.geomspace(1, 50, 64, dtype=np.float32)
    errors = {
        rotation: error(X, pq.decode(pq.encode(X)))
        for rotation in ROTATION
        for pq in [mc.ProductQuantizer(8, rotation=rotation, random_state=0).fit(X)]
    }
    assert errors["permutation"] < 0.8 * errors[None]
    assert errors["orthogonal"] < errors[None]


@pytest.mark.parametrize("rotation", ROTATION)
@pytest.mark.parametrize("seen", [True, False])
def test_zeros_decode_to_exact_zeros_even_where_fit_saw_none(rotation, seen):
    X = gaussian(3000, 40) + 5
    Z = X.copy()
    Z[::7] = 0
    Z[1::7, 8:16] = 0
    pq = mc.ProductQuantizer(8, rotation=rotation, random_state=0).fit(Z if seen else X)
    decoded = pq.decode(pq.encode(Z))
    assert not decoded[::7].any()
    if rotation is None:
        assert not decoded[1::7, 8:16].any()


@pytest.mark.parametrize("constant", [0.0, -0.0, 3.25, 1e6])
def test_constant_columns_are_exact(constant):
    X = gaussian(1000, 16)
    X[:, 4:8] = constant
    pq = mc.ProductQuantizer(4, random_state=0).fit(X)
    np.testing.assert_array_equal(pq.decode(pq.encode(X))[:, 4:8], X[:, 4:8])


def test_few_different_values_are_kept_exactly():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12), dtype=np.float32)[rng.integers(0, 100, 5000)]
    pq = mc.ProductQuantizer(4, random_state=0).fit(X)
    np.testing.assert_array_equal(pq.decode(pq.encode(X)), X)


@pytest.mark.parametrize("offset", [0, 1e4])
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e12])
def test_neither_offset_nor_unit_spoils_the_codebooks(offset, scale):
    Z = gaussian(3000, 16)
    X = ((Z + np.float32(offset)) * np.float32(scale)).astype(np.float32)
    pq = mc.ProductQuantizer(4, random_state=0).fit(X)
    decoded = pq.decode(pq.encode(X)) / np.float32(scale) - np.float32(offset)
    assert error(Z, decoded) < 0.3


@pytest.mark.parametrize("rotation", ROTATION)
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(rotation):
    X = gaussian(3000, 30)
    states = []
    for n_threads in (1, 2, 3):
        with mc.threads(n_threads):
            pq = mc.ProductQuantizer(4, rotation=rotation, random_state=7).fit(X)
            states.append(pq.codebooks_.tobytes() + pq.encode(X).codes.tobytes())
    assert len(set(states)) == 1
    other = mc.ProductQuantizer(4, rotation=rotation, random_state=8).fit(X)
    assert other.codebooks_.tobytes() not in states[0]


@pytest.mark.parametrize("budget", [1 << 12, 1 << 16, 1 << 30])
def test_a_sample_that_does_not_fit_in_memory_gives_the_same_codebooks(monkeypatch, budget):
    from manyclass.data import product_quantizer

    X = gaussian(700, 50)
    whole = mc.ProductQuantizer(8, rotation="orthogonal", random_state=0).fit(X).codebooks_
    monkeypatch.setattr(product_quantizer, "_SAMPLE_BYTES", budget)
    parts = mc.ProductQuantizer(8, rotation="orthogonal", random_state=0).fit(X).codebooks_
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16])
def test_any_real_dtype_is_encoded(dtype):
    X = (gaussian(500, 20) * 30).astype(dtype)
    pq = mc.ProductQuantizer(4, random_state=0).fit(X)
    assert error(X.astype(np.float64), pq.decode(pq.encode(X))) < 0.2


@pytest.mark.parametrize("rotation", ROTATION)
def test_state_is_plain_arrays_and_gives_the_same_quantizer_without_faiss(tmp_path, rotation):
    X = gaussian(600, 70)
    pq = mc.ProductQuantizer(8, rotation=rotation, random_state=0).fit(X)
    settings_, arrays = pq.state()
    np.savez(tmp_path / "state.npz", X=X, codes=pq.encode(X).codes, decoded=pq.decode(pq.encode(X)), **arrays)
    script = f"""
import sys; sys.modules["faiss"] = None; sys.modules["sklearn"] = None
import numpy as np, manyclass as mc
saved = dict(np.load({str(tmp_path / "state.npz")!r}))
pq = mc.ProductQuantizer.from_state({settings_!r}, saved)
np.testing.assert_array_equal(pq.encode(saved["X"]).codes, saved["codes"])
np.testing.assert_array_equal(pq.decode(saved["codes"]), saved["decoded"])
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_encode_reports_progress():
    X, seen = gaussian(5000, 600), []
    mc.ProductQuantizer(8, random_state=0, sample=300).fit(X).encode(X, progress=lambda *at: seen.append(at))
    assert seen[-1] == (5000, 5000)
    assert len(seen) > 1
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"block": 0}, "block must be a whole number, at least 1; got 0"),
        ({"block": 2.5}, "block must be a whole number"),
        ({"n_centroids": 257}, "n_centroids must be a whole number, from 2 to 256; got 257"),
        ({"rotation": "full"}, "rotation must be None, 'permutation' or 'orthogonal'; got 'full'"),
        ({"sample": -3}, "sample must be a whole number"),
    ],
)
def test_wrong_settings_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        mc.ProductQuantizer(**wrong)


def test_wrong_data_is_refused_in_one_sentence():
    X = gaussian(300, 16)
    pq = mc.ProductQuantizer(4, random_state=0)
    with pytest.raises(ValueError, match="call fit first"):
        pq.encode(X)
    with pytest.raises(ValueError, match="at least one row and one column"):
        pq.fit(X[:0])
    pq.fit(X)
    with pytest.raises(ValueError, match="X must have 16 columns, as in fit"):
        pq.encode(X[:, :12])
    X[123, 3] = np.nan
    with pytest.raises(ValueError, match="row 123 has NaN"):
        pq.encode(X)
    with pytest.raises(ValueError, match="row 123 has NaN or infinity"):
        mc.ProductQuantizer(4).fit(X)


@pytest.mark.parametrize("codes", [np.zeros((3, 5), np.uint8), np.zeros((3, 4), np.int64), np.zeros(4, np.uint8)])
def test_codes_of_another_quantizer_are_refused(codes):
    pq = mc.ProductQuantizer(4, random_state=0).fit(gaussian(300, 16))
    with pytest.raises(ValueError, match=r"codes must be uint8 with one column per codebook \(4\)"):
        mc.QuantizedMatrix(codes, pq)


def test_codes_beyond_the_codebook_are_refused():
    pq = mc.ProductQuantizer(4, n_centroids=16, random_state=0).fit(gaussian(300, 16))
    with pytest.raises(ValueError, match="codes must be below the number of centroids, 16; got 200"):
        mc.QuantizedMatrix(np.full((3, 4), 200, np.uint8), pq)


def test_codes_are_those_of_faiss_but_for_ties():
    faiss = pytest.importorskip("faiss")
    X = gaussian(3000, 64)
    ours = mc.ProductQuantizer(8, random_state=0).fit(X)
    theirs = faiss.ProductQuantizer(64, 8, 8)
    faiss.copy_array_to_vector(ours.codebooks_.ravel(), theirs.centroids)
    a, b = ours.encode(X).codes, theirs.compute_codes(X)
    for i, q in zip(*np.nonzero(a != b), strict=True):
        x = X[i, 8 * q : 8 * q + 8].astype(np.float64)
        da, db = (((x - ours.codebooks_[q, c]) ** 2).sum() for c in (a[i, q], b[i, q]))
        assert da == pytest.approx(db, rel=1e-6)
    assert (a != b).mean() < 1e-3


def test_fitting_again_changes_nothing_that_was_encoded_before():
    A, B = gaussian(600, 16, 0), gaussian(600, 16, 1) * 9
    pq = mc.ProductQuantizer(4, random_state=0).fit(A)
    Xq = pq.encode(A)
    before = Xq.toarray()
    pq.fit(B)
    np.testing.assert_array_equal(Xq.toarray(), before)
    with pytest.raises(ValueError, match="read-only"):
        pq.codebooks_[0] = 0


def test_a_fit_that_fails_leaves_the_quantizer_as_it_was():
    A, B = gaussian(300, 16), gaussian(300, 32)
    pq = mc.ProductQuantizer(4, random_state=0).fit(A)
    codes = pq.encode(A).codes
    B[7, 3] = np.nan
    with pytest.raises(ValueError, match="row 7 has NaN"):
        pq.fit(B)
    np.testing.assert_array_equal(pq.encode(A).codes, codes)


def test_numbers_beyond_float32_are_refused_with_their_row():
    X = gaussian(300, 16).astype(np.float64)
    pq = mc.ProductQuantizer(4, random_state=0).fit(X)
    X[45, 2] = 1e39
    with pytest.raises(ValueError, match="row 45 has NaN"):
        pq.encode(X)
    with pytest.raises(ValueError, match="row 45 has NaN"):
        mc.ProductQuantizer(4).fit(X)


def test_rows_of_another_width_are_refused_even_if_there_are_none():
    pq = mc.ProductQuantizer(4, random_state=0).fit(gaussian(300, 16))
    with pytest.raises(ValueError, match="X must have 16 columns"):
        pq.encode(np.zeros((0, 5)))


def test_fitting_without_faiss_leaves_threads_and_warnings_as_they_were(monkeypatch):
    import warnings

    from threadpoolctl import threadpool_limits

    from manyclass._core.parallel import _libraries

    monkeypatch.setattr(_product_quantizer, "_kmeans", lambda: _product_quantizer._sklearn_kmeans)
    X = gaussian(2000, 64)
    with threadpool_limits(2), mc.threads(3):
        # Libraries that other tests have loaded may have more of a will of their own than those that we use.
        filters, before = list(warnings.filters), [library.num_threads for library in _libraries()]
        assert 2 in before
        mc.ProductQuantizer(4, 32, random_state=0).fit(X)
        assert [library.num_threads for library in _libraries()] == before
        assert warnings.filters == filters


def test_a_permutation_is_fitted_on_all_of_the_sample(monkeypatch):
    # Rows sorted by class: the first ones vary in other columns than the last.
    X = np.zeros((4000, 32), np.float32)
    X[:2000, :16] = gaussian(2000, 16)
    X[2000:, 16:] = 10 * gaussian(2000, 16)
    order = mc.ProductQuantizer(8, rotation="permutation", random_state=0).fit(X).rotation_.order
    for block in order.reshape(4, 8):
        assert (block >= 16).sum() == 4
