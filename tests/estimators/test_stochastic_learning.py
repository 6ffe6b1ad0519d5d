"""What is learned: objectives as low as those of other solvers, and what the settings are for."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import manyclass as mc
from manyclass.datasets.low_rank import low_rank_classes
from tests.estimators.problems import blobs

K, REGULARIZATION = 5, 0.01
X, Y = blobs(k=K, per_class=40, d=6, spread=1.2)
OWN = np.arange(len(Y)), Y


def hinge_one_vs_rest(S):
    return np.maximum(0, 1 - np.where(Y[:, None] == np.arange(K), 1, -1) * S).sum(axis=1)


def hinge_multiclass(S):
    rivals = S.copy()
    rivals[OWN] = -np.inf
    return np.maximum(0, 1 + rivals.max(axis=1) - S[OWN])


def softmax(S):
    return np.logaddexp.reduce(S, axis=1) - S[OWN]


def objective(loss, fitted):
    W, b = fitted.coef_.astype(np.float64), fitted.intercept_
    return REGULARIZATION / 2 * np.sum(W**2) + loss(X @ W.T + b).mean()


# liblinear regularizes the bias too; the more it is scaled, the less.
C = 1 / (len(Y) * REGULARIZATION)
SVM = {"C": C, "intercept_scaling": 5, "max_iter": 100_000, "random_state": 0}
PEERS = {
    "ovr": (hinge_one_vs_rest, LinearSVC(loss="hinge", dual=True, **SVM)),
    "multiclass": (hinge_multiclass, LinearSVC(multi_class="crammer_singer", **SVM)),
    "softmax": (softmax, LogisticRegression(C=C, max_iter=1000)),
}


@pytest.mark.parametrize("name", PEERS)
def test_a_decaying_step_comes_as_low_as_other_solvers_do(name):
    loss, peer = PEERS[name]
    settings = {"beta": None, "step": 1.0, "step_decay": True, "early_stopping": False, "max_epochs": 60}
    ours = mc.StochasticClassifier(name, regularization=REGULARIZATION, random_state=0, **settings).fit(X, Y)
    assert objective(loss, ours) == pytest.approx(objective(loss, peer.fit(X, Y)), rel=0.01)


@pytest.mark.parametrize("name", ["ovr", "multiclass", "ranking", "warp", "softmax"])
def test_more_epochs_do_not_lose_what_can_be_separated(name):
    rows, y = blobs(k=10, per_class=15, d=24, spread=0.4)
    settings = {"early_stopping": False, "random_state": 0}
    scores = [mc.StochasticClassifier(name, max_epochs=n, **settings).fit(rows, y).score(rows, y) for n in (2, 10, 50)]
    assert scores == sorted(scores)
    assert scores[-1] == 1


def many_classes(seed, imbalance, noise=0.3, n=2000, k=100, d=12):
    """(rows, labels) to learn from, of classes of unequal size, and (rows, labels) of as many of each to judge by."""
    even = low_rank_classes(n + 1500, d, k, rank=d, noise=noise, random_state=seed)
    uneven = low_rank_classes(n, d, k, rank=d, noise=noise, imbalance=imbalance, random_state=seed)
    here = np.isin(even.y[n:], uneven.y)
    return uneven.toarray(), uneven.y, even.rows(slice(n, None))[here], even.y[n:][here]


def mean_class_accuracy(data, **settings):
    rows, y, test_rows, test_y = data
    right = mc.StochasticClassifier(random_state=0, n_threads=1, **settings).fit(rows, y).predict(test_rows) == test_y
    return np.mean([right[test_y == c].mean() for c in np.unique(test_y)])


def test_the_beta_that_is_found_is_no_worse_than_all_negatives():
    problems = [many_classes(seed, imbalance=0.5, noise=0.1, d=6) for seed in range(2)]
    found, unweighted = (
        np.mean([mean_class_accuracy(p, beta=beta, step=2.0) for p in problems]) for beta in ("auto", None)
    )
    assert found > unweighted - 0.01


@pytest.mark.parametrize("imbalance", [0.0, 0.7])
def test_the_beta_that_is_found_is_hardly_worse_than_the_best_of_some(imbalance):
    data = many_classes(0, imbalance, noise=0.15)
    best = max(mean_class_accuracy(data, beta=beta) for beta in (1, 4, 16, 64))
    assert mean_class_accuracy(data, beta="auto") > best - 0.05


@pytest.mark.parametrize("name", ["ovr", "softmax", "multiclass"])
def test_balanced_weights_help_the_smaller_classes(name):
    data = many_classes(1, imbalance=1.0, noise=0.15)
    plain, balanced = (mean_class_accuracy(data, objective=name, class_weight=w) for w in (None, "balanced"))
    assert balanced > plain + 0.01
