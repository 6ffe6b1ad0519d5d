"""Features of networks in ONNX files, run by onnxruntime on the processor.

    onnx_features    OnnxFeatures, the encoder
    network          a layer of a network, and images as it wants them
    graph            the nodes of an ONNX file: which tensor to take, and where its channels are
    pooling          maps of activations to one vector: SPoC, GeM, mean, maximum

The packages onnx and onnxruntime are imported when a network is opened; they come with the extra `onnx`.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
