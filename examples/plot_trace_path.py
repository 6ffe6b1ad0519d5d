"""
A path of trace norms
=====================

The trace norm lets classes share few latent features. `TraceNormPath` walks from strong to weak norms, each fit begun
where the last one ended, and keeps the best on validation. The rank grows as the norm gets weaker.
"""

import matplotlib.pyplot as plt

import manyclass as mc

rows = mc.datasets.low_rank_classes(800, d=48, n_classes=40, rank=12, random_state=0)
path = mc.TraceNormPath(traces=10, ridges=[1e-5], random_state=0).fit(rows, rows.y)

figure, (accuracy, rank) = plt.subplots(1, 2, figsize=(8.4, 3.6))
traces = [row["trace"] for row in path.table_]
accuracy.plot(traces, [100 * row["accuracy"] for row in path.table_], marker="o")
accuracy.axvline(path.best_.trace, color="0.6", linestyle="--", label="chosen")
accuracy.set(xlabel="strength of the trace norm", ylabel="accuracy on validation, %", xscale="log")
accuracy.legend(frameon=False)
rank.plot(traces, [row["rank"] for row in path.table_], marker="s", color="C1")
rank.axhline(12, color="0.6", linestyle="--", label="rank of the class means")
rank.set(xlabel="strength of the trace norm", ylabel="rank of W", xscale="log")
rank.legend(frameon=False)
for chart in (accuracy, rank):
    chart.grid(alpha=0.25)
figure.tight_layout()
