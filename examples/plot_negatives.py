"""
Negatives for a positive
========================

A one-vs-rest machine sees `beta` negatives for every positive. One is too few; all of them, the unweighted machine, are
many, and not always better. By default `beta` is found on a sample.
"""

import matplotlib.pyplot as plt

import manyclass as mc

rows = mc.datasets.low_rank_classes(2400, d=32, n_classes=60, rank=24, random_state=0)
X, y = rows.rows(slice(0, 1600)), rows.y[:1600]
X_test, y_test = rows.rows(slice(1600, 2400)), rows.y[1600:]


def accuracy(beta):
    """Mean over classes on the test rows, in percent, and the beta that was used."""
    clf = mc.StochasticClassifier("ovr", beta=beta, random_state=0).fit(X, y)
    return 100 * mc.evaluation.accuracy(y_test, clf.predict(X_test)), clf.beta_


betas = [1, 2, 4, 8, 16, 32, 64]
found, beta = accuracy("auto")
figure, chart = plt.subplots(figsize=(6.4, 4.0))
chart.plot(betas, [accuracy(beta)[0] for beta in betas], marker="o", label="given")
chart.plot(beta, found, marker="x", markersize=10, linestyle="", color="C3", label="found by itself")
chart.axhline(accuracy(None)[0], color="0.6", linestyle="--", label="all others")
chart.set(xlabel="negatives per positive", ylabel="test accuracy, %", xscale="log")
chart.set_xticks(betas, [str(beta) for beta in betas])
chart.minorticks_off()
chart.legend(frameon=False)
chart.grid(alpha=0.25)
figure.tight_layout()
