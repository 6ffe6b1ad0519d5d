"""
Classes in two dimensions
=========================

The latent features of a trace-norm classifier are made for telling classes apart; the first two of them are a map.
Characters that look alike come to lie side by side.
"""

import matplotlib.pyplot as plt
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

import manyclass as mc

drawn = mc.datasets.glyphs(40, 12, random_state=0, cache=False)
X = mc.datasets.glyph_features(drawn.images)
clf = mc.TraceNormClassifier(trace=3e-3, ridge=1e-5).fit(X, drawn.y)
U, s, V = clf.factors_
places = V[:, :2] * s[:2] ** 0.5  # a class is a row of V diag(sqrt(s))

figure, chart = plt.subplots(figsize=(6.4, 5.4))
chart.scatter(places[:, 0], places[:, 1], alpha=0)
for label, place in enumerate(places):
    first = drawn.images[drawn.y == label][0]
    chart.add_artist(AnnotationBbox(OffsetImage(first, zoom=0.7, cmap="gray"), place, frameon=False))
chart.set(xlabel="first latent direction", ylabel="second", title=f"{len(places)} classes, rank {clf.rank_}")
chart.margins(0.1)
figure.tight_layout()
