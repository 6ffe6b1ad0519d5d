"""Networks of the folder of data, to compare with; docs/features.md says how to make them."""

from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.sources import one


def efficientnet(folder: Path) -> dict[str, Any]:
    """EfficientNet-Lite0 by name, if its ONNX file is there."""
    if not any(folder.rglob("efficientnet*.onnx")):
        return {}
    return {"EfficientNet-Lite0, mean": mc.OnnxFeatures(str(one(folder, "efficientnet*.onnx")), pooling="mean")}
