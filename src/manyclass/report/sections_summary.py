"""The head of the page: what came out, in four numbers and a sentence."""

from typing import Any

from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import paragraph
from manyclass.report.seen_rows import seen_rows
from manyclass.report.words import counted, percent, whole


def summary(material: Material) -> Markup:
    """Tiles with the best accuracies and the best search, and what they were measured on."""
    tiles, words = [], []
    if material.measured:
        run, evaluation = material.measured[0]
        tiles += [(percent(evaluation["top_1"]), "top-1 accuracy"), (percent(evaluation["top_5"]), "top-5 accuracy")]
        tiles.append((whole(len(evaluation["per_class"])), "classes"))
        which = f"the best of {len(material.measured)} runs, {run.name}," if len(material.measured) > 1 else run.name
        words.append(f"Accuracies are of {which} on {counted(evaluation['rows'], 'row')}{_part(evaluation)}.")
        words += warning(run, evaluation)
    methods = [method for search in material.searches for method in search.record["methods"]]
    if methods:
        best = max(methods, key=lambda method: method["map"])
        tiles.append((percent(best["map"]), "mean average precision"))
        words.append(f"Search is best by {best['name']}.")
    if not tiles:
        return joined()
    boxes = [
        element("div", element("dd", value), element("dt", name)) for value, name in tiles if value != percent(None)
    ]
    return joined(element("dl", boxes, class_="tiles"), paragraph(" ".join(words)))


def warning(run: Run, evaluation: dict[str, Any]) -> list[str]:
    """A sentence if the accuracies are on rows that made the model."""
    seen = seen_rows(run.record, evaluation["data"])
    return [] if seen is None else [f"Mind that {seen}: accuracies on them say little of other rows."]


def _part(evaluation: dict[str, object]) -> str:
    data = evaluation["data"]
    part = data.get("part") if isinstance(data, dict) else None
    return f" of the {part} part" if part and part != "all" else ""
