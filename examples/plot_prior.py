"""
Rare classes and a uniform prior
================================

Characters with many pictures, and others with very few. Where a classifier is in doubt it names a frequent class. A
uniform prior, set after training, moves the biases alone: frequent classes lose a little, rare ones gain much.
"""

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc

k, most = 60, 60
drawn = mc.datasets.glyphs(k, most, random_state=0, cache=False)
X = mc.datasets.glyph_features(drawn.images)
test = np.tile(np.arange(most) < 15, k)  # fifteen of every class
sizes = np.geomspace(45, 2, k).astype(int)
train = np.concatenate(
    [c * most + 15 + np.arange(size) for c, size in enumerate(np.random.default_rng(0).permutation(sizes))]
)
counts = np.bincount(drawn.y[train], minlength=k)

clf = mc.StochasticClassifier("softmax", random_state=0).fit(X[train], drawn.y[train])


def accuracies():
    """Right ones of every class of the test, in percent."""
    right = clf.predict(X[test]) == drawn.y[test]
    return 100 * np.bincount(drawn.y[test], right) / 15


plain = accuracies()
even = (clf.set_prior("uniform"), accuracies())[1]
print(f"mean over classes {plain.mean():.1f} %, with a uniform prior {even.mean():.1f} %")

groups = [("2 to 5", counts <= 5), ("6 to 15", (counts > 5) & (counts <= 15)), ("16 to 45", counts > 15)]
figure, chart = plt.subplots(figsize=(6.4, 3.8))
places = np.arange(len(groups))
for shift, name, found in ((-0.2, "as in training", plain), (0.2, "uniform prior", even)):
    bars = chart.bar(places + shift, [found[group].mean() for _, group in groups], 0.38, label=name)
    chart.bar_label(bars, fmt="%.1f", fontsize=8)
chart.set_xticks(places, [f"{name} pictures\n({group.sum()} classes)" for name, group in groups])
chart.set(ylabel="test accuracy, %", ylim=(0, 108))
chart.legend(frameon=False, loc="upper left", ncols=2)
figure.tight_layout()
