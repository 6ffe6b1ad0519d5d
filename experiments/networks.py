"""The network that comes with the extra `network`, to compare with."""

from collections.abc import Sequence
from typing import Any

import manyclass as mc
from manyclass.runs.provenance import recommended_kind


def efficientnet(poolings: Sequence[str] = ("mean",)) -> dict[str, Any]:
    """EfficientNet-Lite0 by name, with each way to pool, if it is installed."""
    known = poolings if recommended_kind() == "network" else ()
    return {f"EfficientNet-Lite0, {pooling}": mc.OnnxFeatures(pooling=pooling) for pooling in known}
