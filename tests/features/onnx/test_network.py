"""Images as networks want them, and a layer run on many of them."""

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto, helper
from PIL import Image

import manyclass as mc
from manyclass.features.onnx.network import PRESETS, InputSettings, Network
from tests.features import networks
from tests.features.hostile import picture

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def prepared(image):
    return (image / 255 - MEAN) / STD


def unit(v):
    return v / np.linalg.norm(v)


@pytest.mark.parametrize("channels_last", [False, True])
def test_pictures_are_cut_and_resized_to_the_size_of_the_network(tmp_path, channels_last):
    net = networks.tiny(tmp_path / "n.onnx", size=(20, 24), channels_last=channels_last)
    found = mc.OnnxFeatures(net, pooling="max").encode(picture(40, 60))
    # A window of 24 x 20 fits twice in the height; 0.875 of that, in the middle.
    box = (30 - 0.875 * 24, 20 - 0.875 * 20, 30 + 0.875 * 24, 20 + 0.875 * 20)
    cut = np.asarray(Image.fromarray(picture(40, 60)).resize((24, 20), Image.Resampling.BICUBIC, box=box))
    assert_allclose(found, unit(networks.maps(prepared(cut)).max(axis=(1, 2))), rtol=1e-4)


def test_pictures_may_be_stretched_instead(tmp_path):
    net = networks.tiny(tmp_path / "n.onnx", size=(20, 24))
    found = mc.OnnxFeatures(net, pooling="max", crop="stretch").encode(picture(40, 60))
    whole = np.asarray(Image.fromarray(picture(40, 60)).resize((24, 20), Image.Resampling.BICUBIC))
    assert_allclose(found, unit(networks.maps(prepared(whole)).max(axis=(1, 2))), rtol=1e-4)


def test_options_go_before_the_json_beside_the_model_and_that_before_what_is_usual(tmp_path):
    net = networks.tiny(tmp_path / "n.onnx", beside={"mean": [0.5, 0.5, 0.5], "std": 0.25, "size": 16, "crop": 1})
    plain = {"layer": "maps", "pooling": None}
    cut = np.asarray(Image.fromarray(picture(30, 30)).resize((16, 16), Image.Resampling.BICUBIC))
    by_json = mc.OnnxFeatures(net, **plain).encode(picture(30, 30))
    assert_allclose(by_json, networks.maps((cut / 255 - 0.5) / 0.25).ravel(), rtol=1e-4, atol=1e-5)
    with pytest.warns(UserWarning, match=r"is 0, and .*n\.onnx says that its network was trained with 0\.5; leave it"):
        by_options = mc.OnnxFeatures(net, **plain, mean=(0, 0, 0), std=(0.25, 0.25, 0.25)).encode(picture(30, 30))
    assert_allclose(by_options, networks.maps(cut / 255 / 0.25).ravel(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "beside",
    [
        [1],
        {"means": [0, 0, 0]},
        {"mean": [0, 0]},
        {"std": [0, 1, 1]},
        {"crop": 1.5},
        {"crop": "all"},
        {"size": 0},
        {"mean": "x"},
    ],
)
def test_a_json_that_makes_no_sense_is_refused(tmp_path, beside):
    net = networks.tiny(tmp_path / "n.onnx", beside=beside)
    with pytest.raises(ValueError, match="must"):
        mc.OnnxFeatures(net).fit()


def test_a_network_that_takes_no_pictures_is_refused(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 7])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "x.onnx")
    with pytest.raises(ValueError, match="must take float32 images"):
        mc.OnnxFeatures(tmp_path / "x.onnx").fit()


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("batch", ["n", 1, 4])
@pytest.mark.parametrize("layer", ["maps", "vector"])
def test_activations_are_those_of_each_image_alone(tmp_path, channels_last, batch, layer):
    path = networks.tiny(tmp_path / "n.onnx", batch=batch, size=(20, 24), channels_last=channels_last)
    images = np.random.default_rng(0).standard_normal((6, 20, 24, 3)).astype(np.float32)
    expected = np.stack([networks.maps(image) for image in images])
    found = Network(path, layer, spatial=True).activations(images)
    assert found.dtype == np.float32
    assert_allclose(found, expected if layer == "maps" else expected.mean(axis=(2, 3)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("size", "declared"), [((20, 24), (20, 24)), (("h", "w"), None), ((20, "w"), None)])
def test_the_size_is_what_the_file_declares_if_it_declares_both(tmp_path, size, declared):
    assert Network(networks.tiny(tmp_path / "n.onnx", size=size), None, spatial=True).size == declared


def test_images_that_the_network_cannot_take_are_one_sentence(tmp_path):
    network = Network(networks.tiny(tmp_path / "n.onnx"), None, spatial=True)
    with pytest.raises(ValueError, match=r"n\.onnx cannot run on shape \(1, 3, 2, 2\): ") as caught:
        network.activations(np.zeros((1, 2, 2, 3), np.float32))
    assert "\n" not in str(caught.value)


def test_what_the_network_declares_goes_before_all_sizes(tmp_path):
    (tmp_path / "n.json").write_text('{"size": 16}')
    chosen = [InputSettings.choose(tmp_path / "n.onnx", {"size": 32}, size, {}).size for size in ((20, 24), None)]
    assert chosen == [(20, 24), (32, 32)]
    assert InputSettings.choose(tmp_path / "n.onnx", {}, None, {}).size == (16, 16)


def test_without_a_size_an_image_stays_as_large_as_it_is():
    settings = InputSettings((0.0, 0.5, 1.0), (1.0, 2.0, 4.0), 0.5, None)
    found = settings.prepare(np.full((3, 5, 3), 255, np.uint8))
    assert (found.shape, found.dtype) == ((3, 5, 3), np.float32)
    assert_array_equal(found[0, 0], [1, 0.25, 0])


def with_metadata(path, **metadata):
    model = onnx.load(networks.tiny(path))
    helper.set_model_props(model, {f"Image.{key}": value for key, value in metadata.items()})
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("named", "mean", "std"),
    [("Normalized_0_1", 0, 1), ("Normalized_1_1", 0.5, 0.5), ("NominalRange_0_255", 0, 1 / 255)],
)
def test_the_range_that_a_network_names_is_obeyed(tmp_path, named, mean, std):
    net = with_metadata(tmp_path / "n.onnx", NominalPixelRange=named)
    found = mc.OnnxFeatures(net, layer="maps", pooling=None).encode(picture())
    assert_allclose(found, networks.maps((picture() / 255 - mean) / std).ravel(), rtol=1e-4, atol=1e-3)


