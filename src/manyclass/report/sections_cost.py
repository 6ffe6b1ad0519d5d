"""Time, memory and size of each run."""

from collections.abc import Callable

from manyclass._amounts import seconds, size
from manyclass.report.figures_bars import Bar, draw_bars
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, captioned
from manyclass.report.words import number_of

_Known = list[tuple[Run, float]]


def cost(material: Material) -> Section | None:
    """The section "Time and memory"; None if no run has either."""
    quantities: list[tuple[str, str, _Known, Callable[[float], str]]] = [
        ("seconds", "time of the whole run", _of(material, lambda run: run.record["seconds"]), seconds),
        ("memory", "most memory in use", _of(material, lambda run: run.record["peak_bytes"]), size),
        ("size", "size of the model", _of(material, lambda run: number_of(run.record["model"], "bytes")), size),
    ]
    known = [one for one in quantities if one[2]]
    if not known:
        return None
    drawings = [joined(element("h4", words), _chart(key, words, runs, say)) for key, words, runs, say in known]
    caption = " ".join(_words(words, runs, say) for _, words, runs, say in known)
    return Section("cost", "Time and memory", captioned(drawings, caption))


def _of(material: Material, quantity: Callable[[Run], float | None]) -> _Known:
    return [(run, value) for run in material.runs if (value := quantity(run)) is not None]


def _chart(key: str, words: str, runs: _Known, say: Callable[[float], str]) -> Markup:
    return draw_bars(f"cost-{key}", words, [Bar(run.name, run.number, value, say(value)) for run, value in runs])


def _words(words: str, runs: _Known, say: Callable[[float], str]) -> str:
    (low, least), (high, most) = (choose(runs, key=lambda pair: pair[1]) for choose in (min, max))
    if least == most:
        return f"{words.capitalize()}: {say(most)}."
    return f"{words.capitalize()}: from {say(least)} ({low.name}) to {say(most)} ({high.name})."
