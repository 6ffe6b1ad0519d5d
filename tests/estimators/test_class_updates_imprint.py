"""A class from five rows, in every linear classifier: it is found, and the others are as they were."""

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs
from tests.estimators.test_class_updates import CLASSIFIERS

X, Y = blobs(k=10, per_class=30, d=24, spread=0.5)
NAMES = np.array(["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibex", "jay"])
TRAIN = np.arange(len(Y)) % 2 == 0
OLD = ~np.isin(Y, [2, 7])
FEW = np.concatenate([np.flatnonzero(TRAIN & np.isin(Y, c))[:5] for c in (2, 7)])
IMPRINTED = [kind for kind in CLASSIFIERS if not kind.startswith("shared")]


def fitted(kind):
    return CLASSIFIERS[kind]().fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]])


def right(clf, rows):
    return np.mean(clf.predict(X[rows]) == NAMES[Y[rows]])


@pytest.mark.parametrize("kind", IMPRINTED)
def test_new_classes_are_found_and_old_ones_too(kind, tmp_path):
    clf = fitted(kind)
    before, S = right(clf, ~TRAIN & OLD), clf._scores(X)
    assert clf.imprint_classes(X[FEW], NAMES[Y[FEW]]) is clf
    assert clf.classes_.tolist() == NAMES.tolist()
    np.testing.assert_allclose(np.delete(clf._scores(X), [2, 7], axis=1), S, rtol=1e-4, atol=1e-5)
    assert right(clf, ~TRAIN & ~OLD) > 0.8
    assert right(clf, ~TRAIN & OLD) > before - 0.1
    assert not hasattr(clf, "gap_")
    assert clf.predict_top(X, 3).shape == (len(X), 3)
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").predict(X), clf.predict(X))


@pytest.mark.parametrize("kind", ["batch", "trace norm"])
def test_to_add_classes_is_to_imprint_them(kind):
    one, other = fitted(kind).add_classes(X[FEW], NAMES[Y[FEW]]), fitted(kind).imprint_classes(X[FEW], NAMES[Y[FEW]])
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_the_rank_of_the_trace_norm_grows_by_what_comes():
    clf = fitted("trace norm")
    rank, U = clf.rank_, clf.factors_[0]
    clf.imprint_classes(X[FEW], NAMES[Y[FEW]])
    assert clf.rank_ == rank + 2
    found, s, V = clf.factors_
    np.testing.assert_allclose(V.T @ V, np.eye(rank + 2), atol=1e-5)
    np.testing.assert_allclose(found.T @ found, np.eye(rank + 2), atol=1e-5)
    np.testing.assert_allclose(found @ (found.T @ U), U, atol=1e-4)  # what was shared is in it
    assert (np.diff(s) <= 0).all()


def test_a_new_machine_treats_negatives_as_the_old_ones_treat_the_new_rows():
    clf = fitted("batch")
    S = clf._scores(X[FEW[:5]]).astype(np.float64)
    clf.imprint_classes(X[FEW[:5]], NAMES[Y[FEW[:5]]])
    ours = clf.negatives_.astype(np.float64) @ clf.coef_[2] + clf.intercept_[2]
    np.testing.assert_allclose(ours.mean(), S.mean(), rtol=1e-4)
    assert 0.6 * S.std() < ours.std() < S.std()  # on unseen rows it is larger than on these


def test_classes_that_come_together_are_those_that_come_one_by_one():
    together = fitted("batch").imprint_classes(X[FEW], NAMES[Y[FEW]])
    one = fitted("batch").imprint_classes(X[FEW[:5]], NAMES[Y[FEW[:5]]])
    np.testing.assert_allclose(together.coef_[2], one.coef_[2], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_means_come_as_a_fit_on_all_rows_would_give_them(metric):
    rows = np.concatenate([np.flatnonzero(TRAIN & OLD), FEW])
    grown = mc.NearestCentroid(metric).fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]]).add_classes(X[FEW], NAMES[Y[FEW]])
    fresh = mc.NearestCentroid(metric).fit(X[rows], NAMES[Y[rows]])
    np.testing.assert_allclose(grown.coef_, fresh.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grown.intercept_, fresh.intercept_, rtol=1e-5, atol=1e-6)


def test_held_out_rows_follow_their_classes():
    clf = mc.StochasticClassifier("ovr", max_epochs=5, random_state=0).fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]])
    before = clf.classes_[clf.held_out_["classes"]].tolist()
    clf.imprint_classes(X[FEW], NAMES[Y[FEW]])
    assert clf.classes_[clf.held_out_["classes"]].tolist() == before
    clf.rename_classes({"ant": "zebra"})
    assert clf.classes_[clf.held_out_["classes"]].tolist() == ["zebra" if one == "ant" else one for one in before]
    clf.remove_classes("zebra")
    assert clf.classes_[clf.held_out_["classes"]].tolist() == [one for one in before if one != "ant"]
    assert clf.predict_set(X[:3], 0.9)


