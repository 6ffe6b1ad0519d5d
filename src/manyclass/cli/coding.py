"""Coding: what the options of `manyclass compress` ask for."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_BLOCK = 8
_SAMPLE = 16384  # rows for a product quantizer: 64 for each of 256 centroids


class Kind(StrEnum):
    """How rows become bytes."""

    product = "product"
    scalar = "scalar"


class Bits(StrEnum):
    """How fine a column is cut."""

    four = "4"
    eight = "8"


class Rotation(StrEnum):
    """What happens to the columns before they are cut into blocks."""

    none = "none"
    permutation = "permutation"
    orthogonal = "orthogonal"


@dataclass(frozen=True)
class Coding:
    """A quantizer that is to be fitted: its kind and settings, the rows to learn from (None for all), and the seed."""

    kind: Kind
    settings: dict[str, Any]
    sample: int | None
    seed: int

    def quantizer(self) -> Any:
        """The quantizer, not fitted yet."""
        import manyclass as mc

        if self.kind is Kind.scalar:
            return mc.ScalarQuantizer(**self.settings)
        return mc.ProductQuantizer(**self.settings, sample=self.sample, random_state=self.seed)

    def identity(self, shape: tuple[int, int]) -> dict[str, Any]:
        """What tells a write of so many rows and columns from others, so that it can be gone on with."""
        coding = {"kind": self.kind.value, **self.settings, "sample": self.sample, "seed": self.seed}
        return {"command": "compress", "coding": coding, "rows": shape[0], "columns": shape[1]}


def scalar_coding(bits: Bits, sample: int | None, seed: int) -> Coding:
    """Some bits for every column."""
    return Coding(Kind.scalar, {"bits": int(bits)}, sample, seed)


def product_coding(
    d: int, source: Any, block: int | None, centroids: int, rotation: Rotation, sample: int | None, seed: int
) -> Coding:
    """One byte for every block of the d columns of a source."""
    if block is not None and block > d:
        raise ValueError(f"--block must be at most {d}, the columns of {source}; got {block}")
    settings = {
        "block": block or max(1, min(_BLOCK, d)),
        "n_centroids": centroids,
        "rotation": None if rotation is Rotation.none else rotation.value,
    }
    return Coding(Kind.product, settings, sample or _SAMPLE, seed)
