import copy

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import manyclass as mc
from tests.features import networks
from tests.features.hostile import picture, saved

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture
def net(tmp_path):
    return networks.tiny(tmp_path / "net.onnx")


def prepared(image):
    return (image / 255 - MEAN) / STD


def unit(v):
    return v / np.linalg.norm(v)


def test_the_network_runs_on_prepared_pixels(net):
    found = mc.OnnxFeatures(net, layer="maps", pooling=None).encode(picture())
    assert_allclose(found, networks.maps(prepared(picture())).ravel(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("pooling", "twin"),
    [
        ("mean", lambda A: A.mean(axis=(1, 2))),
        ("max", lambda A: A.max(axis=(1, 2))),
        ("gem", lambda A: (np.maximum(A, 1e-6) ** 3).mean(axis=(1, 2)) ** (1 / 3)),
    ],
)
def test_maps_are_pooled_to_unit_vectors(net, pooling, twin):
    found = mc.OnnxFeatures(net, pooling=pooling).encode(picture())
    assert found.dtype == np.float32
    assert_allclose(found, unit(twin(networks.maps(prepared(picture())))), rtol=1e-4, atol=1e-6)


def test_spoc_weighs_the_center_as_its_paper_says(net):
    A = networks.maps(prepared(picture()))
    _, H, W = A.shape
    total = np.zeros(len(A))
    for y in range(H):
        for x in range(W):
            r2 = (y + 0.5 - H / 2) ** 2 + (x + 0.5 - W / 2) ** 2
            total += A[:, y, x] * np.exp(-r2 / (2 * (min(H, W) / 2 / 3) ** 2))
    assert_allclose(mc.OnnxFeatures(net).encode(picture()), unit(total), rtol=1e-4, atol=1e-6)


def test_without_pooling_and_layer_the_output_is_taken_as_it_is(net):
    found = mc.OnnxFeatures(net, pooling=None).encode(picture())
    assert_allclose(found, networks.maps(prepared(picture())).mean(axis=(1, 2))[:2], rtol=1e-4, atol=1e-5)


def test_a_layer_without_a_map_becomes_a_unit_vector(net):
    found = mc.OnnxFeatures(net, layer="vector", pooling="spoc").encode(picture())
    assert_allclose(found, unit(networks.maps(prepared(picture())).mean(axis=(1, 2))), rtol=1e-4)


@pytest.mark.parametrize("layer", [None, "maps", "last", "out"])
def test_networks_with_channels_last_give_the_same_vectors(tmp_path, net, layer):
    other = networks.tiny(tmp_path / "last.onnx", channels_last=True)
    found = mc.OnnxFeatures(other, layer=layer, pooling="max").encode(picture())
    assert_allclose(found, mc.OnnxFeatures(net, pooling="max").encode(picture()), rtol=1e-5)


@pytest.mark.parametrize("batch", ["n", 1, 4])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_batches_of_the_file_and_of_the_user_change_nothing(tmp_path, batch, batch_size):
    net = networks.tiny(tmp_path / "n.onnx", batch=batch, size=(20, 24))
    images = [picture(40, 60, seed) for seed in range(7)]
    features = mc.OnnxFeatures(net, batch_size=batch_size)
    assert_allclose(features.transform(images), [features.encode(image) for image in images], rtol=1e-5)
    assert features.encode_many(images[:3]).shape == (3, networks.CHANNELS)


def test_pictures_of_several_sizes_may_be_in_one_batch(net):
    features = mc.OnnxFeatures(net, batch_size=4)
    images = [picture(30 + i, 50) for i in range(5)]
    assert_array_equal(features.transform(images), [features.encode(image) for image in images])


def test_paths_are_read_and_a_bad_one_is_named(tmp_path, net):
    (tmp_path / "a.png").write_bytes(saved(picture(), "PNG"))
    features = mc.OnnxFeatures(net)
    assert_array_equal(features.transform([tmp_path / "a.png"])[0], features.encode(picture()))
    (tmp_path / "b.png").write_bytes(b"")
    with pytest.raises(mc.ImageError, match=r"b\.png is empty"):
        features.transform([tmp_path / "a.png", tmp_path / "b.png"])


def test_it_streams_into_a_store_with_the_same_bits_for_any_number_of_threads(tmp_path, net):
    images = [picture(30 + i, 50, i) for i in range(12)]
    for n in (1, 3):
        with mc.threads(n):
            mc.write_features(tmp_path / f"{n}.store", images, mc.OnnxFeatures(net, batch_size=2))
    a, b = (mc.open_store(tmp_path / f"{n}.store").X.toarray() for n in (1, 3))
    assert_array_equal(a, b)
    assert a.shape == (12, networks.CHANNELS)


def test_a_picture_too_small_for_the_network_is_skipped_and_the_rest_is_not(tmp_path, net):
    run = mc.write_features(tmp_path / "a.store", [picture(), picture(2, 2), picture()], mc.OnnxFeatures(net))
    assert [entry.position for entry in run.skipped] == [1]
    assert "net.onnx cannot run on shape (1, 3, 2, 2)" in run.skipped[0].reason


def test_it_saves_and_loads_to_the_same_bits(tmp_path, net):
    features = mc.OnnxFeatures(net, pooling="gem", mean=(0.5, 0.5, 0.5), batch_size=2)
    features.save(tmp_path / "encoder")
    again = mc.load(tmp_path / "encoder")
    assert again.get_params() == features.get_params() | {"model": str(net)}
    assert_array_equal(again.encode(picture()), features.encode(picture()))


def test_another_network_under_the_same_name_is_refused(tmp_path, net):
    mc.OnnxFeatures(net).save(tmp_path / "encoder")
    networks.tiny(net, size=(20, 20))
    with pytest.raises(ValueError, match="must be the network that this encoder was saved with"):
        mc.load(tmp_path / "encoder").encode(picture())
    assert mc.OnnxFeatures(net).fit().n_features_out_ == networks.CHANNELS


def test_another_json_beside_the_network_is_refused_too(tmp_path, net):
    mc.OnnxFeatures(net).save(tmp_path / "encoder")
    net.with_suffix(".json").write_text('{"std": 1}')
    with pytest.raises(ValueError, match="must be the network that this encoder was saved with"):
        mc.load(tmp_path / "encoder").encode(picture())


def test_a_saved_encoder_finds_its_network_from_any_folder(tmp_path, net, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mc.OnnxFeatures("net.onnx").save("encoder")
    monkeypatch.chdir("/")
    assert mc.load(tmp_path / "encoder").n_features_out_ == networks.CHANNELS


def test_it_can_be_cloned_and_copied_though_its_session_cannot(net):
    features = mc.OnnxFeatures(net).fit()
    expected = features.encode(picture())
    for other in (clone(features), copy.deepcopy(features)):
        assert_array_equal(other.encode(picture()), expected)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pooling": "median"}, "pooling must be one of spoc, mean, max, gem; got 'median'"),
        ({"layer": "nothing"}, "layer must be the name of a node or a tensor .* got 'nothing'; the last are .*scores"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(net, settings, words):
    with pytest.raises(ValueError, match=words):
        mc.OnnxFeatures(net, **settings).fit()


def test_files_that_are_no_networks_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError):
        mc.OnnxFeatures(tmp_path / "nothing.onnx").fit()
    (tmp_path / "x.onnx").write_bytes(b"no protobuf at all")
    with pytest.raises(ValueError, match=r"x\.onnx must be an ONNX file"):
        mc.OnnxFeatures(tmp_path / "x.onnx").fit()


def test_other_weights_in_the_file_beside_a_network_are_refused_too(tmp_path, net):
    outside = tmp_path / "outside.onnx"
    onnx.save(onnx.load(net), outside, save_as_external_data=True, location="weights", size_threshold=0)
    encoder = mc.OnnxFeatures(outside).fit()
    assert_array_equal(encoder.encode(picture()), mc.OnnxFeatures(net).encode(picture()))
    encoder.save(tmp_path / "encoder")
    weights = bytearray((tmp_path / "weights").read_bytes())
    weights[0] ^= 1
    (tmp_path / "weights").write_bytes(weights)
    with pytest.raises(ValueError, match="must be the network that this encoder was saved with"):
        mc.load(tmp_path / "encoder").encode(picture())


def test_features_have_names_in_a_pipeline(net):
    pipeline = make_pipeline(mc.OnnxFeatures(net), StandardScaler()).fit([picture()])
    assert list(pipeline.get_feature_names_out()) == [f"onnxfeatures{i}" for i in range(networks.CHANNELS)]


def test_maps_with_channels_last_inside_a_network_are_pooled_over_places(tmp_path):
    path = networks.channels_last_block(tmp_path / "net.onnx")
    found = mc.OnnxFeatures(path, pooling="mean").encode(picture())
    assert_allclose(found, unit(mc.OnnxFeatures(path, pooling=None).encode(picture())), rtol=1e-4)


def test_activations_as_large_as_pictures_of_many_sizes_are_refused_with_the_way_out(net):
    with pytest.raises(ValueError, match="for image 0; pass size for a network whose layer is as large"):
        mc.OnnxFeatures(net, layer="maps", pooling=None).transform([picture()])
