"""Classifiers of rows with several labels: in whatever form labels come, they go out, by learned thresholds."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import manyclass as mc
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.solvers.sgd.linear_weights import PANEL
from tests.solvers import ridge_twin


def drawn(n=600, d=24, k=12, seed=0, noise=0.6):
    """Rows with any number of labels, rare ones and common ones, some with none; the second half for testing."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((2 * n, k)) < np.geomspace(0.3, 0.04, k)).astype(int)
    X = Y @ rng.normal(size=(k, d)) / np.sqrt(d) + noise * rng.normal(size=(2 * n, d)) / np.sqrt(d)
    return X[:n].astype(np.float32), Y[:n], X[n:].astype(np.float32), Y[n:]


def kinds():
    return {
        "square": mc.SquareLossClassifier(),
        "stochastic": mc.StochasticClassifier(random_state=0),
        "from zero": mc.StochasticClassifier(random_state=0, step=0.5, max_epochs=20),
        "logistic": mc.StochasticClassifier(random_state=0, loss="logistic", step=4.0, max_epochs=20),
    }


KINDS = list(kinds())


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_predicted_as_well_as_by_scikit_learn_with_thresholds_of_their_own(kind):
    X, Y, X_test, Y_test = drawn()
    found = kinds()[kind].fit(X, Y)
    peer = OneVsRestClassifier(LinearSVC(C=10, random_state=0)).fit(X, Y).predict(X_test)
    for average in ("micro", "macro"):
        assert f1_score(Y_test, found.predict(X_test), average=average) > f1_score(Y_test, peer, average=average) - 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_of_y_changes_nothing_but_the_form_of_predictions(kind):
    X, Y, X_test, Y_test = drawn(200, k=5)
    words = np.array(["ant", "bee", "cat", "dog", "eel"])
    lists = [words[row == 1].tolist() for row in Y]
    of_matrix, of_sparse, of_lists = (kinds()[kind].fit(X, y) for y in (Y, sparse.csr_matrix(Y), lists))
    found = of_matrix.predict(X_test)
    assert found.dtype == np.int64
    assert found.shape == Y_test.shape
    assert sparse.issparse(of_sparse.predict(X_test))
    np.testing.assert_array_equal(of_sparse.predict(X_test).toarray(), found)
    assert of_lists.predict(X_test) == [words[row == 1].tolist() for row in found]
    assert of_lists.classes_.tolist() == words.tolist()
    np.testing.assert_array_equal(of_lists.coef_, of_matrix.coef_)
    truth = [words[row == 1].tolist() for row in Y_test]
    expected = (found == Y_test).all(axis=1).mean()
    assert of_lists.score(X_test, truth) == of_matrix.score(X_test, Y_test) == pytest.approx(expected)


