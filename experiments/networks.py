"""The network that comes with the extra `network`, to compare with."""

from typing import Any

import manyclass as mc
from manyclass.runs.provenance import recommended_kind


def efficientnet() -> dict[str, Any]:
    """EfficientNet-Lite0 by name, if it is installed."""
    return {"EfficientNet-Lite0, mean": mc.OnnxFeatures(pooling="mean")} if recommended_kind() == "network" else {}
