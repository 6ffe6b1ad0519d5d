"""Pairs of classes that are most often confused, with pictures."""

from typing import Any

from manyclass.report.gathering import EVALUATIONS, Material
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, paragraph
from manyclass.report.pictures import Pictures
from manyclass.report.words import counted, percent

_PAIRS, _OF_PAIR = 12, 3


def confusions(material: Material) -> Section | None:
    """The section "Most confused pairs" of the best run; None if it confused nothing."""
    run, evaluation = next(iter(material.measured), (None, {}))
    pairs = (evaluation.get("confusions") or [])[:_PAIRS]
    if run is None or not pairs:
        return None
    pictures = Pictures(evaluation["pictures"], run.folder / EVALUATIONS, material.images)
    rows = {one["class"]: one["rows"] for one in evaluation["per_class"]}
    faces = _faces(evaluation)
    cards = [_pair(pair, rows.get(pair["class"]), faces, pictures) for pair in pairs]
    body = joined(paragraph(_words(run.name, pairs[0])), element("div", cards, class_="cards"))
    return Section("confusions", "Most confused pairs", body)


def _words(name: str, first: dict[str, Any]) -> str:
    return (
        f"{name} takes {first['class']} for {first['predicted']} most often, {counted(first['count'], 'time')}. "
        "Shown are rows of the first class that were given the second; after an arrow, one of the second."
    )


def _faces(evaluation: dict[str, Any]) -> dict[str, str]:
    """For classes, the name of a row of theirs, well recognized if one is known."""
    found = {pair["class"]: pair["examples"][0] for pair in evaluation["confusions"][::-1] if pair["examples"]}
    return found | {one["class"]: one["right"][0] for one in evaluation["examples"] or [] if one["right"]}


def _pair(pair: dict[str, Any], rows: int | None, faces: dict[str, str], pictures: Pictures) -> Markup:
    true, predicted = pair["class"], pair["predicted"]
    shown = [pictures.show(name, f"{name}, {true} taken for {predicted}") for name in pair["examples"][:_OF_PAIR]]
    if shown and predicted in faces:
        shown.append(element("span", "→", class_="arrow"))
        shown.append(pictures.show(faces[predicted], f"{faces[predicted]}, {predicted}"))
    often = counted(pair["count"], "time") + (f" of {rows:,} ({percent(pair['count'] / rows, 0)})" if rows else "")
    head = element("p", element("b", true), " taken for ", element("b", predicted), element("small", often))
    return element("div", head, element("div", shown, class_="strip") if shown else None, class_="card")
