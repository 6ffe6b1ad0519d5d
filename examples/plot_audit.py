"""
Wrong labels, found
===================

Of 1,200 drawn characters, 36 have the label of another one. The audit judges every picture by all others, and tells
which labels are likely wrong, how likely, and what they should be. Above each picture is its label, below it what the
audit proposes: in green where the label is wrong, in orange where it was right.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc

drawn = mc.datasets.glyphs(60, 20, random_state=0, cache=False)
X, truth = mc.datasets.glyph_features(drawn.images), drawn.y
rng = np.random.default_rng(0)
flipped = rng.permutation(len(X))[:36]
y = truth.copy()
y[flipped] = (y[flipped] + rng.integers(1, 60, 36)) % 60

found = mc.audit.label_errors(X, y)
suspects = found.ranked(least=0.5)
right = np.isin(suspects, flipped)
print(f"{len(suspects)} labels are likely wrong, and {right.sum()} of them are; {len(flipped)} are wrong in all")
print(f"what is proposed for these is right for {np.mean(found.proposed[flipped] == truth[flipped]):.0%}")


def words(label):
    """The name of a character in lines that fit below its picture."""
    return "\n".join(textwrap.wrap(drawn.classes[label].capitalize().replace("letter ", ""), 17)[:3])


last = np.flatnonzero(~right)[:2]  # surer ones are all right: those that are not come last
shown = np.concatenate([np.flatnonzero(right)[: 10 - len(last)], last])
figure, charts = plt.subplots(2, 5, figsize=(7.6, 4.4))
for chart, at in zip(charts.flat, shown, strict=True):
    row = suspects[at]
    chart.imshow(drawn.images[row], cmap="gray")
    chart.set(xticks=[], yticks=[])
    chart.spines[:].set(color="#009e73" if right[at] else "#d55e00", linewidth=2.5)
    chart.set_title(f"{words(y[row])}?", fontsize=7, color="0.45")
    chart.set_xlabel(f"{words(found.proposed[row])}\n{found.probability[row]:.0%}", fontsize=7)
figure.tight_layout()
