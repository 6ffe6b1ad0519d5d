"""How the rows of `manyclass features` are written."""

from enum import StrEnum
from typing import Any

from manyclass.cli.coding import Bits, Rotation, product_coding, scalar_coding


class Coded(StrEnum):
    """Numbers as they are, or codes of them."""

    none = "none"
    product = "product"
    scalar = "scalar"


def quantizer_for(codes: Coded, block: int, d: int, seed: int) -> Any:
    """The quantizer, which is still to learn, or None."""
    if codes is Coded.none:
        return None
    if codes is Coded.scalar:
        return scalar_coding(Bits.eight, None, seed).quantizer()
    return product_coding(d, "the features", block, 256, Rotation.none, None, seed).quantizer()
