"""What an encoder knows of one kind of local descriptor: how it is projected, and how it is brought together."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from manyclass.features.local import LocalDescriptors
from manyclass.features.normalization import unit
from manyclass.features.projection import Projection, Vectors, fit_projection
from manyclass.features.pyramid import Pyramid

Plain = dict[str, Any]


class Aggregation(Protocol):
    """Rows of one image in, one vector per region out."""

    @property
    def dimension(self) -> int:
        """The numbers of a row."""

    @property
    def size(self) -> int:
        """The numbers of a region."""

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """Vectors (regions, size) float32 of unit length, or zero where a region has no rows."""

    def plain(self) -> Plain:
        """All that it knows, as arrays by name."""


@dataclass(frozen=True)
class Part:
    """A projection, if there is one; the position (x, y) beside the numbers, if `coordinates`; an aggregation."""

    projection: Projection | None
    coordinates: bool
    aggregation: Aggregation

    def vector(self, local: LocalDescriptors, pyramid: Pyramid) -> Vectors:
        """The regions of an image one after the other, of unit length together."""
        Z = prepared(local, self.projection, self.coordinates)
        return unit(self.aggregation.regions(Z, local.positions, pyramid).ravel())

    def plain(self) -> Plain:
        """All that it knows, as arrays by name."""
        projection = vars(self.projection) if self.projection else {}
        return {"projection": dict(projection), "aggregation": self.aggregation.plain()}

    def check(self, dimension: int) -> None:
        """Refuse what does not fit a descriptor of so many numbers, or itself."""
        if self.projection and len(self.projection.mean) != dimension:
            raise ValueError(f"a projection must take {dimension} numbers; got {len(self.projection.mean)}")
        width = self.projection.components.shape[1] if self.projection else dimension
        if self.aggregation.dimension != width + 2 * self.coordinates:
            raise ValueError(
                f"an aggregation must take {width + 2 * self.coordinates} numbers; got {self.aggregation.dimension}"
            )


def fitted_projection(X: Vectors, n_components: int | None, whiten: bool) -> Projection | None:
    """The projection to n_components numbers, None for all; there is none if nothing would change."""
    if n_components is None and not whiten:
        return None
    return fit_projection(X, X.shape[1] if n_components is None else n_components, whiten)


def restored_projection(plain: Plain) -> Projection | None:
    """The projection of which `Part.plain` has these."""
    return Projection(**plain) if plain else None


def prepared(local: LocalDescriptors, projection: Projection | None, coordinates: bool) -> Vectors:
    """Rows as they are brought together: projected, and with (x, y) from -1/2 to 1/2 beside them if asked."""
    Z = projection(local.values) if projection else local.values
    return np.concatenate([Z, local.positions - np.float32(0.5)], axis=1) if coordinates else Z