def test_distances_to_classes_follow_their_names_and_go_with_one_of_them():
    rows = X[~TRAIN & OLD], NAMES[Y[~TRAIN & OLD]]
    clf = fitted("one-vs-rest").calibrate(*rows, known=(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]]))
    before, p = clf.known_classes_, clf.unknown_p_values(X)
    clf.rename_classes({"ant": "zebra"})
    for name in ("means", "shares"):
        np.testing.assert_array_equal(clf.known_classes_[name], np.roll(before[name], -1, axis=0))
    assert np.abs(clf.unknown_p_values(X) - p).max() < 0.05  # ranks, which rounding may move by one or two
    assert not hasattr(clf.remove_classes("zebra"), "known_classes_")
    np.testing.assert_array_equal(clf.held_out_["near"], clf.held_out_["sure"])
    assert "zebra" not in np.concatenate(clf.predict_set(X, 0.99))
    assert clf.unknown_p_values(X[TRAIN & OLD]).mean() > 0.3


@pytest.mark.parametrize("kind", ["softmax", "batch", "trace norm", "closed form"])
def test_a_prior_follows_the_names_and_is_forgotten_with_other_classes(kind):
    clf = fitted(kind)
    plain, shares = clf.intercept_, {label: 1 + i for i, label in enumerate(clf.classes_.tolist())}
    clf.set_prior(shares).rename_classes({"ant": "zebra"})
    assert np.argmin(clf.prior_) == len(clf.classes_) - 1
    np.testing.assert_array_equal(clf.trained_intercept_, np.roll(plain, -1))
    clf.imprint_classes(X[FEW], NAMES[Y[FEW]])
    assert not hasattr(clf, "prior_")
    np.testing.assert_allclose(clf.intercept_[clf.classes_ == "zebra"], plain[:1], rtol=1e-5)
    assert len(clf.class_counts_) == len(clf.class_weights_) == 10
    assert clf.class_counts_[clf.classes_ == "cat"] == 5
    assert not hasattr(clf.set_prior("uniform").remove_classes(["cat"]), "prior_")
    assert len(clf.class_prior_) == 9


@pytest.mark.parametrize("kind", ["softmax", "batch", "trace norm", "closed form"])
def test_a_uniform_prior_does_not_make_an_imprinted_class_louder(kind):
    clf = fitted(kind).imprint_classes(X[FEW], NAMES[Y[FEW]])
    before = clf.intercept_.astype(np.float64)
    shift = clf.set_prior("uniform").intercept_ - before
    assert np.abs(shift[[2, 7]] - np.delete(shift, [2, 7]).mean()).max() < 0.5


def test_a_class_that_is_no_longer_imprinted_weighs_by_its_rows_to_a_prior(tmp_path):
    clf = fitted("closed form").imprint_classes(X[FEW], NAMES[Y[FEW]])
    clf.save(tmp_path / "model")
    clf = mc.load(tmp_path / "model")
    usual = np.delete(clf.class_prior_, [2, 7]).mean()
    np.testing.assert_allclose(clf.class_prior_[[2, 7]], usual)
    clf.rename_classes({"ant": "zebra"}).remove_classes(["bee"])  # by label, so that the sums go
    clf.imprint_classes(X[FEW[:1]], ["yak"])
    assert clf.class_prior_[clf.classes_ == "yak"] == clf.class_prior_[clf.classes_ == "cat"]
    clf = mc.load(tmp_path / "model").add_rows(X[:1], NAMES[Y[:1]])  # all machines are those of a fit now
    np.testing.assert_allclose(clf.class_prior_, clf.class_counts_ / clf.class_counts_.sum())


def test_the_best_of_a_path_can_grow():
    path = mc.TraceNormPath([0.02], [1e-3], random_state=0).fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]])
    assert right(path.best_.add_classes(X[FEW], NAMES[Y[FEW]]), ~TRAIN & ~OLD) > 0.8


def test_sums_of_the_closed_form_learn_the_rows():
    clf = fitted("closed form").imprint_classes(X[FEW], NAMES[Y[FEW]])
    rows = np.concatenate([np.flatnonzero(TRAIN & OLD), FEW])
    more = np.flatnonzero(~TRAIN)[:20]
    clf.add_rows(X[more], NAMES[Y[more]])
    together = np.concatenate([rows, more])
    fresh = mc.SquareLossClassifier(0.02).fit(X[together], NAMES[Y[together]])
    np.testing.assert_allclose(clf.coef_, fresh.coef_, rtol=1e-3, atol=1e-5)


