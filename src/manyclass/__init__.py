"""Linear learning with very many classes on image features, and image search by exemplar machines.

    minimize over W      loss(X W, y)  +  penalty(W)

The folders are the parts of that formula: `data` (X), `losses`, `penalties`, `solvers`, and what users fit,
`estimators` and `exemplar`; around them `features`, `retrieval`, `evaluation`, `datasets`, `runs` and `report`.
"""

from importlib import import_module
from typing import Any

from manyclass._core.lazy import HOMES, find_public

__version__ = "0.1.0"

_FOLDERS = (
    "data", "datasets", "estimators", "evaluation", "exemplar", "features", "losses", "penalties", "report",
    "retrieval", "runs", "solvers",
)  # fmt: skip

__all__ = [*sorted(HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return find_public(name)
    if name in _FOLDERS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])
