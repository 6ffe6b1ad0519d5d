"""Classes in the plane of the two leading latent directions of the weights."""

from manyclass.report.figures_embedding import draw_embedding
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, joined
from manyclass.report.parts import Section, captioned
from manyclass.report.words import counted


def embedding(material: Material) -> Section | None:
    """The section "Classes in two dimensions", of the best run that has an embedding; None if none has."""
    ranked = [run for run, _ in material.measured]
    runs = ranked + [run for run in material.runs if run not in ranked]
    # Of a low rank the plane says most.
    known = [run for run in runs if run.record["embedding"] and run.record["embedding"]["classes"]]
    if not known:
        return None
    run = min(known, key=lambda run: run.record["rank"] is None or not run.record["grid"])
    return Section("embedding", "Classes in two dimensions", joined(_figure(run)))


def _figure(run: Run) -> Markup:
    classes, x, y = (run.record["embedding"][name] for name in ("classes", "x", "y"))
    words = (
        f"{counted(len(classes), 'class', 'classes')} by the first two latent directions of the weights of {run.name}: "
        f"{_ends(classes, x)} are farthest apart along the first, {_ends(classes, y)} along the second. "
        "Names are written where there is room; every point says its own when pointed at."
    )
    drawing = draw_embedding("embedding", "classes in the plane of two latent directions", classes, x, y)
    return captioned([drawing], words)


def _ends(classes: list[str], places: list[float]) -> str:
    low, high = (choose(range(len(places)), key=places.__getitem__) for choose in (min, max))
    return f"{classes[low]} and {classes[high]}"