def test_one_row_makes_a_class_that_a_fit_on_all_rows_would_not_find():
    one = FEW[[0, 5]]
    imprinted = fitted("closed form").imprint_classes(X[one], NAMES[Y[one]])
    exact = fitted("closed form").add_classes(X[one], NAMES[Y[one]])
    assert right(imprinted, ~TRAIN & ~OLD) > 0.8 > right(exact, ~TRAIN & ~OLD)


@pytest.mark.parametrize(
    "change",
    [
        lambda clf: clf,
        lambda clf: clf.remove_classes(["ant"]),
        lambda clf: clf.set_params(class_weight="balanced").fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]]),
        lambda clf: clf.set_params(keep_sums=False).fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]]),
        lambda clf: clf.fit(X[TRAIN & OLD][:20], NAMES[Y[TRAIN & OLD]][:20]),
    ],
    ids=["sums", "a class less", "balanced", "no sums", "few rows"],
)
def test_the_closed_form_knows_negatives_whatever_it_keeps(change, tmp_path):
    clf = change(fitted("closed form"))
    clf.imprint_classes(X[FEW], NAMES[Y[FEW]]).save(tmp_path / "model")
    found = mc.load(tmp_path / "model")
    assert right(found, ~TRAIN & ~OLD) > 0.6
    found.imprint_classes(X[:1], ["yak"])
    assert "yak" in found.classes_


def test_rows_of_old_classes_serve_a_classifier_that_kept_none():
    clf = fitted("batch")
    del clf.negatives_
    with pytest.raises(ValueError, match="rows of old classes are needed beside those of new ones"):
        clf.add_classes(X[FEW], NAMES[Y[FEW]])
    rows = np.concatenate([np.flatnonzero(TRAIN & OLD), FEW])
    assert right(clf.add_classes(X[rows], NAMES[Y[rows]]), ~TRAIN & ~OLD) > 0.8


def test_weights_of_rows_count():
    clf, twin = fitted("batch"), fitted("batch")
    weights = np.array([1.0, 1, 1, 0, 0, 1, 1, 1, 1, 1])
    clf.imprint_classes(X[FEW], NAMES[Y[FEW]], weights)
    kept = FEW[weights > 0]
    np.testing.assert_allclose(clf.coef_, twin.imprint_classes(X[kept], NAMES[Y[kept]]).coef_, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="got none of the class 'yak'"):
        clf.imprint_classes(X[:2], ["yak", "zebra"], [0, 1])


def test_machines_without_a_bias_are_not_imprinted():
    clf = mc.SharedStructureClassifier(C=0.3).fit(X[TRAIN & OLD], NAMES[Y[TRAIN & OLD]])
    with pytest.raises(ValueError, match=r"imprint_classes needs machines with a bias.*use add_classes"):
        clf.imprint_classes(X[FEW], NAMES[Y[FEW]])


@pytest.mark.parametrize("kind", ["one-vs-rest", "batch", "trace norm"])
def test_what_is_kept_is_the_same_for_any_number_of_threads(kind):
    one, two = (CLASSIFIERS[kind]().set_params(n_threads=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.negatives_, two.negatives_)
    few = X[:3], [10, 10, 10]
    np.testing.assert_array_equal(one.imprint_classes(*few).coef_, two.imprint_classes(*few).coef_)


def test_a_file_with_negatives_of_another_width_is_refused(tmp_path):
    clf = fitted("batch")
    clf.negatives_ = clf.negatives_[:, 1:]
    clf.save(tmp_path / "model")
    with pytest.raises(ValueError, match="negatives_ must have shape"):
        mc.load(tmp_path / "model")


@pytest.mark.parametrize("kind", ["one-vs-rest", "trace norm"])
def test_classes_come_go_and_change_names_in_any_order(kind, tmp_path):
    clf = fitted(kind).imprint_classes(X[FEW], NAMES[Y[FEW]])
    clf.remove_classes(["cat", "ant"]).rename_classes({"hen": "a hen"}).imprint_classes(X[FEW[:5]], NAMES[Y[FEW[:5]]])
    assert clf.classes_.tolist() == ["a hen", "bee", "cat", "dog", "eel", "fox", "gnu", "ibex", "jay"]
    assert np.mean(clf.predict(X[Y == 7]) == "a hen") > 0.7
    assert np.mean(clf.predict(X[Y == 2]) == "cat") > 0.7
