"""What a record says of the data that a command worked on."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyclass.data.matrix import Matrix


def data_record(role: str, path: Path, part: str, X: "Matrix", y: Any) -> dict[str, Any]:
    """Rows X (n, d) of a part of a path in some role ("train", "gallery", ...), with labels y (n,) or None."""
    import numpy as np

    return {
        "role": role,
        "path": str(path),
        "part": part,
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "classes": None if y is None else len(np.unique(y)),
        "fingerprint": fingerprint(X, y),
        "bytes": int(X.nbytes),
    }


def fingerprint(X: "Matrix", y: Any) -> str:
    """Tells data from others: by shape, up to 256 rows, and all labels, as they are written."""
    import numpy as np

    from manyclass.solvers.checkpoint import rows_digest

    labels = None if y is None else [str(label) for label in np.asarray(y).tolist()]
    return hashlib.sha256(f"{rows_digest(X)} {json.dumps(labels)}".encode()).hexdigest()[:32]