def test_a_network_that_wants_blue_first_gets_it(tmp_path):
    net = with_metadata(tmp_path / "n.onnx", NominalPixelRange="Normalized_0_1", BitmapPixelFormat="Bgr8")
    encoder = mc.OnnxFeatures(net, layer="maps", pooling=None)
    assert_allclose(encoder.encode(picture()), networks.maps(picture()[..., ::-1] / 255).ravel(), rtol=1e-4, atol=1e-5)
    assert encoder.input_ == "as it is; mean 0, std 1, blue first"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_its_mean_and_deviation(tmp_path, preset):
    net, mean, std = networks.tiny(tmp_path / "n.onnx"), PRESETS[preset]["mean"], PRESETS[preset]["std"]
    found = mc.OnnxFeatures(net, layer="maps", pooling=None, preset=preset).encode(picture())
    assert_allclose(found, networks.maps((picture() / 255 - mean) / std).ravel(), rtol=1e-4, atol=1e-3)


def test_what_is_given_goes_before_a_preset_and_that_before_the_metadata(tmp_path):
    net = with_metadata(tmp_path / "n.onnx", NominalPixelRange="Normalized_0_1")
    with pytest.warns(UserWarning, match=r"^std is 0\.5, and .* trained with 1; leave it out to obey$"):
        encoder = mc.OnnxFeatures(net, size=8, preset="inception", mean=(0, 0, 0)).fit()
    assert encoder.input_ == "center, 0.875 of it, at 8 x 8; mean 0, std 0.5"


def test_a_preset_of_no_name_is_refused(tmp_path):
    with pytest.raises(ValueError, match="preset must be one of imagenet, clip, inception, unit, bytes; got 'torch'"):
        mc.OnnxFeatures(networks.tiny(tmp_path / "n.onnx"), preset="torch").fit()
