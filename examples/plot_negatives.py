"""
Negatives for a positive
========================

A one-vs-rest machine sees `beta` negatives for every positive. One is too few; all of them, the unweighted machine, are
many, and not always better. By default `beta` is found on a sample. Below, in green, are characters of the test that
are wrong with one negative and right with the number that was found; in orange what each was taken for.
"""

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc

drawn = mc.datasets.glyphs(100, 24, random_state=0, cache=False)
y, test = drawn.y, np.array(drawn.split) == "test"
features = mc.datasets.glyph_features(drawn.images)
X = mc.WhitenedPCA(n_components=48).fit(features[~test]).transform(features)  # few columns, where negatives count most


def fit(beta):
    """A classifier with so many negatives."""
    return mc.StochasticClassifier("ovr", beta=beta, random_state=0).fit(X[~test], y[~test])


def accuracy(clf):
    """Mean over classes on the test, in percent."""
    return 100 * mc.evaluation.accuracy(y[test], clf.predict(X[test]))


betas = [1, 2, 4, 8, 16, 32, 64]
given, found = [fit(beta) for beta in betas], fit("auto")
said, better = given[0].predict(X[test]), found.predict(X[test]) == y[test]
mended = np.flatnonzero(better & (said != y[test]))[:6]

figure = plt.figure(figsize=(6.4, 5.2))
top, bottom = figure.subfigures(2, 1, height_ratios=[3, 1])
chart = top.subplots()
chart.plot(betas, [accuracy(clf) for clf in given], marker="o", label="given")
chart.plot(found.beta_, accuracy(found), marker="x", markersize=10, linestyle="", color="C3", label="found by itself")
chart.axhline(accuracy(fit(None)), color="0.6", linestyle="--", label="all others")
chart.set(xlabel="negatives per positive", ylabel="test accuracy, %", xscale="log")
chart.set_xticks(betas, [str(beta) for beta in betas])
chart.minorticks_off()
chart.legend(frameon=False)
chart.grid(alpha=0.25)
charts = bottom.subplots(1, 12)
for i, row in enumerate(mended):
    pair = drawn.images[test][row], drawn.images[y == said[row]][0]
    for place, image, color in zip(charts[2 * i : 2 * i + 2], pair, ("#009e73", "#d55e00"), strict=True):
        place.imshow(image, cmap="gray")
        place.spines[:].set(color=color, linewidth=2)
for place in charts:
    place.set(xticks=[], yticks=[])
