"""Pairs of classes that are most often confused, and the best and worst classes, with pictures."""

from typing import Any

from manyclass.report.gathering import Material
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, paragraph
from manyclass.report.pictures import Pictures
from manyclass.report.sections_classes import share_of
from manyclass.report.words import counted, percent

_PAIRS, _OF_PAIR, _OF_CLASS = 12, 3, 5


def confusions(material: Material) -> Section | None:
    """The section "Most confused pairs"; None if nothing was confused."""
    for run, evaluation in material.measured[:1]:
        pairs = (evaluation["confusions"] or [])[:_PAIRS]
        if pairs:
            pictures = Pictures(evaluation["pictures"], run.folder / "evaluations", material.images)
            rows = {one["class"]: one["rows"] for one in evaluation["per_class"]}
            faces = _faces(evaluation)
            cards = [_pair(pair, rows.get(pair["class"]), faces, pictures) for pair in pairs]
            first = pairs[0]
            words = (
                f"{first['class']} is taken for {first['predicted']} most often, {counted(first['count'], 'time')}. "
                "Pictures before the arrow were given the class after it; the last picture is of that class."
            )
            return Section(
                "confusions", "Most confused pairs", joined(paragraph(words), element("div", cards, class_="cards"))
            )
    return None


def examples(material: Material) -> Section | None:
    """The section "Best and worst classes"; None without examples."""
    for run, evaluation in material.measured[:1]:
        shares = {one["class"]: share_of(one) for one in evaluation["per_class"]}
        known = [one for one in evaluation["examples"] or [] if one["class"] in shares]
        if known:
            pictures = Pictures(evaluation["pictures"], run.folder / "evaluations", material.images)
            known = sorted(known, key=lambda one: -shares[one["class"]])
            half = (len(known) + 1) // 2
            best, worst = known[:half], known[half:][::-1]
            return Section(
                "examples",
                "Best and worst classes",
                joined(_group("Best", best, shares, pictures), _group("Worst", worst, shares, pictures)),
            )
    return None


def _faces(evaluation: dict[str, Any]) -> dict[str, str]:
    """For classes, the name of a row of theirs, well recognized if one is known."""
    found = {pair["class"]: pair["examples"][0] for pair in (evaluation["confusions"] or [])[::-1] if pair["examples"]}
    return found | {one["class"]: one["right"][0] for one in evaluation["examples"] or [] if one["right"]}


def _pair(pair: dict[str, Any], rows: int | None, faces: dict[str, str], pictures: Pictures) -> Markup:
    true, predicted = pair["class"], pair["predicted"]
    strip = [pictures.show(name, f"{name}, a {true} taken for {predicted}") for name in pair["examples"][:_OF_PAIR]]
    face = pictures.show(faces[predicted], f"{faces[predicted]}, a {predicted}") if predicted in faces else None
    often = f"{counted(pair['count'], 'time')}" + (f" of {rows:,} ({percent(pair['count'] / rows, 0)})" if rows else "")
    return element(
        "div",
        element("p", element("b", true), " taken for ", element("b", predicted), element("small", often)),
        element("div", strip, element("span", "→", class_="arrow") if face else None, face, class_="strip")
        if strip
        else None,
        class_="card",
    )


def _group(title: str, known: list[dict[str, Any]], shares: dict[str, float], pictures: Pictures) -> Markup | None:
    if not known:
        return None
    cards = [_class_card(one, shares[one["class"]], pictures) for one in known]
    return joined(element("h3", title), element("div", cards, class_="cards"))


def _class_card(one: dict[str, Any], share: float, pictures: Pictures) -> Markup:
    wrong = one["wrong"][: _OF_CLASS if not one["right"] else 2]
    right = one["right"][: _OF_CLASS - len(wrong)]
    shown = [marked(pictures.show(name, f"{name}: right"), True) for name in right]
    shown += [marked(pictures.show(row["name"], _taken(row)), False, row["predicted"]) for row in wrong]
    head = element("p", element("b", one["class"]), element("small", percent(share)))
    return element("div", head, element("div", shown, class_="strip"), class_="card")


def _taken(row: dict[str, Any]) -> str:
    return f"{row['name']}: taken for {row['predicted']}" if row["predicted"] else f"{row['name']}: wrong"


def marked(picture: Markup, right: bool, note: str | None = None) -> Markup:
    """A picture with a sign and a frame that say whether it is right, and a note under it."""
    sign = element("span", "✓" if right else "✗", class_="sign", aria_label="right" if right else "wrong", role="img")
    return element(
        "span",
        picture,
        sign,
        element("small", note) if note else None,
        class_="marked right" if right else "marked wrong",
    )
