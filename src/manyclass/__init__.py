"""Linear learning with very many classes on image features, and image search by exemplar machines."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Where each public name lives. It is imported when first used, so that `import manyclass` costs next to nothing.
_HOMES = {
    "BiasedMatrix": "data.biased",
    "SharedStructureClassifier": "estimators.shared_structure",
    "MultiTaskTraceNorm": "estimators.multi_task",
    "StochasticClassifier": "estimators.stochastic",
    "LinearClassifier": "estimators.linear_classifier",
    "TraceNormClassifier": "estimators.trace_norm",
    "TraceNormPath": "estimators.trace_path",
    "load": "_models",
    "JsonLines": "estimators.history",
    "Progress": "estimators.progress",
    "Gallery": "retrieval.gallery",
    "DenseMatrix": "data.dense",
    "Matrix": "data.matrix",
    "ProductQuantizer": "data.product_quantizer",
    "QuantizedMatrix": "data.quantized",
    "ScalarMatrix": "data.scalar",
    "ScalarQuantizer": "data.scalar_quantizer",
    "ShardedMatrix": "data.sharded",
    "SparseMatrix": "data.sparse",
    "StoreCorruptedError": "data.store",
    "Store": "data.store",
    "StorageError": "data.store",
    "StoreWriter": "data.store",
    "verify_store": "data.store",
    "as_matrix": "data.opening",
    "open_store": "data.store",
    "write_store": "data.store",
    "append_store": "data.store",
    "ExemplarLDA": "exemplar.discriminant",
    "ExemplarSVM": "exemplar.hinge",
    "KernelSquareLossExemplar": "exemplar.kernel_square_loss",
    "SquareLossExemplar": "exemplar.square_loss",
    "WhitenedPCA": "exemplar.whitening",
    "BagOfWords": "features.bag_of_words",
    "FisherVectors": "features.fisher",
    "ImageError": "features.images",
    "OnnxFeatures": "features.onnx_features",
    "Vlad": "features.vlad",
    "read_image": "features.images",
    "write_features": "features.writing",
    "GroupNorm": "penalties.group",
    "L1Norm": "penalties.l1",
    "Ridge": "penalties.ridge",
    "TraceNorm": "penalties.trace",
    "get_threads": "_threads",
    "set_threads": "_threads",
    "threads": "_threads",
}
_FOLDERS = ("data", "datasets", "evaluation", "exemplar", "features", "retrieval")

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in _FOLDERS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])
