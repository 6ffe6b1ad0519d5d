"""Does `manyclass encode` without options find as well as the features themselves? Every set, feature and negatives."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.results import Results
from experiments.search_sets import SearchSet, search_sets

ALLOWED = 0.5  # points below cosines


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("search_defaults", "Search with no options, against the features themselves")
    sets = search_sets(folder) if folder else {}
    if not sets:
        results.say("The pictures are not there.")
        return results
    results.say("""Mean average precision in percent, by trapezoids, of queries that are not in the gallery. *Cosine*
        compares features as they are; the others are galleries that `manyclass encode DATA -o gallery` makes, with no
        settings: without labels, and by the labels of the gallery. Negatives are half of the gallery itself, as where
        none are named; other images of its kind (classes, alphabets, covers or a part of the way that are not in the
        gallery); or foreign photographs, 2,000 of Tiny-ImageNet for Caltech-101 and of Caltech-101 for the others.
        *Kept* is the method that the command chose. The network is EfficientNet-Lite0, pooled; Fisher vectors and VLAD
        have 16 Gaussians and words of dense SIFT, learned from Caltech-101. That negatives of the gallery itself
        take three times the strength, and that fewer than 100 without labels are not learned from, was chosen on these
        sets.""")
    rows = [row for (name, features), make in sets.items() for row in _rows(name, features, make())]
    columns = [
        "data",
        "features",
        "negatives",
        "number",
        "cosine",
        "without labels",
        "kept",
        "by labels",
        "kept by labels",
    ]
    results.table("Mean average precision", columns, [_cells(row) for row in rows])
    for key, words in (("plain", "Without labels"), ("tuned", "By labels")):
        gains = [row[key][0] - row["cosine"] for row in rows if row[key]]
        worst, mean = min(gains), float(np.mean(gains))
        verdict = "always" if worst >= -ALLOWED else "not always"
        results.say(
            f"""{words}, the default gains {mean:+.1f} points on average over {len(gains)} pairs of gallery and
            negatives, {max(gains):+.1f} at most and {worst:+.1f} at worst: it is {verdict} within {ALLOWED} points of
            cosines or above them."""
        )
    return results


def _rows(name: str, features: str, found: SearchSet) -> list[dict[str, Any]]:
    cosine = found.mean_average_precision(found.queries @ found.gallery.T)
    rows = []
    for kind, negatives in found.negatives.items():
        row = {"name": name, "features": features, "kind": kind, "cosine": cosine}
        row["number"] = len(found.gallery) // 2 if negatives is None else len(negatives)
        row["plain"] = _encoded(found, negatives, None)
        row["tuned"] = None if found.labels is None else _encoded(found, negatives, found.labels)
        rows.append(row)
        print(_cells(row), flush=True)
    return rows


def _encoded(found: SearchSet, negatives: Any, labels: Any) -> tuple[float, str]:
    """Mean average precision of what the command makes of files, and the method that it kept."""
    with tempfile.TemporaryDirectory() as passing:
        data, world, out = (Path(passing) / name for name in ("data.npz", "world.npy", "gallery"))
        np.savez(data, X=found.gallery, **({} if labels is None else {"y": labels}))
        if negatives is not None:
            np.save(world, negatives)
        result = mc.runs.build_gallery(data, out, negatives=None if negatives is None else world)
        gallery = mc.Gallery.open(out)
        space = gallery.state().indexes[0].encoder
        scores = space.similarity(space.transform(found.queries), gallery.codes(gallery.ids))
        return found.mean_average_precision(scores), result["method"]


def _cells(row: dict[str, Any]) -> list[str]:
    found = [cell for key in ("plain", "tuned") for cell in _pair(row[key])]
    return [row["name"], row["features"], row["kind"], f"{row['number']:,}", f"{row['cosine']:.1f}", *found]


def _pair(found: tuple[float, str] | None) -> list[str]:
    return ["", ""] if found is None else [f"{found[0]:.1f}", found[1]]
