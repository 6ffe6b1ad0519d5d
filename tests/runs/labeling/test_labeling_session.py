"""Labels come in, a classifier learns from them, and says which picture to ask for next."""

import threading

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.labeling import CHOICES, REASONS, LabelingSession, LabelLog


@pytest.fixture
def data(rows):
    return rows(k=6, each=60, spread=0.5)


@pytest.fixture
def session(data, log):
    return LabelingSession(data.X, data.ids, log)


def label(session, data, count, by="mixed", every=10):
    """Answer so many questions, and train now and then."""
    for i in range(count):
        (choice,) = session.next(by)
        session.log.append([choice.id], data.labels[choice.position], source="label")
        if i % every == every - 1:
            session.train()


def accuracy(session, data):
    found = session.proposals(range(len(data.ids)), 1)
    return np.mean([one[0].label == name for one, name in zip(found, data.labels, strict=True)])


def test_without_labels_pictures_are_typical_and_nothing_is_proposed(session):
    assert session.proposals([0, 1]) == [[], []]
    assert [one.reason for one in session.next(count=4)] == ["typical"] * 4
    assert not session.needs_training()
    assert session.classifier() is None
    assert (session.curve(), session.last_gain(), session.trained_on) == ([], "", 0)
    result = session.train()
    assert (result.labels, result.classes, result.kind, result.accuracy) == (0, 0, "", None)


def test_labels_teach(session, data):
    label(session, data, 40)
    assert session.trained_on == 40
    assert accuracy(session, data) > 0.9
    assert not session.needs_training()


def test_proposals_for_what_came_with_a_label_are_of_what_has_not_seen_it(rows, log):
    data = rows(k=6, each=20, spread=0.2)
    wrong = data.labels.index("ant")
    given = list(data.labels)
    given[wrong] = "bee"
    session = LabelingSession(data.X, data.ids, log, given=given)
    session.train()
    (choice,) = session.next("wrong")
    assert (choice.position, choice.words) == (wrong, "its label is bee, but it looks like ant")
    assert session.proposals([wrong])[0][0].label == "ant"


def test_proposals_fall_and_are_probabilities(session, data):
    label(session, data, 40)
    for some in session.proposals([3, 1, 4], 5):
        values = [one.probability for one in some]
        assert len(values) == 5
        assert values == sorted(values, reverse=True)
        assert 0 <= values[-1] <= sum(values) <= 1 + 1e-9
    assert session.proposals([]) == []


def test_chosen_pictures_show_all_classes_sooner_than_chance_does(data, log, tmp_path):
    X = np.concatenate([data.X[data.y == c][: (60 if c < 3 else 6)] for c in range(6)])
    names = np.repeat(["ant", "bee", "cat", "dog", "eel", "fox"], [60] * 3 + [6] * 3)
    session = LabelingSession(X, [str(i) for i in range(len(X))], log)
    seen = set()
    for _ in range(20):
        (choice,) = session.next()
        seen.add(names[choice.position])
        log.append([choice.id], names[choice.position])
        session.train()
    assert len(seen) == 6


def test_a_new_class_is_proposed_after_the_next_training(session, data):
    label(session, data, 30)
    own = np.flatnonzero(data.y == 2)
    session.log.append([data.ids[i] for i in own[:10]], "zebra")
    assert session.needs_training()
    session.train()
    assert "zebra" in [one.label for one in session.proposals([own[20]])[0]]
    assert session.classifier().classes_.tolist()[-1] == "zebra"


def test_one_class_alone_is_proposed_without_certainty(session, data):
    session.log.append(data.ids[:3], "ant")
    result = session.train()
    assert (result.classes, session.classifier()) == (1, None)
    assert [one.label for one in session.proposals([9])[0]] == ["ant"]
    for by in CHOICES:
        session.next(by)


def test_undo_and_taking_away_are_learned_too(session, data):
    label(session, data, 20)
    session.log.append(data.ids[:5], "zebra")
    session.train()
    session.log.undo()
    assert session.needs_training()
    session.train()
    assert "zebra" not in session.classifier().classes_
    session.log.append(list(session.log.labels), None)
    result = session.train()
    assert (result.labels, session.proposals([0])) == (0, [[]])


def test_when_everything_is_labeled_there_is_nothing_left_to_ask(session, data):
    for name in set(data.labels):
        session.log.append([one for one, other in zip(data.ids, data.labels, strict=True) if other == name], name)
    session.train()
    assert [session.next(by) for by in CHOICES] == [[]] * 5
    assert accuracy(session, data) > 0.95


def test_ids_that_are_unknown_are_no_harm(session, data):
    session.log.append(["elsewhere.jpg"], "ant")
    assert session.train().labels == 0
    label(session, data, 20)
    assert session.train().labels == 20


def test_given_labels_teach_until_a_person_says_something_else(data, log):
    given = [name if i % 2 else None for i, name in enumerate(data.labels)]
    session = LabelingSession(data.X, data.ids, log, given=given)
    assert session.needs_training()
    assert session.train().labels == len(data.ids) // 2
    assert accuracy(session, data) > 0.93
    assert all(one.position % 2 == 0 for one in session.next(count=50))
    log.append([data.ids[1]], "zebra")
    session.train()
    assert "zebra" in session.classifier().classes_


