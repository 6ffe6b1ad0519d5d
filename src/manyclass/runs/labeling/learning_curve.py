"""How often the model is right, by pictures that were asked for by chance, and were no part of what it had learned.

Pictures that are chosen to teach are harder than most, or easier; the share of these that the model has right says
nothing of the others. So some pictures, one in five, are set apart by a digest of their ids: these are asked for in the
order of that digest, which knows nothing of what they show. What was proposed for them, before their label was given,
is judged by that label.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manyclass.evaluation.proportions import difference_interval, wilson_interval
from manyclass.runs.labeling.label_event import LabelEvent

ONE_IN = 5  # pictures that are asked for by chance

_WINDOW = 50  # of these, by which a point of the curve is made

_FEWEST = 10  # by which anything is said

_POINTS = 200

_PAGES = ("", "label")  # where labels are given to what was asked for


@dataclass(frozen=True)
class CurvePoint:
    """How often the model was right around a number of labels.

    Parameters
    ----------
    labels : int
        Pictures that had labels.
    accuracy : float
        The share of pictures asked for by chance, the last fifty of them, for which the right label was proposed.
    low, high : float
        Its 95 % interval, Wilson's.
    """

    labels: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Judgement:
    """Whether what was proposed for a picture was right, when so many had labels."""

    labels: int
    right: bool


def chance_order(ids: Sequence[str], seed: int) -> list[int]:
    """Positions of one in five of the pictures, in an order of chance that further pictures do not change.

    >>> some = chance_order([str(i) for i in range(1000)], 0)
    >>> 150 < len(some) < 250, some == [i for i in chance_order([str(i) for i in range(2000)], 0) if i < 1000]
    (True, True)
    """
    key = seed.to_bytes(8, "little", signed=True)
    found = [
        (int.from_bytes(hashlib.blake2b(one.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()), i)
        for i, one in enumerate(ids)
    ]
    return [i for digest, i in sorted(found) if digest % ONE_IN == 0]


def judge_events(
    events: Sequence[LabelEvent], undone: set[int], by_chance: set[str], predicted: Mapping[int, str]
) -> list[Judgement]:
    """What is known of pictures that were asked for by chance, in the order in which they were labeled.

    `predicted` has what the model said by the number of an event, for those that tell no proposal themselves.
    """
    found: list[Judgement] = []
    labeled: set[str] = set()
    for event in events:
        if event.action == "undo" or event.number in undone:
            continue
        if event.label is None:
            labeled.difference_update(event.ids if event.action != "keep" else ())
            continue
        said = event.proposed or predicted.get(event.number)
        asked = event.action == "label" and len(event.ids) == 1 and event.source in _PAGES
        if asked and said is not None and event.ids[0] in by_chance and event.ids[0] not in labeled:
            found.append(Judgement(len(labeled), said == event.label))
        labeled.update(event.ids)
    return found


def curve_of(judgements: Sequence[Judgement]) -> list[CurvePoint]:
    """Points from the tenth picture on, by the last fifty each.

    >>> [point.accuracy for point in curve_of([Judgement(5 * i, i % 2 == 0) for i in range(12)])]
    [0.5, 0.5454545454545454, 0.5]
    """
    ends = range(_FEWEST, len(judgements) + 1)
    step = max(1, len(ends) // _POINTS)
    found = []
    for end in reversed(ends[::-1][::step]):
        window = judgements[max(0, end - _WINDOW) : end]
        right = sum(one.right for one in window)
        low, high = wilson_interval(right, len(window))
        found.append(CurvePoint(judgements[end - 1].labels, right / len(window), low, high))
    return found


def gain_in_words(judgements: Sequence[Judgement]) -> str:
    """What the last labels brought, from a window to the one before it; nothing where too little is known.

    >>> gain_in_words([Judgement(5 * i, i >= 30) for i in range(60)])
    'the last 150 labels brought 100.0 points'
    """
    size = min(_WINDOW, len(judgements) // 2)
    if size < 2 * _FEWEST:
        return ""
    last, before = judgements[-size:], judgements[-2 * size : -size]
    now, then = (sum(one.right for one in part) for part in (last, before))
    labels = judgements[-1].labels - before[-1].labels
    low, high = difference_interval((now, size), (then, size))
    points = 100 * (now - then) / size
    chance = "" if low > 0 or high < 0 else f", give or take {50 * (high - low):.0f}"
    return f"the last {labels:,} labels brought {points:.1f} points{chance}"
