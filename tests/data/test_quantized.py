"""The native loops against slow, obvious twins, at every instruction set and number of threads."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import manyclass as mc
from manyclass import _native

SIZES = st.tuples(st.integers(1, 70), st.integers(1, 40), st.integers(1, 17), st.integers(1, 35))


@pytest.fixture(params=_native.levels())
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _native.level()
    _native.set_level(request.param)
    yield request.param
    _native.set_level(before)


def twin(codes: NDArray, codebooks: NDArray, d: int) -> NDArray:
    """X, by the definition."""
    X = np.empty((len(codes), codebooks.shape[0] * codebooks.shape[2]), codebooks.dtype)
    for i, code in enumerate(codes):
        X[i] = np.concatenate([codebooks[q, c] for q, c in enumerate(code)])
    return X[:, :d]


def problem(rng: np.random.Generator, n: int, d: int, width: int, centroids: int = 256, integers: bool = True):
    """Codes and codebooks of small integers, whose products are exact in float32."""
    blocks = -(-d // width)
    codes = rng.integers(0, centroids, (n, blocks), dtype=np.uint8)
    draw = rng.integers(-8, 9, (blocks, centroids, width)) if integers else rng.normal(size=(blocks, centroids, width))
    return codes, draw.astype(np.float32)


def pq_rmatmat(codes, codebooks, R, out, threads):
    crowded = np.empty((-(-len(codes) // _native.CHUNK_ROWS), codes.shape[1]), np.uint8)
    _native.pq_find_crowded(codes, codebooks, crowded, threads)
    _native.pq_rmatmat(codes, codebooks, crowded, R, out, threads)


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES, threads=st.integers(1, 3), centroids=st.sampled_from([1, 3, 17, 256]), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", _native.levels())
def test_products_of_small_integers_are_exact_at_every_level(name, sizes, threads, centroids, seed):
    n, d, width, k = sizes
    rng = np.random.default_rng(seed)
    codes, codebooks = problem(rng, n, d, width, centroids)
    X = twin(codes, codebooks, d)
    W = rng.integers(-8, 9, (d, k)).astype(np.float32)
    R = rng.integers(-8, 9, (n, k)).astype(np.float32)
    XW, XtR, decoded = np.full((n, k), np.nan, "f"), np.full((d, k), np.nan, "f"), np.full((n, d), np.nan, "f")
    before = _native.level()
    try:
        _native.set_level(name)
        _native.pq_matmat(codes, codebooks, W, XW, threads)
        pq_rmatmat(codes, codebooks, R, XtR, threads)
        _native.pq_decode(codes, codebooks, decoded, threads)
    finally:
        _native.set_level(before)
    np.testing.assert_array_equal(decoded, X)
    np.testing.assert_array_equal(XW, X @ W)
    np.testing.assert_array_equal(XtR, X.T @ R)


@pytest.mark.parametrize("k", [1, 3, 8, 16, 19, 40])
def test_products_agree_with_float64(level, k):
    rng = np.random.default_rng(k)
    codes, codebooks = problem(rng, 9001, 133, 5, integers=False)
    X = twin(codes, codebooks.astype(np.float64), 133)
    W, R = rng.normal(size=(133, k)), rng.normal(size=(9001, k))
    XW, XtR = np.empty((9001, k), "f"), np.empty((133, k), "f")
    _native.pq_matmat(codes, codebooks, W.astype("f"), XW, 2)
    pq_rmatmat(codes, codebooks, R.astype("f"), XtR, 2)
    assert np.linalg.norm(XW - X @ W) < 1e-6 * np.linalg.norm(X @ W)
    assert np.linalg.norm(XtR - X.T @ R) < 1e-6 * np.linalg.norm(X.T @ R)


@pytest.mark.parametrize("order", ["mixed", "sorted"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 1.0])
def test_sums_over_many_equal_rows_do_not_drift(level, share, order):
    # 0.1 added a million times in float32 is off by a percent.
    rng = np.random.default_rng(0)
    codes, codebooks = problem(rng, 1_000_000, 8, 4, integers=False)
    codes[rng.random(len(codes)) < share] = 7
    if order == "sorted":
        codes = np.sort(codes, axis=0)
    R, out = np.full((len(codes), 1), 0.1, "f"), np.empty((8, 1), "f")
    pq_rmatmat(codes, codebooks, R, out, 1)
    counts = np.stack([np.bincount(column, minlength=256) for column in codes.T])
    exact = np.einsum("qc,qcj->qj", counts, codebooks.astype(np.float64)).ravel() * np.float64(R[0, 0])
    assert np.abs(out[:, 0] - exact).max() < 1e-5 * np.abs(exact).max()


def test_sums_over_many_blocks_do_not_drift(level):
    codes, W, out = np.zeros((3, 25_000), np.uint8), np.full((100_000, 2), 0.1, "f"), np.empty((3, 2), "f")
    _native.pq_matmat(codes, np.full((25_000, 1, 4), 0.1, "f"), W, out, 1)
    np.testing.assert_allclose(out, 100_000 * np.float64(W[0, 0]) ** 2, rtol=5e-6)


@pytest.mark.parametrize("k", [1, 5, 16, 50])
def test_the_number_of_threads_changes_no_bit(level, k):
    rng = np.random.default_rng(k)
    codes, codebooks = problem(rng, 17_000, 301, 4, integers=False)
    # Blocks of which a few are crowded: here, or there, by one code or by several.
    codes[rng.random(codes.shape) < 0.5,] = 9
    codes[:, ::3] = rng.integers(0, 256, codes[:, ::3].shape)
    codes[9000:, 20] = 4
    W, R = rng.normal(size=(301, k)).astype("f"), rng.normal(size=(17_000, k)).astype("f")
    results = []
    for threads in (1, 2, 3, 7, 64):
        XW, XtR = np.empty((17_000, k), "f"), np.empty((301, k), "f")
        _native.pq_matmat(codes, codebooks, W, XW, threads)
        pq_rmatmat(codes, codebooks, R, XtR, threads)
        results.append(XW.tobytes() + XtR.tobytes())
    assert len(set(results)) == 1


def test_crowded_is_where_one_centroid_that_is_not_zero_takes_many_rows():
    rng = np.random.default_rng(0)
    codes, codebooks = problem(rng, 10_000, 12, 4, integers=False)
    codes[8192:, 1] = 3
    codes[:, 2] = 5
    codebooks[2, 5] = 0
    crowded = np.empty((2, 3), np.uint8)
    _native.pq_find_crowded(codes, codebooks, crowded, 2)
    np.testing.assert_array_equal(crowded, [[0, 0, 0], [0, 1, 0]])


def test_codes_that_no_codebook_has_lead_nowhere(level):
    codes, codebooks = problem(np.random.default_rng(0), 40, 16, 4, 9)
    codes[...] = 200
    decoded = np.empty((40, 16), "f")
    _native.pq_decode(codes, codebooks, decoded, 1)
    np.testing.assert_array_equal(decoded, np.tile(codebooks[:, -1].ravel(), (40, 1)))


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
def test_encoding_does_not_depend_on_the_unit(level, scale):
    rng = np.random.default_rng(0)
    _, codebooks = problem(rng, 1, 24, 8, integers=False)
    x = rng.normal(size=(300, 24)).astype("f")
    plain, scaled = np.empty((300, 3), np.uint8), np.empty((300, 3), np.uint8)
    assert _native.pq_encode(x, codebooks, plain, 1) == 300
    assert _native.pq_encode(x * np.float32(scale), codebooks * np.float32(scale), scaled, 1) == 300
    assert (plain != scaled).mean() < 1e-3


@pytest.mark.parametrize(("size", "d", "first"), [(64, 200, 0), (7, 50, 1), (16, 16, 0), (33, 40, 7)])
def test_mixing_multiplies_whole_groups_and_rows_by_themselves(level, size, d, first):
    rng = np.random.default_rng(0)
    x, Q = rng.normal(size=(37, d)).astype("f"), rng.normal(size=(size, size)).astype("f")
    padded = np.zeros((size, -(-size // 16) * 16), "f")
    padded[:, :size] = Q
    out = x.copy()
    _native.mix(x, padded, first, out, 2)
    expected = x.astype(np.float64)
    for start in range(first, d - size + 1, size):
        expected[:, start : start + size] = expected[:, start : start + size] @ Q
    np.testing.assert_allclose(out, expected, atol=1e-4)
    alone = x[5:6].copy()
    _native.mix(x[5:6].copy(), padded, first, alone, 1)
    np.testing.assert_array_equal(alone[0], out[5])


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES, centroids=st.integers(1, 256), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", _native.levels())
def test_encoding_finds_the_nearest_centroid_and_the_first_of_equals(name, sizes, centroids, seed):
    n, d, width, _ = sizes
    rng = np.random.default_rng(seed)
    _, codebooks = problem(rng, 1, d, width, centroids)
    x = rng.integers(-9, 10, (n, d)).astype(np.float32)
    codes = np.zeros((n, len(codebooks)), np.uint8)
    before = _native.level()
    try:
        _native.set_level(name)
        assert _native.pq_encode(x, codebooks, codes, 2) == n
    finally:
        _native.set_level(before)
    for q, book in enumerate(codebooks):
        part = x[:, q * width : (q + 1) * width]
        distances = ((part[:, None, :] - book[None, :, : part.shape[1]]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(codes[:, q], distances.argmin(axis=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("row", [0, 255, 256, 700])
def test_encoding_tells_the_first_row_that_is_not_finite(level, bad, row):
    rng = np.random.default_rng(0)
    _, codebooks = problem(rng, 1, 24, 8, integers=False)
    x = rng.normal(size=(701, 24)).astype("f")
    x[row, 13] = x[700, 2] = bad
    assert _native.pq_encode(x, codebooks, np.empty((701, 3), np.uint8), 2) == row


def test_inputs_are_never_converted_in_silence():
    codes, codebooks = problem(np.random.default_rng(0), 4, 8, 4)
    with pytest.raises(TypeError):
        _native.pq_matmat(codes, codebooks, np.ones((8, 2)), np.empty((4, 2), "f"), 1)
    with pytest.raises(TypeError):
        _native.pq_matmat(codes, codebooks, np.ones((2, 8), "f").T, np.empty((4, 2), "f"), 1)


def test_shapes_that_do_not_fit_are_refused():
    codes, codebooks = problem(np.random.default_rng(0), 4, 8, 4)
    with pytest.raises(ValueError, match="last block"):
        _native.pq_matmat(codes, codebooks, np.ones((9, 2), "f"), np.empty((4, 2), "f"), 1)
    with pytest.raises(ValueError, match="out must have shape"):
        _native.pq_matmat(codes, codebooks, np.ones((8, 2), "f"), np.empty((5, 2), "f"), 1)
    with pytest.raises(ValueError, match="one column per codebook"):
        _native.pq_decode(codes[:, :1].copy(), codebooks, np.empty((4, 8), "f"), 1)


def test_a_level_that_the_processor_lacks_is_refused():
    with pytest.raises(ValueError, match="level 'sse9' needs a processor with it; this one stops at"):
        _native.set_level("sse9")


@pytest.mark.parametrize(("n", "k"), [(0, 0), (0, 3), (5, 0)])
def test_products_of_nothing(level, n, k):
    codes, codebooks = problem(np.random.default_rng(0), n, 10, 4)
    XW, XtR = np.ones((n, k), "f"), np.ones((10, k), "f")
    _native.pq_matmat(codes, codebooks, np.ones((10, k), "f"), XW, 2)
    pq_rmatmat(codes, codebooks, np.ones((n, k), "f"), XtR, 2)
    assert not XtR.any()
    decoded = np.empty((n, 10), "f")
    _native.pq_decode(codes, codebooks, decoded, 2)
    assert _native.pq_encode(decoded, codebooks, codes, 2) == n


@pytest.mark.parametrize(("blocks", "width"), [(0, 0), (0, 4), (1, 0), (1, 4)])
def test_rows_without_columns_have_no_codes(blocks, width):
    codes, codebooks = np.zeros((3, blocks), np.uint8), np.zeros((blocks, 2, width), "f")
    crowded = np.zeros((1, blocks), np.uint8)
    with pytest.raises(ValueError, match="last block of the codebooks"):
        _native.pq_matmat(codes, codebooks, np.ones((0, 2), "f"), np.empty((3, 2), "f"), 1)
    with pytest.raises(ValueError, match="last block of the codebooks"):
        _native.pq_rmatmat(codes, codebooks, crowded, np.ones((3, 2), "f"), np.empty((0, 2), "f"), 1)
    with pytest.raises(ValueError, match="last block of the codebooks"):
        _native.pq_decode(codes, codebooks, np.empty((3, 0), "f"), 1)
    with pytest.raises(ValueError, match="last block of the codebooks"):
        _native.pq_encode(np.empty((3, 0), "f"), codebooks, codes, 1)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_nothing_is_mixed_or_gathered(shape):
    nothing, out = np.empty(shape, "f"), np.empty(shape, "f")
    _native.mix(nothing, np.ones((7, 16), "f"), 0, out, 2)
    _native.gather(nothing, np.arange(len(nothing)), out, 2)


def test_nothing_is_gathered_into_a_copy():
    with pytest.raises(TypeError, match="incompatible"):
        _native.gather(np.ones((3, 2), "f"), np.arange(3), np.empty((3, 2)), 1)


def test_where_rows_crowd_is_found_once_per_range(monkeypatch):
    calls, find = [], _native.pq_find_crowded
    monkeypatch.setattr(_native, "pq_find_crowded", lambda codes, *rest: calls.append(len(codes)) or find(codes, *rest))
    rng = np.random.default_rng(0)
    X = (
        mc.ProductQuantizer(4, 16, iterations=2, random_state=0)
        .fit(rng.normal(size=(99, 32)))
        .encode(rng.normal(size=(3000, 32)))
    )
    for _ in range(3):
        for rows in (slice(None), slice(0, 1000), slice(1000, 3000)):
            some = X.row_slice(rows)
            some.rmatmat(np.ones((len(some), 2)))
            some.row_slice(slice(0, 1000)).rmatmat(np.ones((1000, 2)))
    assert calls == [3000, 1000, 2000, 1000]


def test_a_slice_reads_the_codes_of_the_whole():
    X = mc.ProductQuantizer(2, 4, random_state=0).fit(np.eye(8)).encode(np.eye(8))
    some = X.row_slice(slice(2, 6)).row_slice(slice(1, 3))
    assert np.shares_memory(some.codes, X.codes)
    np.testing.assert_array_equal(some.codes, X.codes[3:5])
