"""Rows of a table put in the order of names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_order_of(names: Sequence[str] | NDArray[np.str_], table: dict[str, Any], source: object) -> dict[str, Any]:
    """The rows of a table that has `names` too, one for each of the names given and in their order.

    The table may have other rows as well. One that lists the same names in the same order is left as it is.

    >>> table = {"y": np.array([7, 8, 9]), "names": np.array(["c", "a", "b"])}
    >>> in_order_of(["a", "b"], table, "labels.csv")["y"]
    array([8, 9])
    """
    if len(names) == len(table["names"]) and all(a == b for a, b in zip(names, table["names"], strict=True)):
        return table
    positions = _positions(table["names"].tolist(), source)
    for row, name in enumerate(names):
        if name not in positions:
            way_out = "leave its names out if it is in the order of the rows"
            raise ValueError(f"{source} must have a label for {str(name)!r}, which is row {row}; got none; {way_out}")
    order = np.array([positions[name] for name in names], np.intp)
    return {key: values[order] for key, values in table.items()}


def _positions(names: list[str], source: object) -> dict[str, int]:
    positions: dict[str, int] = {}
    for row, name in enumerate(names):
        if positions.setdefault(name, row) != row:
            raise ValueError(f"{source} must have every name once, so that rows are found by it; got {name!r} twice")
    return positions
