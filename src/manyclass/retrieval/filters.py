"""Which images a search may find: a mask, some ids, or a condition on what is known of them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.identifiers import as_ids
from manyclass.retrieval.pieces import Positions


def selected(catalog: Catalog, where: Any) -> Positions | None:
    """Ascending positions of the images that may be found; None for all, if there are no gaps.

    `where` is None; a boolean array over the images in the gallery's order; ids (those that are not there are passed
    over); a dict of values, or of sets, lists, ranges or arrays of them, that an image must have; or a function of its
    metadata.
    """
    if where is None:
        return None if len(catalog) == catalog.n_places else catalog.live()
    if callable(where):
        return _kept(catalog, [bool(where(catalog.columns.record(i))) for i in catalog.live().tolist()])
    if isinstance(where, Mapping):
        return _kept(catalog, _matches(catalog, where))
    if isinstance(where, np.ndarray | list | tuple) and len(where) and np.asarray(where).dtype == bool:
        return _kept(catalog, where)
    return catalog.some_positions(as_ids(where))


def _kept(catalog: Catalog, mask: Any) -> Positions:
    mask = np.asarray(mask, bool)
    if mask.shape != (len(catalog),):
        raise ValueError(f"where must have one entry per image of the gallery ({len(catalog)}); got {mask.shape}")
    kept: Positions = catalog.live()[mask]
    return kept


def _matches(catalog: Catalog, where: Mapping[str, Any]) -> Any:
    live, mask = catalog.live(), np.ones(len(catalog), bool)
    for name, wanted in where.items():
        if name not in catalog.columns.values:
            known = ", ".join(catalog.columns.values) or "none"
            raise ValueError(f"where must name metadata that images have ({known}); got {name!r}")
        column, options = catalog.columns.values[name], _options(wanted)
        mask &= np.fromiter((column[i] in options for i in live.tolist()), bool, len(live))
    return mask


def _options(wanted: Any) -> Any:
    if isinstance(wanted, np.ndarray):
        return np.atleast_1d(wanted).tolist()
    if isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping):
        return list(wanted)
    return [wanted]
