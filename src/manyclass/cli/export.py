"""manyclass export: a classifier as an ONNX file, for programs without manyclass."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass._core.text import format_bytes
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Run, out_option


@report_errors("nothing was written")
def export(
    run: Run,
    out: Annotated[Path, out_option("The ONNX file to write.")],
    top: Annotated[int, typer.Option(min=1, help="Best classes that it tells of each row.")] = 5,
    json: Json = False,
) -> None:
    """Write a classifier as an ONNX file: rows of features in; labels, scores, and probabilities if it has them, out.

    It takes features, and not pictures.
    """
    from manyclass.runs.load_model import open_classifier

    console = Console(json=json)
    model = open_classifier(run).model
    if not hasattr(model, "to_onnx"):
        raise ValueError(f"{run} must hold a linear classifier; it holds a {type(model).__name__}")
    model.to_onnx(out, top=top)
    outputs = ["label", "top_labels", "scores", *(["probabilities"] if hasattr(model, "predict_proba") else [])]
    size, (k, d) = out.stat().st_size, (len(model.classes_), model.n_features_in_)
    console.json({"path": str(out), "bytes": size, "columns": d, "classes": k, "outputs": outputs})
    console.table(
        str(out),
        [
            ("size", format_bytes(size)),
            ("input", f"X, float32, rows of {d:,} columns"),
            ("outputs", f"{', '.join(outputs)} of {k:,} classes"),
        ],
    )
