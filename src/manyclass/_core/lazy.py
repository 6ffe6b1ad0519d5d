"""Fronts of folders: public names that are imported when they are first used.

`HOMES` is the one table of where the public names of `manyclass` live. `import manyclass` reads it to find a name,
`load` to find the class of a model in a file, and a store to find the class of its quantizer; no file names a module.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

HOMES = {
    "BagOfWords": "features.aggregation.bag_of_words",
    "BiasedMatrix": "data.views",
    "DenseMatrix": "data.dense",
    "DurabilityWarning": "_core.errors",
    "ExemplarLDA": "exemplar.lda",
    "ExemplarSVM": "exemplar.svm",
    "FisherVectors": "features.aggregation.fisher",
    "Gallery": "retrieval.gallery",
    "GroupNorm": "penalties.norms",
    "ImageError": "features.images.pixels",
    "JsonLines": "estimators.callbacks",
    "KernelSquareLossExemplar": "exemplar.kernel_square_loss",
    "L1Norm": "penalties.norms",
    "LinearClassifier": "estimators.linear_classifier",
    "Matrix": "data.matrix",
    "MultiTaskTraceNorm": "estimators.shared.multi_task",
    "NearestCentroid": "estimators.nearest_centroid",
    "OnnxFeatures": "features.onnx.onnx_features",
    "ProductQuantizer": "data.product_quantizer",
    "Progress": "estimators.progress",
    "QuantizedHead": "estimators.heads.quantized_head",
    "QuantizedMatrix": "data.quantized",
    "RelevanceFeedback": "exemplar.relevance_feedback",
    "Ridge": "penalties.ridge",
    "ScalarMatrix": "data.scalar_quantizer",
    "ScalarQuantizer": "data.scalar_quantizer",
    "ShardedMatrix": "data.views",
    "SharedStructureClassifier": "estimators.shared.shared_structure",
    "SparseMatrix": "data.sparse",
    "SquareLossClassifier": "estimators.square_loss_classifier",
    "SquareLossExemplar": "exemplar.square_loss",
    "StochasticClassifier": "estimators.stochastic",
    "StorageError": "_core.errors",
    "Store": "data.store.store",
    "StoreCorruptedError": "_core.errors",
    "StoreWriter": "data.store.writer",
    "Taxonomy": "estimators.heads.taxonomy",
    "TraceNorm": "penalties.norms",
    "TraceNormClassifier": "estimators.trace.trace_norm",
    "TraceNormPath": "estimators.trace.trace_path",
    "Vlad": "features.aggregation.vlad",
    "WhitenedPCA": "exemplar.whitened_pca",
    "append_store": "data.store.write",
    "as_matrix": "data.readers.as_matrix",
    "get_limits": "_core.reading",
    "get_threads": "_core.parallel",
    "limits": "_core.reading",
    "load": "runs.load_model",
    "open_store": "data.store.store",
    "read_image": "features.images.decoding",
    "set_threads": "_core.parallel",
    "threads": "_core.parallel",
    "verify_store": "data.store.verify",
    "write_features": "features.extraction.write_features",
    "write_store": "data.store.write",
}

FOLDERS = (
    "audit", "cluster", "data", "datasets", "estimators", "evaluation", "exemplar", "features", "losses", "penalties",
    "report", "retrieval", "runs", "solvers",
)  # fmt: skip


def lazy_exports(
    package: str, further: Mapping[str, str] = MappingProxyType({}), folders: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose public names live in modules below it.

    Parameters
    ----------
    package : str
        `__name__` of the package.
    further : dict of str to str, default={}
        The module of each name that `HOMES` does not have, relative to the package. What `HOMES` has below the package
        is a name of it too, but for what is called as a module beside it, which the import of that module would put in
        its place.
    folders : tuple of str, default=()
        Packages below it that are names of it too, and not in `__all__`.

    Returns
    -------
    tuple
        What the package binds to `__getattr__`, `__dir__` and `__all__`.
    """
    below = package.removeprefix("manyclass").removeprefix(".")
    prefix = f"{below}." if below else ""
    public = {name: home.removeprefix(prefix) for name, home in HOMES.items() if home.startswith(prefix)}
    homes = {name: home for name, home in public.items() if home != name} | dict(further)

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        if name in folders:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted([*homes, *folders]), sorted(homes)


# The class, function or folder that `manyclass` has under a name, and which names it has.
find_public, list_public, PUBLIC = lazy_exports("manyclass", folders=FOLDERS)
