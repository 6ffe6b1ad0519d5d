"""Members of our classes that other libraries define, which are described there."""

from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Sphinx's event `autodoc-skip-member`: leave out what scikit-learn or Python's own types add to our classes."""
    if isinstance(obj, BuiltinFunctionType | MethodDescriptorType):
        return True
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None)
    return True if home and not home.startswith("manyclass") else None
