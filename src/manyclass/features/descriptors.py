"""Local descriptors by the names that users type."""

from collections.abc import Sequence

from manyclass._checks import one_of
from manyclass.features.dense_sift import DenseSift
from manyclass.features.local import Descriptor
from manyclass.features.local_color import LocalColor

NAMES = ("sift", "rootsift", "color")


def descriptors_by_name(
    names: Sequence[str], step: int = 6, scales: int = 5, patch: int = 24, root: bool = False
) -> tuple[Descriptor, ...]:
    """One descriptor per name, all on grids of the same step, scales and patch.

    "sift" is `DenseSift`, with square roots if `root`; "rootsift" has them always; "color" is `LocalColor`.

    >>> [descriptor.dimension for descriptor in descriptors_by_name(("sift", "color"))]
    [128, 96]
    """
    if isinstance(names, str) or not names:
        raise ValueError(f"descriptors must be a sequence of names such as ('sift', 'color'); got {names!r}")
    return tuple(_by_name(name, step, scales, patch, root) for name in names)


def _by_name(name: str, step: int, scales: int, patch: int, root: bool) -> Descriptor:
    one_of(name, "descriptors", NAMES)
    if name == "color":
        return LocalColor(step, scales, patch)
    return DenseSift(step, scales, patch, root or name == "rootsift")
