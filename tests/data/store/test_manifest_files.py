"""The files of a store, as their records describe them."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.data.store.manifest import DTYPES, FileRecord, npy_header


def decoded(path):
    """The rows of a store of product codes, by the words of the page."""
    content = json.loads((path / "manifest.json").read_bytes())["content"]
    settings, d = content["quantizer"]["settings"], content["columns"]
    arrays = {name: np.load(path / file["name"]) for name, file in content["quantizer"]["arrays"].items()}
    codes = np.load(path / content["segments"][0]["codes"]["name"])
    n, c = codes.shape
    z = arrays["codebooks"][np.arange(c), codes].reshape(n, c * settings["block"])[:, :d]
    if settings["rotation"] is None:
        return z
    if settings["rotation"] == "orthogonal":
        mixer, rest = arrays["mixer"], arrays["rest"]
        w = d - len(rest)
        whole = (z[:, :w].reshape(-1, 64) @ mixer.T).reshape(n, w) if w else z[:, :0]
        z = np.hstack([whole, z[:, w:] @ rest.T])
    x = np.empty_like(z)
    x[:, arrays["order"]] = z
    return x


@pytest.mark.parametrize("rotation", [None, "permutation", "orthogonal"])
@pytest.mark.parametrize("d", [5, 64, 131])
def test_product_codes_are_decoded_as_the_page_says(tmp_path, rotation, d):
    X = np.random.default_rng(0).standard_normal((40, d), dtype=np.float32)
    quantizer = mc.ProductQuantizer(block=3, n_centroids=64, rotation=rotation, random_state=0).fit(X)
    store = mc.write_store(tmp_path / "a.store", X, quantizer=quantizer)
    np.testing.assert_allclose(decoded(store.path), store.X.toarray(), atol=1e-5)
    np.testing.assert_allclose(decoded(store.path), X, atol=1e-5)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("d", [1, 5, 6])
def test_scalar_codes_take_the_bytes_that_the_page_says(tmp_path, bits, d):
    X = np.random.default_rng(0).standard_normal((9, d), dtype=np.float32)
    store = mc.write_store(tmp_path / "a.store", X, quantizer=mc.ScalarQuantizer(bits).fit(X))
    codes, scale, zero = (
        np.load(store.path / f"{name}-0.npy") for name in ("codes", "quantizer_scale", "quantizer_zero")
    )
    assert codes.shape == (9, -(-d * bits // 8))
    if bits == 4:
        codes = np.stack([codes & 15, codes >> 4], axis=2).reshape(9, -1)
    assert not codes[:, d:].any()
    np.testing.assert_allclose(scale * (codes[:, :d] - zero.astype(float)), store.X.toarray(), atol=1e-6)


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 2**40), max_size=8))
def test_numpy_reads_our_header(dtype, shape):
    header = npy_header(dtype, tuple(shape))
    stream = io.BytesIO(header)
    assert np.lib.format.read_magic(stream) == (1, 0)
    assert np.lib.format.read_array_header_1_0(stream) == (tuple(shape), False, np.dtype(dtype))
    assert stream.tell() == len(header)
    assert len(header) % 64 == 0


@pytest.mark.parametrize("shape", [(0, 1), (10**18, 10**6), (2**62, 1)])
def test_the_header_of_rows_has_one_length_however_many_they_are(shape):
    assert len(npy_header("<f4", shape)) == 128


def test_a_record_comes_back_as_it_was():
    record = FileRecord.of_array("y-0.npy", np.arange(7))
    assert FileRecord.from_json(record.json()) == record
    assert record.span(0) == (128, 184)