def test_given_labels_that_are_wrong_are_found(data, log):
    given, wrong = list(data.labels), [5, 50, 100]
    for i in wrong:
        given[i] = "ant" if given[i] != "ant" else "bee"
    session = LabelingSession(data.X, data.ids, log, given=given)
    session.train()
    found = session.next("wrong", 3)
    assert len({one.position for one in found} & set(wrong)) >= 2
    assert {one.reason for one in found} == {"wrong"}


def test_the_model_of_a_run_proposes_from_the_start(data, log):
    model = mc.SquareLossClassifier().fit(data.X, np.array(data.labels))
    session = LabelingSession(data.X, data.ids, log, model=model)
    assert accuracy(session, data) > 0.95
    assert session.next("uncertain")[0].words.startswith("the model hesitates between")
    log.append([session.next()[0].id], "ant")
    session.train()
    assert accuracy(session, data) > 0.95
    assert session.classifier() is model
    log.append(list(log.labels), None)
    session.train()
    assert accuracy(session, data) > 0.95


def test_what_is_saved_says_the_same(session, data, tmp_path):
    label(session, data, 60)
    session.classifier().save(tmp_path / "model.safetensors")
    again = mc.load(tmp_path / "model.safetensors").predict(data.X)
    proposed = [one[0].label for one in session.proposals(range(len(data.ids)), 1)]
    assert np.mean(again == np.array(proposed)) > 0.99


def test_every_reason_has_words(session, data):
    label(session, data, 30)
    for by in CHOICES:
        for one in session.next(by, 10):
            assert one.reason in REASONS
            assert one.words
            assert one.id == data.ids[one.position]
    with pytest.raises(ValueError, match="by must be one of"):
        session.next("whatever")


def test_the_curve_is_of_pictures_by_chance_and_of_models_that_had_not_learned_them(session, data):
    label(session, data, 120)
    curve = session.curve()
    assert len(curve) > 5
    assert curve[-1].labels < 120
    assert all(point.low <= point.accuracy <= point.high for point in curve)
    assert session.last_gain().startswith("the last ") or len(curve) < 31
    # With labels that mean nothing no model is right, though it has learned all of them by heart.
    rng = np.random.default_rng(0)
    ids = [one for one in data.ids if one not in session.log.labels]
    for one in ids[:100]:
        session.log.append([one], str(rng.integers(1000)), source="label")
    session.train()
    assert session.curve()[-1].accuracy < curve[-1].accuracy


def test_a_session_over_the_same_log_goes_on_where_the_last_one_ended(data, tmp_path):
    with LabelLog(tmp_path / "labels.jsonl") as log:
        session = LabelingSession(data.X, data.ids, log)
        for _ in range(80):
            (choice,) = session.next()
            proposed = next((one.label for one in session.proposals([choice.position])[0]), None)
            log.append([choice.id], data.labels[choice.position], proposed=proposed, source="label")
            if len(log) % 10 == 0:
                session.train()
        curve, answers = session.curve(), session.proposals(range(50))
        asked = session.next(count=10)
    with LabelLog(tmp_path / "labels.jsonl") as log:
        again = LabelingSession(data.X, data.ids, log)
        again.train()
        assert again.curve() == curve
        assert again.proposals(range(50)) == answers
        assert again.next(count=10) == asked


def test_proposals_and_choices_go_on_while_it_trains(session, data):
    label(session, data, 30)
    stop, problems = threading.Event(), []

    def ask():
        try:
            while not stop.is_set():
                session.next(count=3)
                session.proposals([1, 2])
                session.curve()
                session.needs_training()
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    label(session, data, 30, every=5)
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert session.train().labels == 60


def test_what_is_learned_does_not_depend_on_the_order_of_labels(data, tmp_path):
    found = []
    for order in (range(60), reversed(range(60))):
        with LabelLog(tmp_path / f"{len(found)}.jsonl") as log:
            for i in order:
                log.append([data.ids[i]], data.labels[i])
            session = LabelingSession(data.X, data.ids, log)
            session.train()
            found.append(session.proposals(range(60, 90)))
    assert found[0] == found[1]


def test_rows_and_ids_must_be_as_many(data, log):
    with pytest.raises(ValueError, match="ids"):
        LabelingSession(data.X, data.ids[:-1], log)


def test_a_single_picture_can_be_labeled(log):
    session = LabelingSession(np.ones((1, 3), np.float32), ["a"], log)
    assert session.next()[0].id == "a"
    log.append(["a"], "ant")
    session.train()
    assert session.next() == []
    assert session.proposals([0])[0][0].label == "ant"


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((0, 3)), "X must have at least one row; got none"),
        (np.full((4, 3), np.nan), "X must hold finite numbers"),
    ],
)
def test_rows_that_nothing_can_be_learned_from_are_refused_in_words(X, sentence, log):
    with pytest.raises(ValueError, match=sentence):
        LabelingSession(X, [f"{i}.jpg" for i in range(len(X))], log).next()
