"""Runs over the same images by the same encoder are the same run."""

import hashlib
from pathlib import Path

import pytest
from sklearn.exceptions import NotFittedError

import manyclass as mc
from manyclass.features.extraction.run_identity import encoder_digest
from tests.features import networks
from tests.features.child import Means, Pairs
from tests.features.twins import images_of


def test_encoders_that_learned_something_else_have_other_digests(tmp_path):
    class Saved(Means):
        def save(self, path):
            Path(path).write_bytes(str(self.seconds).encode())

    digests = {encoder_digest(encoder) for encoder in (Saved(1), Saved(2), Means(), Pairs())}
    assert len(digests) == 4
    assert encoder_digest(Saved(1)) in digests


@pytest.mark.parametrize("encoder", [mc.FisherVectors(2, scales=1), mc.BagOfWords(4), mc.Vlad(3, n_components=8)])
def test_the_digest_of_an_encoder_is_that_of_the_file_that_it_saves(tmp_path, encoder):
    encoder.set_params(random_state=0, n_samples=500).fit(images_of(2))
    encoder.save(tmp_path / "encoder")
    assert encoder_digest(encoder) == hashlib.sha256((tmp_path / "encoder").read_bytes()).hexdigest()


def test_the_digest_of_a_network_is_that_of_the_file_that_it_saves(tmp_path):
    pytest.importorskip("onnx")
    networks.tiny(tmp_path / "net.onnx")
    digest = encoder_digest(mc.OnnxFeatures(tmp_path / "net.onnx"))
    mc.OnnxFeatures(tmp_path / "net.onnx").save(tmp_path / "encoder")
    assert digest == hashlib.sha256((tmp_path / "encoder").read_bytes()).hexdigest()


def test_an_encoder_that_has_learned_nothing_has_no_digest():
    with pytest.raises(NotFittedError):
        encoder_digest(mc.FisherVectors())
