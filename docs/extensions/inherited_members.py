"""Members of our classes that other libraries define, which are described there."""

from typing import Any


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Sphinx's event `autodoc-skip-member`: leave out what scikit-learn adds to our classes."""
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None)
    return True if home and not home.startswith("manyclass") else None
