"""
Search with exemplar machines
=============================

Every picture becomes a machine that tells it from a world of others, and pictures are compared by their machines. The
first of a row is the query, the others are what was found, best first: in green the same character, in orange another.
"""

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc
from manyclass.evaluation import Truth, mean_average_precision

drawn = mc.datasets.glyphs(160, 8, random_state=0, cache=False)
X = mc.datasets.glyph_features(drawn.images)
world = drawn.y < 80  # characters that nobody will look for
known = (drawn.y >= 80) & (drawn.y < 100)  # others with labels, to choose settings by
looked_for, first = drawn.y >= 100, np.arange(len(X)) % 8 == 0
queries, gallery = np.flatnonzero(looked_for & first), np.flatnonzero(looked_for & ~first)
truth = Truth.from_labels(drawn.y[queries], database=drawn.y[gallery])


def precision(encoder):
    """Mean average precision of an encoder, in percent."""
    scores = encoder.similarity(encoder.transform(X[queries]), encoder.transform(X[gallery]))
    return 100 * mean_average_precision(scores, truth, protocol="revisited")


as_they_are = 100 * mean_average_precision(X[queries] @ X[gallery].T, truth, protocol="revisited")
given = X[world], X[known], drawn.y[known]
whitened = mc.exemplar.calibrate(mc.WhitenedPCA(), *given, grid={"n_components": [32, 64, 128, 256]})
machine = mc.exemplar.calibrate(mc.SquareLossExemplar(), *given)
print(
    f"mAP: features {as_they_are:.1f} %, whitened PCA {precision(whitened):.1f} %, machines {precision(machine):.1f} %"
)

g = mc.Gallery(machine)
g.add(X[gallery], ids=gallery)
shown = queries[:6]
hits = g.search(X[shown], k=8)

figure, charts = plt.subplots(len(shown), 9, figsize=(7.2, 5.0))
for row, query, found in zip(charts, shown, hits.ids, strict=True):
    for chart, image in zip(row, [query, *found], strict=True):
        chart.imshow(drawn.images[image], cmap="gray")
        chart.set(xticks=[], yticks=[])
        right = drawn.y[image] == drawn.y[query]
        chart.spines[:].set(color="0.3" if image == query else "#009e73" if right else "#d55e00", linewidth=2)
figure.tight_layout(w_pad=0.3, h_pad=0.3)