@pytest.mark.parametrize("d", [6, 90])
def test_the_closed_form_is_ridge_regression_on_the_indicator_matrix(d):
    X, Y, _, _ = drawn(60, d, 4)
    X, c = X.astype(np.float64), np.random.default_rng(0).uniform(0.5, 2, 60)
    found = mc.SquareLossClassifier(0.1).fit(X, Y, sample_weight=c)
    W, b = ridge_twin.ridge(X, Y, 4, 0.1, c.astype(np.float32))
    np.testing.assert_allclose(found.coef_.T, W, atol=1e-8)
    np.testing.assert_allclose(found.intercept_, b, atol=1e-8)
    expected = ridge_twin.left_out(X, Y, 4, 0.1, c.astype(np.float32))
    np.testing.assert_allclose(found.leave_one_out(X, Y, sample_weight=c), expected, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_of_each_class_and_about_as_often_right_as_they_say(kind):
    X, Y, X_test, Y_test = drawn(1500, noise=1.2)
    found = kinds()[kind].fit(X, Y)
    P = found.predict_proba(X_test)
    assert P.shape == Y_test.shape
    assert ((P > 0) & (P < 1)).all()
    assert P.mean(axis=0) == pytest.approx(Y_test.mean(axis=0), abs=0.03)
    for low, high in pairwise(np.linspace(0, 1, 6)):
        inside = (low <= P) & (high > P)
        assert Y_test[inside].mean() == pytest.approx(P[inside].mean(), abs=0.08)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_classes_are_those_of_highest_probability(kind):
    X, Y, X_test, _ = drawn(300)
    found = kinds()[kind].fit(X, Y)
    S = found.decision_function(X_test)
    assert S.shape == (300, 12)
    logits = S * found.slopes_ + found.offsets_
    assert (np.take_along_axis(logits, found.predict_top(X_test, 3), 1)[:, 0] >= logits.max(axis=1) - 1e-3).all()


@pytest.mark.parametrize("kind", ["square", "stochastic"])
def test_a_file_keeps_thresholds_probabilities_and_the_form(kind, tmp_path):
    X, Y, X_test, _ = drawn(200)
    found = kinds()[kind].fit(X, [np.flatnonzero(row).tolist() for row in Y])
    found.save(tmp_path / "model")
    again = mc.load(tmp_path / "model")
    assert again.predict(X_test) == found.predict(X_test)
    np.testing.assert_array_equal(again.predict_proba(X_test), found.predict_proba(X_test))
    np.testing.assert_array_equal(again.thresholds_, found.thresholds_)


@pytest.mark.parametrize("kind", ["square", "stochastic"])
def test_two_labels_do_not_compete(kind):
    X, Y, X_test, _ = drawn(200, k=2)
    found = kinds()[kind].fit(X, Y)
    assert found.decision_function(X_test).shape == (200, 2)
    assert {0, 2} <= set(found.predict(X_test).sum(axis=1).tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_no_row_had_is_never_predicted(kind):
    X, Y, X_test, Y_test = drawn(200, k=6)
    found = kinds()[kind].fit(X, np.hstack([Y, 0 * Y[:, :1]]))
    assert found.predict(X_test)[:, -1].sum() == 0
    found.calibrate(X_test, np.hstack([Y_test, 0 * Y_test[:, :1]]))
    assert found.predict(X_test)[:, -1].sum() == 0


@pytest.mark.parametrize("kind", ["square", "stochastic"])
def test_labels_at_random_are_not_predicted_for_all_rows(kind):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(600, 16)).astype(np.float32), (rng.random((300, 100)) < 0.01).astype(int)
    assert kinds()[kind].fit(X[:300], Y).predict(X[300:]).sum(axis=1).mean() < 10


def test_probabilities_that_do_not_compete_are_not_summed_up_a_tree():
    X, Y, _, _ = drawn(200, k=4)
    with pytest.raises(ValueError, match="one label per row"):
        mc.Taxonomy(dict.fromkeys("0123", "all")).predict(mc.SquareLossClassifier().fit(X, Y), X)


def test_without_held_out_rows_the_sign_of_a_machine_decides_until_it_is_calibrated():
    X, Y, X_test, Y_test = drawn(noise=1.0)
    # With one negative for a positive, machines say yes too often.
    settings = {"early_stopping": False, "max_epochs": 3, "step": 0.5, "beta": 1.0, "random_state": 0}
    found = mc.StochasticClassifier(**settings).fit(X, Y)
    np.testing.assert_array_equal(found.predict(X_test), found.decision_function(X_test) > 0)
    assert not hasattr(found, "predict_proba")
    before = f1_score(Y_test[300:], found.predict(X_test[300:]), average="macro")
    found.calibrate(X_test[:300], Y_test[:300])
    assert f1_score(Y_test[300:], found.predict(X_test[300:]), average="macro") > before + 0.05
    assert found.predict_proba(X_test).shape == Y_test.shape


def test_a_validation_set_stops_and_gives_thresholds():
    X, Y, X_test, Y_test = drawn()
    found = mc.StochasticClassifier(random_state=0, step=0.5, max_epochs=12)
    found.fit(X, Y, validation=(X_test, Y_test))
    best = max(one["accuracy"] for one in found.history_)
    S = found.decision_function(X_test)
    assert mc.evaluation.mean_label_precision(Y_test, S) == pytest.approx(best, abs=0.03)
    assert hasattr(found, "predict_proba")
    with pytest.raises(ValueError, match=r"validation must be \(X, y\) like those of fit: .* column for each of 12"):
        found.fit(X, Y, validation=(X_test, Y_test[:, :3]))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(n_threads):
    X, Y, _, _ = drawn(150, 8, k=PANEL + 9)
    for settings in ({}, {"step": 0.5, "max_epochs": 3}):
        one, other = (
            mc.StochasticClassifier(**settings, n_threads=t, random_state=0).fit(X, Y) for t in (1, n_threads)
        )
        for name in ("coef_", "thresholds_", "slopes_"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_workers_that_share_the_classes_find_the_same_bits():
    X, Y, _, _ = drawn(300, k=PANEL + 9)
    settings = {"step": 0.5, "max_epochs": 4, "random_state": 0}
    alone = mc.StochasticClassifier(**settings).fit(X, Y)
    with using_workers(LocalWorkers(2)):
        shared = mc.StochasticClassifier(**settings).fit(X, Y)
    np.testing.assert_array_equal(shared.coef_, alone.coef_)
    np.testing.assert_array_equal(shared.thresholds_, alone.thresholds_)
    assert [one["accuracy"] for one in shared.history_ if "accuracy" in one] == [
        one["accuracy"] for one in alone.history_ if "accuracy" in one
    ]


def test_one_label_per_row_after_several_forgets_them():
    X, Y, X_test, _ = drawn(200)
    found = mc.StochasticClassifier(random_state=0).fit(X, Y).fit(X, np.arange(200) % 3)
    assert not hasattr(found, "thresholds_")
    assert not hasattr(found, "label_form_")
    assert found.predict(X_test).shape == (200,)
    assert found.predict_proba(X_test).sum(axis=1) == pytest.approx(np.ones(200))


@pytest.mark.parametrize(("fit", "words"), [
    (lambda X, Y: mc.StochasticClassifier("softmax").fit(X, Y), "objective must be 'ovr' or 'auto'.*got 'softmax'"),
    (lambda X, Y: mc.StochasticClassifier(class_weight="balanced").fit(X, Y), "class_weight must be None"),
    (lambda X, Y: mc.SquareLossClassifier(class_weight={0: 2}).fit(X, Y), "class_weight must be None"),
    (lambda X, Y: mc.StochasticClassifier(sampling="balanced").fit(X, Y), "sampling must be 'uniform'"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, 2 * Y), "must hold 0 and 1; got 2"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, Y[:-1]), "inconsistent numbers of samples"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, [[] for _ in X]), "at least two classes; got 0"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, [["a"] for _ in X]), "at least two classes; got 1"),
    (lambda X, Y: mc.StochasticClassifier(random_state=0).fit(X, Y).partial_fit(X, Y[:, 0]), "needs one label per row"),
    (lambda X, Y: mc.StochasticClassifier(random_state=0).fit(X, Y).add_classes(X, Y[:, 0] + 90), "one label per row"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, Y).add_rows(X, Y[:, 0]), "sums over rows"),
    (lambda X, Y: mc.SquareLossClassifier().fit(X, [["a", "b"]] * len(X)).score(X, [["c"]] * len(X)), "among the 2"),
])  # fmt: skip
def test_what_does_not_go_with_several_labels_is_refused_in_a_sentence(fit, words):
    X, Y, _, _ = drawn(80, k=3)
    with pytest.raises(ValueError, match=words):
        fit(X, Y)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("label_form_", "pickle", "label_form_ must be one of indicator, sparse, lists"),
    ("thresholds_", np.zeros(2), r"thresholds_ must have shape \(12,\)"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["square", "stochastic"])
def test_a_file_that_says_something_else_is_refused(kind, name, value, words, tmp_path):
    X, Y, _, _ = drawn(100)
    found = kinds()[kind].fit(X, Y)
    setattr(found, name, value)
    found.save(tmp_path / "model")
    with pytest.raises(ValueError, match=words):
        mc.load(tmp_path / "model")


def test_a_graph_of_one_label_per_row_is_refused(tmp_path):
    X, Y, _, _ = drawn(100)
    with pytest.raises(ValueError, match="several labels per row has no graph"):
        mc.SquareLossClassifier().fit(X, Y).to_onnx(tmp_path / "model.onnx")
