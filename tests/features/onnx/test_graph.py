"""Which tensor is taken out of a network, and which of its axes are channels."""

import os

import onnx
import pytest
from numpy.testing import assert_array_equal
from onnx import TensorProto, helper

import manyclass as mc
from manyclass.features.onnx.graph import Graph, data_files
from tests.features import networks
from tests.features.hostile import picture


@pytest.fixture
def net(tmp_path):
    return networks.tiny(tmp_path / "net.onnx")


@pytest.mark.parametrize("layer", ["maps", "relu", None])
def test_a_layer_is_the_name_of_a_tensor_or_of_a_node_or_the_last_map(net, layer):
    a, b = (mc.OnnxFeatures(net, layer=name).encode(picture()) for name in (layer, "maps"))
    assert_array_equal(a, b)


def test_attention_is_not_taken_for_a_map_of_activations(tmp_path):
    path = networks.attention(tmp_path / "net.onnx")
    with pytest.raises(ValueError, match=r"layer must be given .* weights, is not a map of activations"):
        mc.OnnxFeatures(path).fit()
    assert mc.OnnxFeatures(path, pooling=None).encode(picture()).shape == (8,)
    assert mc.OnnxFeatures(path, layer="conv").encode(picture()).shape == (networks.CHANNELS,)


@pytest.mark.parametrize(
    ("layer", "spatial", "tensor"),
    [
        (None, True, "maps"),
        (None, False, "scores"),
        ("relu", True, "maps"),
        ("c", False, "c"),
        ("pool", True, "pooled"),
    ],
)
def test_a_tensor_is_found_by_its_name_or_by_that_of_its_node(net, layer, spatial, tensor):
    assert Graph(net).tensor(layer, spatial) == tensor


def test_a_name_of_nothing_is_refused_with_the_last_that_there_are(net):
    with pytest.raises(ValueError, match=r"layer must be the name of .* got 'x'; the last are .*vector, scores"):
        Graph(net).tensor("x", True)


@pytest.mark.parametrize("tensor", ["image", "x", "c", "maps", "last"])
def test_channels_are_where_the_layout_of_the_nodes_before_puts_them(tmp_path, tensor):
    graph = Graph(networks.tiny(tmp_path / "last.onnx", channels_last=True))
    assert graph.channels_last(tensor, input_last=True) == (tensor in ("image", "last"))


def test_channels_are_followed_past_what_mixes_positions(tmp_path):
    graph = Graph(networks.channels_last_block(tmp_path / "net.onnx"))
    assert [graph.channels_last(name, False) for name in ("c", "last", "sum", "maps")] == [False, True, True, True]


def test_the_model_that_is_cut_has_one_output_and_the_file_stays(net):
    before = net.read_bytes()
    cut = onnx.load_from_string(Graph(net).bytes_with_output("maps"))
    assert [output.name for output in cut.graph.output] == ["maps"]
    assert net.read_bytes() == before


def test_weights_beside_a_model_are_named_and_most_models_have_none(tmp_path, net):
    assert data_files(net) == []
    outside = tmp_path / "outside.onnx"
    onnx.save(onnx.load(net), outside, save_as_external_data=True, location="weights", size_threshold=0)
    assert data_files(outside) == [tmp_path / "weights"]


@pytest.mark.parametrize("read", [Graph, data_files])
def test_a_file_that_is_no_network_is_one_sentence(tmp_path, read):
    (tmp_path / "x.onnx").write_bytes(b"no protobuf at all")
    with pytest.raises(ValueError, match=r"x\.onnx must be an ONNX file; it cannot be read"):
        read(tmp_path / "x.onnx")


def outside(net, **entries):
    """The network with its weights in a file beside it, and other words about where that is."""
    path = net.with_name("outside.onnx")
    onnx.save(onnx.load(net), path, save_as_external_data=True, location="weights", size_threshold=0)
    proto = onnx.load(path, load_external_data=False)
    for tensor in proto.graph.initializer:
        for entry in tensor.external_data:
            entry.value = entries.get(entry.key, entry.value)
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize(
    "location", ["/dev/zero", "/etc/passwd", "../net.onnx", "a/../../net.onnx", "link", "folder", ""]
)
def test_weights_outside_the_folder_of_a_network_are_not_read(tmp_path, location):
    folder = tmp_path / "nets"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "other").write_bytes(bytes(1000))
    (folder / "link").symlink_to(tmp_path / "other")
    path = outside(networks.tiny(folder / "net.onnx"), location=location)
    with pytest.raises(
        ValueError, match=r"must have its weights in its own folder; it asks for|must be a regular file"
    ):
        mc.OnnxFeatures(path).fit()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_weights_in_a_pipe_or_a_device_are_not_waited_for(net, make):
    path = outside(net, location="pipe")
    make(path.with_name("pipe"))
    with pytest.raises(
        ValueError, match=r"must be a regular file; it is a FIFO|must have its weights in its own folder"
    ):
        mc.OnnxFeatures(path).fit()


@pytest.mark.parametrize("entries", [{"offset": "99999999"}, {"length": "1" * 17}, {"offset": "-1"}, {"length": "x"}])
def test_weights_beyond_the_end_of_their_file_are_refused(net, entries):
    with pytest.raises(ValueError, match=r"outside\.onnx must (have weights within|say where)"):
        mc.OnnxFeatures(outside(net, **entries)).fit()


def test_weights_of_a_constant_in_another_file_are_checked_too(net):
    proto = onnx.load(net)
    tensor = proto.graph.initializer.pop(0)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")
    tensor.external_data.add(key="location", value="/dev/zero")
    proto.graph.node.insert(0, helper.make_node("Constant", [], [tensor.name], value=tensor))
    net.write_bytes(proto.SerializeToString())
    with pytest.raises(ValueError, match="must have its weights in its own folder; it asks for '/dev/zero'"):
        mc.OnnxFeatures(net).fit()


@pytest.mark.parametrize(("batch", "size"), [(0, (16, 16)), (1, (0, 16)), (1, (0, 0)), (2**31 - 1, (224, 224))])
def test_an_input_without_pixels_or_with_too_many_is_refused(tmp_path, batch, size):
    path = networks.tiny(tmp_path / "net.onnx", batch=batch, size=size)
    with pytest.raises(ValueError, match=r"at least one pixel|must not take much more memory|cannot be run"):
        mc.OnnxFeatures(path).fit()
