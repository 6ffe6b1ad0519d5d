"""Classes that go or get other names: the machines of the others, in the order of their names."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators.class_updates import renamed_labels
from tests.estimators.problems import blobs

NAMES = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
X, Y = blobs(per_class=15)

CLASSIFIERS = {
    "one-vs-rest": lambda: mc.StochasticClassifier(objective="ovr", max_epochs=5, random_state=0),
    "logistic": lambda: mc.StochasticClassifier(objective="ovr", loss="logistic", max_epochs=5, random_state=0),
    "multiclass": lambda: mc.StochasticClassifier(objective="multiclass", max_epochs=5, random_state=0),
    "softmax": lambda: mc.StochasticClassifier(objective="softmax", max_epochs=5, random_state=0),
    "batch": lambda: mc.LinearClassifier(penalty=mc.Ridge(1e-3)),
    "closed form": lambda: mc.SquareLossClassifier(0.02),
    "trace norm": lambda: mc.TraceNormClassifier(trace=0.02),
    "nearest mean": lambda: mc.NearestCentroid(),
    "nearest mean, by distance": lambda: mc.NearestCentroid("euclidean"),
    "shared": lambda: mc.SharedStructureClassifier(C=0.3),
    "shared, kernel": lambda: mc.SharedStructureClassifier("rbf", C=0.3),
}


def fitted(kind, y=NAMES[Y]):
    return CLASSIFIERS[kind]().fit(X, y)


def scores(clf):
    """A column for every class, by its name."""
    S = clf._scores(X)
    return {label: S[:, i] for i, label in enumerate(clf.classes_.tolist())}


def assert_usable(clf, tmp_path):
    """It is sorted and whole, and comes back from a file as it was."""
    assert clf.classes_.tolist() == sorted(clf.classes_.tolist())
    assert clf.predict_top(X, 99).shape == (len(X), len(clf.classes_))
    clf.save(tmp_path / "model")
    found = mc.load(tmp_path / "model")
    np.testing.assert_array_equal(found.predict(X), clf.predict(X))
    if hasattr(clf, "predict_proba"):
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_class_less_leaves_the_scores_of_the_others(kind, tmp_path):
    clf = fitted(kind)
    before = scores(clf)
    assert clf.remove_classes(["bee", "eel"]) is clf
    assert clf.classes_.tolist() == ["ant", "cat", "dog", "fox"]
    for label, column in scores(clf).items():
        np.testing.assert_allclose(column, before[label], rtol=1e-4, atol=1e-5)
    assert_usable(clf, tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind != "trace norm"])
def test_a_class_less_leaves_the_bits_of_the_others(kind):
    clf = fitted(kind)
    before = clf._weights() if kind.startswith("shared") else clf.coef_.T
    clf.remove_classes("dog")
    after = clf._weights() if kind.startswith("shared") else clf.coef_.T
    np.testing.assert_array_equal(after, np.delete(before, 3, axis=1))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_other_names_change_nothing_but_the_names(kind, tmp_path):
    clf = fitted(kind)
    before, found = scores(clf), clf.predict(X)
    names = {"ant": "zebra", "eel": "a very long name"}
    assert clf.rename_classes(names) is clf
    assert clf.classes_.tolist() == ["a very long name", "bee", "cat", "dog", "fox", "zebra"]
    after = scores(clf)
    for old, column in before.items():
        np.testing.assert_allclose(after[names.get(old, old)], column, rtol=1e-5, atol=1e-6)
    assert clf.predict(X).tolist() == [names.get(label, label) for label in found.tolist()]
    assert_usable(clf, tmp_path)


def test_probabilities_without_a_class_are_those_given_that_it_is_none_of_it():
    clf = fitted("softmax")
    P = np.delete(clf.predict_proba(X).astype(np.float64), 1, axis=1)
    np.testing.assert_allclose(
        clf.remove_classes("bee").predict_proba(X), P / P.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-6
    )


def test_the_temperature_stays():
    clf = fitted("one-vs-rest").calibrate(X, NAMES[Y])
    before = clf.temperature_
    assert clf.remove_classes("bee").rename_classes({"cat": "lion"}).temperature_ == before


@pytest.mark.parametrize(
    "change", [lambda clf: clf.remove_classes("bee"), lambda clf: clf.rename_classes({"fox": "a"})]
)
def test_factors_stay_singular_triples(change):
    clf = change(fitted("trace norm"))
    U, s, V = clf.factors_
    np.testing.assert_allclose(U.T @ U, np.eye(len(s)), atol=1e-5)
    np.testing.assert_allclose(V.T @ V, np.eye(len(s)), atol=1e-5)
    assert (np.diff(s) <= 0).all()
    np.testing.assert_allclose(np.linalg.svd(clf.coef_)[1][: len(s)], s, rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)), st.sets(st.integers(0, 5), max_size=4))
def test_any_names_and_any_classes_less_leave_every_class_its_machine(order, gone):
    clf = fitted("closed form", Y)
    coef, intercept = clf.coef_, clf.intercept_
    clf.rename_classes(dict(enumerate(order)))
    for old, new in enumerate(order):
        np.testing.assert_array_equal(clf.coef_[new], coef[old])
    if gone:
        clf.remove_classes([order[old] for old in gone])
    stay = sorted((order[old], old) for old in set(range(6)) - gone)
    assert clf.classes_.tolist() == [new for new, _ in stay]
    np.testing.assert_array_equal(clf.intercept_, intercept[[old for _, old in stay]])


def test_sums_of_the_closed_form_follow_the_names():
    clf = fitted("closed form").rename_classes({"ant": "zebra"})
    names = np.where(NAMES == "ant", "zebra", NAMES)[Y]
    fresh = mc.SquareLossClassifier(0.02).fit(X, names)
    for name in ("coef_", "class_sums_", "class_weights_", "class_counts_"):
        np.testing.assert_allclose(getattr(clf, name), getattr(fresh, name), rtol=1e-5, atol=1e-6)
    gone = names == "zebra"
    np.testing.assert_allclose(
        clf.remove_classes(X[gone], names[gone]).coef_,
        mc.SquareLossClassifier(0.02).fit(X[~gone], names[~gone]).coef_,
        rtol=1e-4,
        atol=1e-5,
    )


def test_a_closed_form_that_lost_a_machine_has_no_sums_that_lie():
    clf = fitted("closed form").remove_classes(["ant"])
    with pytest.raises(ValueError, match="add_rows needs the sums over rows"):
        clf.add_rows(X[:1], ["bee"])


def test_weights_of_classes_follow_their_names():
    clf = mc.SquareLossClassifier(0.02, class_weight={"ant": 2.0, "bee": 3.0}).fit(X, NAMES[Y])
    clf.rename_classes({"ant": "zebra"})
    assert clf.class_weight == {"zebra": 2.0, "bee": 3.0}
    clf.add_rows(X[:1], ["cat"])
    assert clf.remove_classes(["zebra"]).class_weight == {"bee": 3.0}


def test_weights_of_classes_go_with_their_rows():
    clf = mc.SquareLossClassifier(0.02, class_weight={"ant": 2.0, "bee": 3.0}).fit(X, NAMES[Y])
    clf.remove_classes(X[Y == 0], NAMES[Y[Y == 0]])
    assert clf.class_weight == {"bee": 3.0}
    left = np.r_[np.flatnonzero(Y > 0), np.flatnonzero(Y == 2)]
    fresh = mc.SquareLossClassifier(0.02, class_weight={"bee": 3.0}).fit(X[left], NAMES[Y[left]])
    np.testing.assert_allclose(clf.add_rows(X[Y == 2], NAMES[Y[Y == 2]]).coef_, fresh.coef_, atol=1e-5)


def test_ten_thousand_names_are_changed_at_once():
    names = np.array([f"{i:05}" for i in range(10_000)])
    started = time.perf_counter()
    assert renamed_labels(names, {name: f"new {name}" for name in names.tolist()})[-1] == "new 09999"
    assert time.perf_counter() - started < 1  # not the square of their number: 3 s


def test_batches_go_on_after_classes_changed():
    clf = mc.StochasticClassifier(objective="ovr", random_state=0)
    clf.partial_fit(X, NAMES[Y], classes=NAMES).rename_classes({"ant": "zebra"}).remove_classes("bee")
    kept = ~np.isin(Y, [0, 1])
    clf.partial_fit(X[kept], NAMES[Y[kept]])
    assert clf.classes_.tolist() == ["cat", "dog", "eel", "fox", "zebra"]
    assert len(clf.coef_) == len(clf.steps_) == 5


def test_what_a_solver_proved_of_all_classes_is_not_said_of_fewer():
    clf = fitted("batch")
    assert clf.gap_ >= 0
    assert not hasattr(clf.remove_classes("ant"), "gap_")


def test_numbers_become_names_if_all_of_them_do():
    clf = fitted("batch", Y).rename_classes(dict(enumerate(NAMES.tolist())))
    assert clf.classes_.tolist() == NAMES.tolist()
    assert clf.score(X, NAMES[Y]) > 0.9


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float64, object, "S3"])
def test_labels_keep_their_kind(dtype):
    names = NAMES.astype(dtype) if dtype in (object, "S3") else np.arange(6).astype(dtype)
    clf = fitted("batch", names[Y])
    first, new = names.tolist()[0], {object: "z", "S3": b"z"}.get(dtype, 9)
    clf.rename_classes({first: new})
    assert clf.classes_.tolist() == [*names.tolist()[1:], new]
    assert clf.classes_.dtype.kind == names.dtype.kind


REFUSED = {
    "no class": (lambda clf: clf.remove_classes("bat"), "labels must be among the 6 classes; got 'bat'"),
    "too many": (lambda clf: clf.remove_classes(NAMES[:5]), "must leave two classes; got 1 that stay"),
    "unknown": (lambda clf: clf.rename_classes({"bat": "cow"}), "needs labels among the 6 classes; got 'bat'"),
    "merged": (
        lambda clf: clf.rename_classes({"ant": "bee"}),
        "every class a name of its own; got 'bee' for two of them; to merge classes",
    ),
    "merged anew": (lambda clf: clf.rename_classes({"ant": "cow", "bee": "cow"}), "got 'cow' for two of them"),
    "another kind": (lambda clf: clf.rename_classes({"ant": 3}), "labels of one kind.*; rename all 6 classes"),
    "nothing": (lambda clf: clf.rename_classes({}), "needs a dictionary of old and new labels"),
    "a list as a name": (
        lambda clf: clf.rename_classes({"ant": ["cow"]}),
        r"labels of one kind.*got \['cow'\] for",
    ),
    "no name": (lambda clf: clf.rename_classes({"ant": None}), "labels of one kind.*got None for 'ant'"),
    "a list": (lambda clf: clf.rename_classes(["ant"]), "needs a dictionary of old and new labels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_and_changes_nothing(case):
    change, words = REFUSED[case]
    clf = fitted("closed form")
    before = dict(vars(clf))
    with pytest.raises(ValueError, match=words):
        change(clf)
    assert all(vars(clf)[name] is value for name, value in before.items())


@pytest.mark.parametrize("method", ["remove_classes", "rename_classes"])
def test_nothing_goes_before_it_is_fitted(method):
    with pytest.raises(ValueError, match="not fitted yet"):
        getattr(mc.StochasticClassifier(), method)({"a": "b"})


def test_swapped_names_of_two_classes_turn_the_decision_around():
    two = Y < 2
    clf = mc.StochasticClassifier(random_state=0).fit(X[two], Y[two])
    before = clf.decision_function(X)
    np.testing.assert_array_equal(clf.rename_classes({0: 1, 1: 0}).decision_function(X), -before)


@pytest.mark.parametrize("kind", ["one-vs-rest", "softmax", "trace norm", "closed form"])
def test_changed_classes_are_exported(kind, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    clf = fitted(kind).remove_classes("bee").rename_classes({"cat": "zebra"})
    clf.to_onnx(tmp_path / "model.onnx")
    label = ort.InferenceSession(tmp_path / "model.onnx").run(["label"], {"X": X})[0]
    assert label.tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.add_classes(X[:1], ["zebra"]),
        lambda head: head.remove_classes("ant"),
        lambda head: head.rename_classes({"ant": "zebra"}),
    ],
)
def test_a_small_head_keeps_its_classes(change):
    head = fitted("one-vs-rest").compress()
    with pytest.raises(ValueError, match="a head keeps its classes; change those of the classifier"):
        change(head)
