"""The option --test-fraction: a part for testing where the data has none."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyclass.datasets import Features

HELP = "Keep so much of every class for testing; the data must have no parts."


def parts_with_test(y: Any, split: Any, fraction: float | None, seed: int, source: Path) -> Any:
    """The parts of rows with these labels: those they have, or ones that are drawn if a fraction is asked for."""
    from manyclass.datasets import drawn_parts

    if fraction is None:
        return split
    if not 0 < fraction < 1:
        raise ValueError(f"--test-fraction must be between 0 and 1; got {fraction}")
    if split is not None:
        raise ValueError(f"--test-fraction is for data without parts; {source} has a split already")
    if y is None:
        raise ValueError(f"--test-fraction needs labels, as it keeps some of every class; {source} has none")
    return drawn_parts(y, fraction, seed)


def with_test_part(features: "Features", fraction: float | None, seed: int, source: Path) -> "Features":
    """Features with these parts."""
    split = parts_with_test(features.y, features.split, fraction, seed, source)
    return features if split is features.split else replace(features, split=split)


def with_parts_of_run(features: "Features", run: Path, source: Path) -> "Features":
    """Features with the parts that a run drew in them; as they are, if it was trained on other rows."""
    from manyclass.cli.examples import whole_part
    from manyclass.cli.run_folder import is_run, read_run

    record = read_run(run) if is_run(run) else None
    fraction = record["settings"].get("test_fraction") if record else None
    if record is None or fraction is None or features.split is not None or features.y is None:
        return features
    parted = with_test_part(features, fraction, record["seed"], source)
    drawn = whole_part(parted, source, "train").data("train")["fingerprint"]
    known = {one["fingerprint"] for one in record["data"] if one["role"] == "train"}
    return parted if drawn in known else features
