"""Advice: what the numbers of a run and of its test say, and what to try next.

Every rule is a function of the numbers. It says the numbers that led to it, and nothing where the intervals of so few
rows leave it open.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from manyclass._core.text import format_percent, format_points, join_names, pluralize
from manyclass.evaluation.proportions import binomial_tail, difference_interval, wilson_interval
from manyclass.report.commands import STOCHASTIC, Lines, keep_a_test, learn_by_network, swap_parts, train_again
from manyclass.runs.folder import seen_rows

_MOST = 10**12  # rows: more make no difference, and overflow

_FEW, _FEW_TESTED = 5, 10  # rows to learn a class from; rows by which the accuracy of a class is known to 26 points

_RARE = 0.25  # of the median class

_SURE = 0.5  # of the right rows have a narrower margin than a mistake that is sure

_BY_CHANCE = 0.05  # pairs that are listed though only chance made them, on average, in all of a test

_NAMED = 5  # classes or pairs that a sentence names


@dataclass(frozen=True)
class Advice:
    """A finding with its numbers, what it means, and the commands to try."""

    key: str
    title: str
    finding: str
    meaning: str = ""
    commands: Lines = ()


class Tested(NamedTuple):
    """A run, of which the folder and the record may be unknown, and an evaluation of it."""

    folder: Path | None
    record: dict[str, Any] | None
    evaluation: dict[str, Any]


def advise(folder: Path | None, record: dict[str, Any] | None, evaluation: dict[str, Any]) -> list[Advice]:
    """What can be said of a run by an evaluation of it; `folder` and `record` are None for a model that is a file."""
    tested = Tested(folder, record, evaluation)
    rules: tuple[Callable[[Tested], Iterator[Advice]], ...] = (
        _say_untested,
        _say_interval,
        _say_gap,
        _find_remedy,
        _find_rare_classes,
        _find_little_tested,
        _find_sure_mistakes,
        _find_confused_pairs,
    )
    if evaluation.get("multilabel"):  # the others speak of one class for each row
        rules = rules[:1]
    return [one for rule in rules for one in rule(tested)]


def _counts(evaluation: dict[str, Any]) -> tuple[int, int]:
    """How many rows of a test are right, and how many there are."""
    rows = min(evaluation["rows"], _MOST)
    return round(evaluation["top_1"] * rows), rows


def _seen_counts(tested: Tested) -> tuple[int, int] | None:
    """The same of rows that the run learned from; None if it is not known, or if the test was on such rows itself."""
    training = tested.record and tested.record["training"]
    if not training or not training["rows"] or not tested.evaluation["rows"] or _was_seen(tested):
        return None
    return min(training["right"], training["rows"], _MOST), min(training["rows"], _MOST)


def _was_seen(tested: Tested) -> bool:
    return _seen_words(tested) is not None


def _seen_words(tested: Tested) -> str | None:
    """A sentence if the run has used rows of the test."""
    return None if tested.record is None else seen_rows(tested.record, tested.evaluation["data"])


def _say_untested(tested: Tested) -> Iterator[Advice]:
    words = _seen_words(tested)
    if not words:
        return
    share = format_percent(tested.evaluation["top_1"])
    finding = f"{words[0].upper()}{words[1:]}: that {share} are right says little of rows that it has not seen."
    commands = keep_a_test(tested.folder, tested.record) if tested.folder and tested.record else ()
    meaning = "This keeps some rows of every class to judge by." if commands else ""
    yield Advice("untested", "Not tested yet", finding, meaning, commands)


def _say_interval(tested: Tested) -> Iterator[Advice]:
    right, rows = _counts(tested.evaluation)
    if not rows or _was_seen(tested):
        return
    low, high = wilson_interval(right, rows)
    words = (
        f"{format_percent(right / rows)} of {pluralize(rows, 'row')} are right; by so many rows, the accuracy on "
        f"others like them is {format_range(low, high)} (95 % interval)."
    )
    meaning = "A run whose accuracy is in there may be no better and no worse than this one."
    yield Advice("interval", f"Known to ± {format_points((high - low) / 2)}", words, meaning)


def _say_gap(tested: Tested) -> Iterator[Advice]:
    seen, others = _seen_counts(tested), _counts(tested.evaluation)
    if seen is None:
        return
    low, high = difference_interval(seen, others)
    gap = seen[0] / seen[1] - others[0] / others[1]
    found = f"{format_percent(seen[0] / seen[1])} of {pluralize(seen[1], 'row')} that it learned from are right"
    if low > 0:
        verdict = (
            f"{format_points(gap)} more than of the test (95 % interval: {100 * low:.1f} to {format_points(high)})"
        )
    else:
        more = f"{format_points(abs(gap))} {'more' if gap > 0 else 'less'} than of the test, which chance may have made"
        verdict = more if gap else "as many as of the test"
    yield Advice("gap", "Training and test", f"{found}, {verdict}.")


def _find_remedy(tested: Tested) -> Iterator[Advice]:
    """Whether most mistakes are on rows unlike those that were seen, or are made on these already."""
    seen, others = _seen_counts(tested), _counts(tested.evaluation)
    if seen is None or others[0] == others[1]:
        return
    wrong = (seen[1] - seen[0], seen[1]), (others[1] - others[0], others[1])
    # Of the share of the test that is wrong, is more or less than a half there on rows that were seen?
    low, high = difference_interval(*wrong, weight=0.5)
    shares = (
        f"{format_percent(wrong[0][0] / seen[1])} of the rows that it learned from are wrong, "
        f"{format_percent(wrong[1][0] / others[1])} of the test"
    )
    if high < 0:
        words = f"{shares}: most mistakes are made on rows unlike those that it has seen."
        command = _try_penalty(tested)
        meaning = "A penalty on the weights may help too; this chooses one." if command else ""
        yield Advice("data", "More rows would help", words, meaning, command)
    elif low > 0:
        words = (
            f"{shares}: most mistakes are made on rows like those that it has seen, which this objective does not tell "
            "apart in these features."
        )
        meaning = "More rows alone would help little; other features or another objective may."
        yield Advice("fit", "Features or objective", words, meaning, _try_objective(tested))
    network = learn_by_network(tested.folder, tested.evaluation) if tested.folder and (high < 0 or low > 0) else ()
    if network:
        kind = tested.evaluation["features"]["kind"]
        words = (
            f"{shares}, by features of the kind {kind}; those of a network, which has seen very many pictures, often "
            "tell more."
        )
        yield Advice("features", "Other features", words, commands=network)


def _try(tested: Tested, name: str, objective: str | None = None, *options: str) -> Lines:
    """The run again with another objective, or with further options; nothing if not enough is known of it."""
    if tested.folder is None or tested.record is None or _objective(tested) not in STOCHASTIC:
        return ()
    objective = objective or _objective(tested)
    return train_again(tested.folder, tested.record, tested.evaluation, name, objective, *options)


def _objective(tested: Tested) -> str:
    return str(((tested.record or {}).get("model") or {}).get("objective"))


def _try_penalty(tested: Tested) -> Lines:
    """A penalty that is tuned; where it was already, the one that is chosen by leaving rows out."""
    tuned = tested.record is not None and tested.record["settings"].get("tune")
    if isinstance(tuned, list) and "regularization" in tuned:
        return _try(tested, "square", "square")
    return _try(tested, "tuned", None, "--tune", "regularization")


def _try_objective(tested: Tested) -> Lines:
    other = "square" if _objective(tested) == "softmax" else "softmax"
    return _try(tested, other, other)


def _find_rare_classes(tested: Tested) -> Iterator[Advice]:
    """Classes with few rows to learn from, and whether they are recognized less often."""
    training = (tested.record and tested.record["training"]) or {"per_class": []}
    rows = {one["class"]: min(one["rows"], _MOST) for one in training["per_class"]}
    usual = median(rows.values()) if rows else 0
    few = {name for name in rows if rows[name] < max(_FEW, _RARE * usual)}
    classes = tested.evaluation["per_class"]
    if few:
        rarest = sorted(few, key=lambda name: (rows[name], name))[:_NAMED]
        named = join_names([f"{name} ({rows[name]:,})" for name in rarest] + _and_more(few))
        words = f"There are {usual:,.0f} rows of the median class to learn from, and few of {named}."
        rare, others = (
            _pooled([one for one in classes if (one["class"] in few) == is_few]) for is_few in (True, False)
        )
        # By the exact test: they are often two or three rows, for which an interval of the difference is too short.
        by_chance = binomial_tail(rare[1] - rare[0], rare[1], 1 - wilson_interval(*others)[0])
        worse = by_chance < _BY_CHANCE / 2 and not _was_seen(tested)
        if worse:
            words += (
                f" In the test {format_percent(rare[0] / rare[1])} of these are right and "
                f"{format_percent(others[0] / others[1])} of others, a difference that chance does not explain: more "
                "rows of them would help, or to count on rare classes as much as on others."
            )
        command = _try_for_rare(tested) if worse and not _has_prior(tested) else ()
        yield Advice("rare", "Few rows to learn from", words, commands=command)


def _try_for_rare(tested: Tested) -> Lines:
    """A prior where scores are logarithms of probabilities, and weights otherwise (docs/results/long_tail.md)."""
    if _objective(tested) == "softmax":
        return _try(tested, "uniform", None, "--prior", "uniform")
    return _try(tested, "balanced", None, "--class-weight", "balanced")


def _has_prior(tested: Tested) -> bool:
    """Whether rare classes are no longer held for rare."""
    settings = (tested.record or {}).get("settings") or {}
    return settings.get("prior") is not None or tested.evaluation.get("prior") is not None


def _find_little_tested(tested: Tested) -> Iterator[Advice]:
    classes = tested.evaluation["per_class"]
    few = sum(one["rows"] < _FEW_TESTED for one in classes)
    if few:
        half = wilson_interval(_FEW_TESTED // 2, _FEW_TESTED)[1] - 0.5
        words = (
            f"{few:,} of {pluralize(len(classes), 'class', 'classes')} are tested by fewer than {_FEW_TESTED} rows: "
            f"the accuracy of one such class may be off by {100 * half:.0f} points."
        )
        yield Advice("tested", "Few rows to test", words, "Only more rows to test on would tell more.")


def _pooled(classes: list[dict[str, Any]]) -> tuple[int, int]:
    rows = min(sum(one["rows"] for one in classes), _MOST)
    return min(sum(one["right"] for one in classes), rows), rows


def _and_more(found: Collection[Any]) -> list[str]:
    """The end of a list of which the first are named."""
    return [f"{len(found) - _NAMED:,} more"] if len(found) > _NAMED else []


def sure_mistakes(evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that are taken for another class by a wider margin than that of half of the right rows."""
    return [one for one in evaluation["mistakes"] or [] if one["surer_than"] >= _SURE]


