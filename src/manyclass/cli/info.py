"""manyclass info: what is in a file or folder?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass.cli.failures import reported
from manyclass.cli.models import describe_model, is_model
from manyclass.cli.output import print_json, print_table, size
from manyclass.cli.paths import expanded
from manyclass.cli.reading import read_source
from manyclass.cli.run_folder import is_run, read_run
from manyclass.cli.run_summary import RUN_FORMAT, run_rows, run_summary


@reported("nothing was changed")
def info(
    source: Annotated[
        Path,
        typer.Argument(
            callback=expanded, help="A store, .npy, .npz, parquet, a folder of shards, a run, a model, a gallery."
        ),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a file or folder holds: shape, size, labels, and how it was made."""
    result = {"path": str(source), **describe(source)}
    if json:
        print_json(result)
    else:
        print_table(str(source), run_rows(result) if result["format"] == RUN_FORMAT else _rows(result))


def describe(source: Path) -> dict[str, Any]:
    """A store's own summary, that of a run, a model or a gallery, or what can be told of the features."""
    from manyclass.data.store.layout import JOURNAL, MANIFEST
    from manyclass.retrieval.files import is_gallery

    if is_gallery(source):
        from manyclass.cli.gallery_info import describe_gallery

        return describe_gallery(source)
    if (source / MANIFEST).exists() or (source / JOURNAL).exists():
        import manyclass as mc

        summary: dict[str, Any] = mc.open_store(source).summary()
        return summary
    if is_run(source):
        return run_summary(read_run(source))
    if is_model(source):
        return describe_model(source)
    return _describe_features(source)


def _describe_features(source: Path) -> dict[str, Any]:
    import numpy as np

    from manyclass.data.layouts import layout_of

    features = read_source(source)
    X, y = features.X, features.y
    return {
        "format": layout_of(source),
        "rows": X.shape[0],
        "columns": X.shape[1],
        "dtype": str(X.dtype),
        "bytes": int(X.nbytes),
        "labels": y is not None,
        "classes": len(np.unique(y)) if features.classes is None and y is not None else _length(features.classes),
        "names": features.names is not None,
        "split": None if features.split is None else _counts(features.split),
    }


def _length(values: Any) -> int | None:
    return None if values is None else len(values)


def _counts(split: Any) -> dict[str, int]:
    import numpy as np

    parts, counts = np.unique(np.asarray(split), return_counts=True)
    return dict(zip(parts.tolist(), counts.tolist(), strict=True))


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key.replace("_", " "), _words(key, value)) for key, value in result.items() if key != "path" and value]


def _words(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(name, part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"{len(value):,}"
    if isinstance(value, int):
        return size(value) if key == "bytes" else f"{value:,}"
    return str(value)
