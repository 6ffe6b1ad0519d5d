"""The quantizer of a kind, from what a file says of it."""

from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from manyclass.data.quantizer import Quantizer

# Kind, as files name it: where its class lives. It is imported when first met.
_HOMES = {
    "product": ("manyclass.data.product_quantizer", "ProductQuantizer"),
    "scalar": ("manyclass.data.scalar_quantizer", "ScalarQuantizer"),
}


def quantizer_of(kind: str, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Quantizer:
    """The quantizer whose `kind` and `state()` these were."""
    if kind not in _HOMES:
        raise ValueError(f"the kind of a quantizer must be one of {sorted(_HOMES)}; got {kind!r}")
    module, name = _HOMES[kind]
    quantizer = getattr(import_module(module), name).from_state(settings, arrays)
    if not isinstance(quantizer, Quantizer):
        raise TypeError(f"{name} must be a Quantizer; got {type(quantizer).__name__}")
    return quantizer
