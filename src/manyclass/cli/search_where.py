"""Conditions on images, as users write them: class=cat."""

from typing import TYPE_CHECKING, Any

import typer

from manyclass.cli.suggestions import did_you_mean

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery


def conditions(gallery: "Gallery", words: list[str]) -> dict[str, list[Any]] | None:
    """Values that images must have by name, one of those that are given for it; None without conditions."""
    wanted: dict[str, list[Any]] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"--where must be NAME=VALUE, such as class=cat; got {word}")
        wanted.setdefault(name, []).extend(_values(value))
    _check(gallery, wanted)
    return wanted or None


def _values(text: str) -> list[Any]:
    """The text, and the number that it may stand for."""
    try:
        return [text, float(text)]
    except ValueError:
        return [text]


def _check(gallery: "Gallery", wanted: dict[str, list[Any]]) -> None:
    """Refuse names and values that no image has: more likely a slip than a wish to find nothing."""
    if not wanted or not len(gallery):
        return
    records = gallery.metadata(gallery.ids)
    for name, values in wanted.items():
        if name not in records[0]:
            known = ", ".join(records[0]) or "nothing"
            raise ValueError(f"--where must name what is known of images ({known}); got {name}")
        there = {record[name] for record in records if isinstance(record[name], str | int | float)}
        if not there.intersection(values):
            hint = did_you_mean(str(values[0]), sorted(map(str, there)))
            raise ValueError(f"--where must leave some images; none has {name}={values[0]}{hint}")
