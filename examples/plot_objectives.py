"""
Objectives, epoch by epoch
==========================

One-vs-rest, multiclass, weighted ranking and softmax on generated classes. Each finds its own step on a sample; after
every epoch it is judged on rows that it does not train on. `history_` holds the record.
"""

import matplotlib.pyplot as plt

import manyclass as mc

rows = mc.datasets.low_rank_classes(2500, d=64, n_classes=50, rank=24, random_state=0)
X, y = rows.rows(slice(0, 2000)), rows.y[:2000]
validation = rows.rows(slice(2000, 2500)), rows.y[2000:]

figure, chart = plt.subplots(figsize=(6.4, 4.0))
for objective in ("ovr", "multiclass", "warp", "softmax"):
    clf = mc.StochasticClassifier(objective=objective, max_epochs=40, random_state=0)
    clf.fit(X, y, validation=validation)
    judged = [row for row in clf.history_ if row.get("accuracy") is not None]
    chart.plot([row["epoch"] for row in judged], [100 * row["accuracy"] for row in judged], label=objective)
chart.set(xlabel="epochs", ylabel="accuracy on validation, %", xscale="log")
chart.legend(frameon=False)
chart.grid(alpha=0.25)
figure.tight_layout()
