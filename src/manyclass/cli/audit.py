"""manyclass audit: labels that are likely wrong, near-duplicates, outliers, and classes that should be one or two."""

from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass._core.text import format_percent, format_seconds, pluralize
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Data, Json, LabelFile, Quiet, Threads, out_option

_SHOWN = 10


class CheckName(StrEnum):
    """What is looked for."""

    labels = "labels"
    duplicates = "duplicates"
    outliers = "outliers"
    classes = "classes"


@report_errors("nothing was changed")
def audit(
    data: Data,
    out: Annotated[Path, out_option("The folder to write: tables, and audit.json for a report.")],
    labels: LabelFile = None,
    part: Annotated[str | None, typer.Option(help="A part of the split.", show_default="all")] = None,
    check: Annotated[
        list[CheckName] | None, typer.Option(help="What to look for; may be given again.", show_default="everything")
    ] = None,
    threshold: Annotated[float, typer.Option(help="The least cosine of near-duplicates.")] = 0.95,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for what is wrong with labeled data. Nothing of it is changed.

    label_errors.csv has the labels that are likely wrong, each with the class that it should be and how likely it is
    wrong; every row is judged by all others. duplicates.csv has pairs of rows that are nearly the same, those between
    train and test among them; outliers.csv rows that are unlike the rest of their class; classes.csv classes that
    should be one, as they are taken for one another, and classes that should be two.
    """
    import manyclass as mc

    console = Console(quiet, json)
    checks = [one.value for one in check or CheckName]
    told: dict[str, Any] = {"notify": console.info, "warn": console.warn, "progress": console.progress}
    with mc.threads(threads):
        found = mc.runs.audit(data, out, labels=labels, subset=part, checks=checks, threshold=threshold, **told)
    record = found.record
    console.json({**record, "path": str(found.path)})
    console.table(str(data), _summary(record, out))
    suspects = [
        (one["name"], one["given"], one["proposed"], f"{one['probability']:.2f}")
        for one in record["label_errors"][:_SHOWN]
    ]
    if suspects:
        console.columns(("row", "given", "proposed", "probability"), suspects, "most suspicious labels", least=4)


def _summary(record: dict[str, Any], out: Path) -> list[tuple[str, str]]:
    counts, rows = record["counts"], record["data"]["rows"]
    lines = [("rows", f"{rows:,}")]
    if "label_errors" in counts:
        share = format_percent(record["expected_errors"] / max(1, counts["labels"]))
        likely = f"{counts['label_errors']:,} {'is' if counts['label_errors'] == 1 else 'are'} likely wrong"
        words = f"{likely}; {record['expected_errors']:.0f} expected ({share})"
        lines.append(("labels", words))
    if "duplicates" in counts:
        leaks = f"; {counts['leaks']:,} of them between parts, such as train and test" if counts["leaks"] else ""
        lines.append(("near-duplicates", f"{pluralize(counts['duplicates'], 'pair')}{leaks}"))
    if "outliers" in counts:
        lines.append(("outliers", pluralize(counts["outliers"], "row")))
    for pair in record["class_pairs"][:_SHOWN]:
        verdict = "cannot be told apart" if pair["same"] else "are taken for one another"
        often = f"{pair['confused']} of {pair['rows']} rows"
        lines.append(("one class?", f"{pair['first']} and {pair['second']} {verdict}: {often}"))
    for split in record["class_splits"][:_SHOWN]:
        often = f"{split['smaller']} of {split['rows']} rows are of another kind"
        lines.append(("two classes?", f"{split['class']}: {often}"))
    lines += [("time", format_seconds(record["seconds"])), ("written to", str(out))]
    return [*lines, ("see", f"manyclass report {quote(str(out))} -o audit.html")]
