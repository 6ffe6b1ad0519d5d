"""How often the model was right, by pictures that were picked by chance."""

import pytest

from manyclass.evaluation.proportions import wilson_interval
from manyclass.runs.labeling.learning_curve import Judgement, chance_order, curve_of, gain_in_words, judge_events


def test_one_in_five_pictures_is_set_apart_in_an_order_of_its_own():
    ids = [f"folder/{i:05d}.jpg" for i in range(10_000)]
    some = chance_order(ids, 0)
    assert 1800 < len(some) < 2200
    assert some != sorted(some)
    assert abs(sum(some) / len(some) - 5000) < 250
    assert chance_order(ids, 1) != some


def judged(log, by_chance, predicted=()):
    events = log.events()
    undone = {event.undoes for event in events if event.undoes}
    return [one.right for one in judge_events(events, undone, set(by_chance), dict(predicted))]


def test_only_what_was_asked_for_by_chance_is_judged_by_what_was_proposed_before(log):
    log.append(["a"], "cat", proposed="cat")
    log.append(["b"], "cat", proposed="dog")
    log.append(["chosen"], "cat", proposed="dog")
    assert judged(log, "ab") == [True, False]


@pytest.mark.parametrize("source", ["find", "bulk", "audit"])
def test_labels_given_elsewhere_are_no_answers(log, source):
    log.append(["a"], "cat", proposed="cat", source=source)
    log.append(["b", "c"], "cat", proposed="cat", source="label")
    log.append(["d"], "cat", proposed="cat", source="label")
    assert judged(log, "abcd") == [True]


def test_a_picture_is_judged_once_and_not_by_what_was_taken_back(log):
    log.append(["a"], "dog", proposed="cat")
    log.undo()
    log.append(["a"], "cat", proposed="cat")
    log.append(["a"], "dog", proposed="cat")
    assert judged(log, "a") == [True]


def test_where_nothing_was_proposed_what_the_model_said_counts(log):
    log.append(["a"], "cat")
    log.append(["b"], "cat")
    assert judged(log, "ab", {2: "cat"}) == [True]


def test_points_count_the_labels_of_all_pictures(log):
    for i in range(12):
        log.append([f"{i} {j}" for j in range(4)], "cat")
        log.append([str(i)], "cat", proposed="cat" if i % 2 else "dog")
    found = judge_events(log.events(), set(), {str(i) for i in range(12)}, {})
    assert [one.labels for one in found] == list(range(4, 64, 5))
    last = curve_of(found)[-1]
    assert (last.labels, last.accuracy) == (59, 0.5)
    assert (last.low, last.high) == wilson_interval(6, 12)


def test_a_long_curve_has_few_points_and_the_last_of_them():
    found = [Judgement(i, i > 900) for i in range(2000)]
    points = curve_of(found)
    assert len(points) < 300
    assert (points[-1].labels, points[-1].accuracy) == (1999, 1.0)
    assert points[0].accuracy == 0.0


def test_a_gain_that_may_be_chance_says_so():
    assert gain_in_words([Judgement(i, True) for i in range(39)]) == ""
    assert gain_in_words([Judgement(5 * i, i % 3 > 0) for i in range(120)]).startswith("the last 250 labels brought")
    assert "give or take" in gain_in_words([Judgement(5 * i, i % 3 > 0) for i in range(120)])
    assert "give or take" not in gain_in_words([Judgement(5 * i, i >= 60) for i in range(120)])
