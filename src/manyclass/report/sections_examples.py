"""The best and the worst classes, with pictures of what was right and wrong."""

from typing import Any

from manyclass.report.gathering import EVALUATIONS, Material
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, paragraph
from manyclass.report.pictures import Pictures, marked
from manyclass.report.sections_classes import share_of
from manyclass.report.words import percent

_OF_CLASS, _WRONG = 5, 2  # pictures of a class, and how many of them are mistakes where both are known


def examples(material: Material) -> Section | None:
    """The section "Best and worst classes" of the best run; None without examples."""
    run, evaluation = next(iter(material.measured), (None, {}))
    shares = {one["class"]: share_of(one) for one in evaluation.get("per_class", [])}
    known = [one for one in evaluation.get("examples") or [] if one["class"] in shares]
    if run is None or not known:
        return None
    pictures = Pictures(evaluation["pictures"], run.folder / EVALUATIONS, material.images)
    known.sort(key=lambda one: -shares[one["class"]])
    half = (len(known) + 1) // 2
    groups = [("Best", known[:half]), ("Worst", known[half:][::-1])]
    body = [_group(title, some, shares, pictures) for title, some in groups if some]
    return Section("examples", "Best and worst classes", joined(paragraph(_words(known, shares)), body))


def _words(known: list[dict[str, Any]], shares: dict[str, float]) -> str:
    first, last = known[0]["class"], known[-1]["class"]
    return (
        f"{first} is right in {percent(shares[first], 0)} of its rows, {last} in {percent(shares[last], 0)}. "
        "Right ones have a solid frame and ✓; wrong ones a dashed frame, ✗, and what they were taken for."
    )


def _group(title: str, known: list[dict[str, Any]], shares: dict[str, float], pictures: Pictures) -> Markup:
    cards = [_class_card(one, shares[one["class"]], pictures) for one in known]
    return joined(element("h3", title), element("div", cards, class_="cards"))


def _class_card(one: dict[str, Any], share: float, pictures: Pictures) -> Markup:
    wrong = one["wrong"][: _WRONG if one["right"] else _OF_CLASS]
    right = one["right"][: _OF_CLASS - len(wrong)]
    shown = [marked(pictures.show(name, f"{name}: right"), True) for name in right]
    shown += [marked(pictures.show(row["name"], _taken(row)), False, row["predicted"]) for row in wrong]
    head = element("p", element("b", one["class"]), element("small", percent(share)))
    return element("div", head, element("div", shown, class_="strip"), class_="card")


def _taken(row: dict[str, Any]) -> str:
    return f"{row['name']}: taken for {row['predicted']}" if row["predicted"] else f"{row['name']}: wrong"
