"""
Several labels of a picture
===========================

Each picture shows one, two or three letters of twelve, one over the other. The closed form learns a machine for every
letter, and a threshold for each by exact leave-one-out; `predict` gives the letters that are above theirs. Below the
pictures stands what was said of them: in green where it is right, in orange where it is not.
"""

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc

drawn = mc.datasets.glyphs(60, 40, random_state=0, cache=False)
letters = [c for c, name in enumerate(drawn.classes) if "CAPITAL" in name][:12]
rng = np.random.default_rng(0)
n = 1200
Y = np.zeros((n, 12), bool)
pictures = np.empty((n, 32, 32), np.uint8)
for i in range(n):
    chosen = rng.choice(12, rng.integers(1, 4), replace=False)
    Y[i, chosen] = True
    each = [drawn.images[40 * letters[c] + rng.integers(40)] for c in chosen]
    pictures[i] = np.min(each, axis=0)  # ink covers paper

names = np.array([drawn.classes[c].split()[-1] for c in letters])
labels = [names[row].tolist() for row in Y]
X = mc.datasets.glyph_features(pictures)
clf = mc.SquareLossClassifier().fit(X[:1000], labels[:1000])
said = clf.predict(X[1000:])
right = [set(a) == set(b) for a, b in zip(said, labels[1000:], strict=True)]
print(
    f"F1 {mc.evaluation.f1_score(labels[1000:], said):.1%}; all labels of a picture are right for {np.mean(right):.1%}"
)

figure, charts = plt.subplots(2, 7, figsize=(8.0, 2.9))
for chart, picture, given, good in zip(charts.flat, pictures[1000:], said, right, strict=False):
    chart.imshow(picture, cmap="gray")
    chart.set(xticks=[], yticks=[])
    chart.spines[:].set(color="#009e73" if good else "#d55e00", linewidth=2)
    chart.set_xlabel(" ".join(sorted(given)) or "none", fontsize=9)
figure.tight_layout()
