"""A thousand rows and classes that come and go, one after the other: sums do not drift."""

import numpy as np
import pytest

import manyclass as mc

STEPS, D = 1000, 5


class Walk:
    """A classifier, the rows that it has learned so far, and steps that change both."""

    def __init__(self, seed, shift, dtype=np.float64):
        self.rng, self.shift, self.dtype, self.centers = np.random.default_rng(seed), shift, dtype, {}
        self.y = np.repeat(np.arange(4), 6)
        self.X = self.drawn(self.y)
        self.clf = mc.SquareLossClassifier(0.02).fit(self.X, self.y)
        self.done = dict.fromkeys(("add_rows", "remove_rows", "add_classes", "remove_classes"), 0)

    def drawn(self, labels):
        centers = [self.centers.setdefault(int(label), self.rng.normal(size=D)) for label in labels]
        return (self.shift + np.array(centers) + 0.4 * self.rng.normal(size=(len(labels), D))).astype(self.dtype)

    def step(self):
        """One of four kinds by chance, such that there are always 4 to 9 classes and some 20 to 80 rows."""
        labels, kind = np.unique(self.y), self.rng.choice(list(self.done))
        if kind.endswith("classes"):
            kind = "add_classes" if len(labels) < 5 else "remove_classes" if len(labels) > 8 else kind
        else:
            kind = "add_rows" if len(self.y) < 25 else "remove_rows" if len(self.y) > 80 else kind
        self.done[kind] += 1
        if kind.startswith("add"):
            new = self.rng.choice(labels, 3) if kind == "add_rows" else np.full(5, max(self.centers) + 1)
            rows = self.drawn(new)
            getattr(self.clf, kind)(rows, new)
            self.X, self.y = np.concatenate([self.X, rows]), np.concatenate([self.y, new])
        else:
            gone = self.spare() if kind == "remove_rows" else self.y == self.rng.choice(labels)
            getattr(self.clf, kind)(self.X[gone], self.y[gone])
            self.X, self.y = self.X[~gone], self.y[~gone]

    def spare(self):
        """A row or more of one of the larger classes, of which some stay."""
        label = np.bincount(self.y).argmax()
        places = np.flatnonzero(self.y == label)
        gone = np.zeros(len(self.y), bool)
        gone[self.rng.permutation(places)[: max(1, len(places) // 2)]] = True
        return gone


# What is far from zero has fewer digits for what varies: 1e4 leaves 12 of 16, squared 8.
@pytest.mark.parametrize(("shift", "dtype"), [(0.0, np.float64), (1e3, np.float64), (3.0, np.float32)])
def test_a_thousand_changes_give_the_machines_of_a_fresh_fit(shift, dtype):
    walk = Walk(0, shift, dtype)
    for _ in range(STEPS):
        walk.step()
    assert min(walk.done.values()) > STEPS / 10
    fresh = mc.SquareLossClassifier(0.02).fit(walk.X, walk.y)
    np.testing.assert_array_equal(walk.clf.classes_, fresh.classes_)
    for name in ("coef_", "intercept_", "mean_", "scatter_", "class_sums_", "class_counts_"):
        ours, theirs = getattr(walk.clf, name), getattr(fresh, name)
        assert np.abs(ours - theirs).max() <= 1e-6 * np.abs(theirs).max()
