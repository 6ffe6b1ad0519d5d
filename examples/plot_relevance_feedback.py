"""
More of this, none of that
==========================

A search finds some pictures that are wanted and some that are not. Marks of right and wrong become one machine, learned
in closed form against the world of other pictures, and the next search is better. The first of a row is the query; then
come the pictures that were marked as right, paler, and what the search finds beside them: in green the same character,
in orange another.
"""

import matplotlib.pyplot as plt
import numpy as np

import manyclass as mc

drawn = mc.datasets.glyphs(200, 12, random_state=0, cache=False)
X = mc.datasets.glyph_features(drawn.images)
looked_for = np.flatnonzero(drawn.y >= 100)
encoder = mc.SquareLossExemplar(random_state=0).fit(X[drawn.y < 100])  # a world of other characters
gallery = mc.Gallery(encoder)
gallery.add(X[looked_for], ids=looked_for)
feedback = mc.RelevanceFeedback().fit(encoder.transform(X[drawn.y < 100]))


def search(query, like, unlike):
    """Eleven pictures, as many as there are of the same character: those marked as right, and what they find."""
    machine = feedback.query(gallery.codes([query, *like]), gallery.codes(unlike) if unlike else None)
    hits = gallery.search_embeddings(machine.direction, k=24).ids[0].tolist()
    return [*like, *(picture for picture in hits if picture not in (query, *like, *unlike))][:11]


def rounds(query):
    """What is found without marks, and after each of two rounds in which two right and two wrong ones are marked."""
    like, unlike = [], []
    for _ in range(3):
        found = search(query, like, unlike)
        yield found, len(like), len(unlike)
        fresh = [picture for picture in found if picture not in like]
        like += [picture for picture in fresh if drawn.y[picture] == drawn.y[query]][:2]
        unlike += [picture for picture in fresh if drawn.y[picture] != drawn.y[query]][:2]


queries = looked_for[::12]
answers = {query: list(rounds(query)) for query in queries}
right = np.array([[sum(drawn.y[f] == drawn.y[q] for f in found) for found, *_ in answers[q]] for q in queries])
for i, mean in enumerate(100 * right.mean(axis=0) / 11):
    print(f"after {i} rounds of marks {mean:.1f} % of the wanted pictures are found")

shown = queries[np.argsort(right[:, 0] - right[:, 2], kind="stable")[0]]  # where marks help most
figure, charts = plt.subplots(3, 12, figsize=(9.0, 2.9))
for row, (found, n_like, n_unlike) in zip(charts, answers[shown], strict=True):
    row[0].set_ylabel(f"{n_like} right,\n{n_unlike} wrong", fontsize=7)
    for i, (chart, picture) in enumerate(zip(row, [shown, *found], strict=True)):
        chart.imshow(drawn.images[picture], cmap="gray", alpha=0.45 if 0 < i <= n_like else 1)
        chart.set(xticks=[], yticks=[])
        same = drawn.y[picture] == drawn.y[shown]
        chart.spines[:].set(color="0.3" if i == 0 else "#009e73" if same else "#d55e00", linewidth=2)
figure.tight_layout(w_pad=0.3, h_pad=0.3)
