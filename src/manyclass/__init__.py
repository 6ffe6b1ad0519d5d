"""Linear learning with very many classes on embeddings, and image search by exemplar machines.

    minimize over W      loss(X W, y)  +  penalty(W)

The folders are the parts of that formula: `data` (X), `losses`, `penalties`, `solvers`, and what users fit,
`estimators` and `exemplar`; around them `features`, `retrieval`, `evaluation`, `datasets`, `runs` and `report`.
"""

from manyclass._core.lazy import PUBLIC, find_public, list_public

__version__ = "0.2.0"

__all__ = [*PUBLIC, "__version__"]

__getattr__ = find_public


def __dir__() -> list[str]:
    return [*list_public(), "__version__"]
