"""Stores can be read with NumPy and docs/formats.md alone."""

import json

import numpy as np
import pytest

import manyclass as mc


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
