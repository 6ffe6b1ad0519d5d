"""
How small may features be?
==========================

Classifiers trained on rows of one byte for 2, 4, 8 or 16 columns, and tested on codes or on exact rows. Generated rows
hold much noise, so that compression costs more than with features of real images; on exact rows the same classifiers
get some of the loss back.
"""

import matplotlib.pyplot as plt

import manyclass as mc

rows = mc.datasets.low_rank_classes(1800, d=64, n_classes=40, noise=0.15, random_state=0)
X, y = rows.rows(slice(0, 1200)), rows.y[:1200]
X_test, y_test = rows.rows(slice(1200, 1800)), rows.y[1200:]

blocks = [2, 4, 8, 16]
on_codes, on_exact = [], []
for block in blocks:
    pq = mc.ProductQuantizer(block=block, iterations=5, random_state=0).fit(X)
    clf = mc.StochasticClassifier(random_state=0).fit(pq.encode(X), y)
    on_codes.append(100 * clf.score(pq.encode(X_test), y_test))
    on_exact.append(100 * clf.score(X_test, y_test))
full = mc.StochasticClassifier(random_state=0).fit(X, y)

figure, chart = plt.subplots(figsize=(6.4, 4.0))
smaller = [4 * block for block in blocks]
chart.axhline(100 * full.score(X_test, y_test), color="0.6", linestyle="--", label="no compression")
chart.plot(smaller, on_exact, marker="o", label="tested on exact rows")
chart.plot(smaller, on_codes, marker="s", label="tested on codes")
chart.set(xlabel="times smaller than float32", ylabel="test accuracy, %", xscale="log")
chart.set_xticks(smaller, [str(times) for times in smaller])
chart.minorticks_off()
chart.legend(frameon=False)
chart.grid(alpha=0.25)
figure.tight_layout()