def _find_sure_mistakes(tested: Tested) -> Iterator[Advice]:
    found = sure_mistakes(tested.evaluation)
    if not found:
        return
    first, (right, rows) = found[0], _counts(tested.evaluation)
    # Records keep the surest alone.
    more = "At least " if len(found) == len(tested.evaluation["mistakes"]) < rows - right else ""
    words = (
        f"{more}{pluralize(len(found), 'row')} {'is' if len(found) == 1 else 'are'} taken for another class by a wider "
        f"margin than half of the right ones have, first of all {first['name']}: labeled {first['class']}, taken for "
        f"{first['predicted']}, surer than {format_percent(first['surer_than'], 0)} of them."
    )
    meaning = "Look whether their labels are wrong."
    commands: Lines = ()
    if tested.folder is not None and tested.record is not None and not _was_seen(tested):
        commands = swap_parts(tested.folder, tested.record, tested.evaluation)
    if commands:
        meaning += " The rows to learn from may have wrong ones too: a classifier of the rows of the test shows them."
    yield Advice("sure", "Sure, and wrong", words, meaning, commands)


def confused_pairs(evaluation: dict[str, Any]) -> list[tuple[str, str, int, int, float]]:
    """Pairs of classes that are taken for one another more often than chance explains: (a, b, times, mistakes, p).

    Chance gives every mistake of a row to any other class alike. `p` is the probability that so many of the mistakes of
    both classes go to the other, times the number of all pairs: how many such pairs chance would make.
    """
    classes = evaluation["per_class"]
    k = len({one["class"] for one in classes})
    wrong = {one["class"]: min(max(one["rows"] - one["right"], 0), _MOST) for one in classes}
    times: Counter[tuple[str, str]] = Counter()
    for one in evaluation["confusions"] or []:
        if one["class"] != one["predicted"]:
            times[min(one["class"], one["predicted"]), max(one["class"], one["predicted"])] += min(one["count"], _MOST)
    found = []
    for (a, b), often in times.items() if k > 2 else ():
        mistakes = wrong.get(a, 0) + wrong.get(b, 0)
        p = binomial_tail(often, mistakes, 1 / (k - 1)) * k * (k - 1) / 2
        if often > 1 and p < _BY_CHANCE:
            found.append((a, b, min(often, mistakes), mistakes, p))
    return sorted(found, key=lambda pair: (-pair[2], pair[4]))


def _find_confused_pairs(tested: Tested) -> Iterator[Advice]:
    pairs = confused_pairs(tested.evaluation)
    if not pairs:
        return
    first = [f"{a} with {b} ({times:,} of {wrong:,} mistakes)" for a, b, times, wrong, _ in pairs[:_NAMED]]
    named = join_names(first + _and_more(pairs))
    words = f"Taken for one another more often than chance explains: {named}."
    meaning = (
        f"Mistakes that fall on all classes alike look so in fewer than {format_percent(_BY_CHANCE, 0)} of tests, for "
        "any pair. Look whether the pictures tell them apart, and whether the labels do."
    )
    yield Advice("pairs", "Really confused", words, meaning)


def format_range(low: float, high: float) -> str:
    """An interval of shares in percent.

    >>> format_range(0.766, 0.9236)
    '76.6 to 92.4 %'
    """
    return f"{100 * low:.1f} to {format_percent(high)}"
