"""Does `manyclass encode` without options find as well as the features themselves? Every set, feature and negatives."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.photographs import kept
from experiments.results import BEHIND, OPEN, WITHIN, Results, verdict
from experiments.search_sets import KINDS, SearchSet, search_sets
from manyclass.evaluation import paired_bootstrap

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
        sets. *Gain* is over cosines, with a 95 % interval by a paired bootstrap over queries: within if at most 0.5
        points are lost, behind if the whole interval is below that, and not told otherwise.""")
    rows = [row for (name, features), make in sets.items() for row in _rows(name, features, cache(make))]
    columns = ["data", "features", "negatives", "number", "cosine"]
    columns += [cell for words in ("without labels", "by labels") for cell in (words, "gain", "verdict", "kept")]
    results.table("Mean average precision", columns, [_cells(row) for row in rows])
    for key, words in (("plain", "Without labels"), ("tuned", "By labels")):
        results.say(_summary(words, [row for row in rows if row[key]], key))
    return results


def _summary(words: str, rows: list[dict[str, Any]], key: str) -> str:
    gains = [row[key]["gain"] for row in rows]
    told = [_told(row[key]) for row in rows]
    summary = (
        f"{words}, the default gains {np.mean(gains):+.1f} points on average over {len(gains)} pairs of gallery and "
        f"negatives, {max(gains):+.1f} at most and {min(gains):+.1f} at worst: it is within {ALLOWED} points of "
        f"cosines or above them on {told.count(WITHIN)}, on {told.count(OPEN)} so few queries do not tell, and on "
        f"{told.count(BEHIND)} it is behind."
    )
    for one in (OPEN, BEHIND):
        some = [row for row, its in zip(rows, told, strict=True) if its == one]
        named = "; ".join(f"{row['name']} by {row['features']} against {row['kind']}" for row in some)
        summary += f" {one.capitalize()}: {named}." if some else ""
    return summary


def _rows(name: str, features: str, make: Callable[[], SearchSet]) -> list[dict[str, Any]]:
    rows = []
    for kind in KINDS:
        row = kept(f"search_defaults-{name}-{features}-{kind}", lambda k=kind: _measure(make(), k))
        rows.append({"name": name, "features": features, "kind": kind, **row})
        print(_cells(rows[-1]), flush=True)
    return rows


def _measure(found: SearchSet, kind: str) -> dict[str, Any]:
    negatives = found.negatives[kind]
    cosine = found.average_precisions(found.queries @ found.gallery.T)
    return {
        "cosine": float(cosine.mean()),
        "number": len(found.gallery) // 2 if negatives is None else len(negatives),
        "plain": _encoded(found, negatives, None, cosine),
        "tuned": None if found.labels is None else _encoded(found, negatives, found.labels, cosine),
    }


def _encoded(found: SearchSet, negatives: Any, labels: Any, cosine: Any) -> dict[str, Any]:
    """Mean average precision of what the command makes of files, its gain over cosines, and the method that it kept."""
    with tempfile.TemporaryDirectory() as passing:
        data, world, out = (Path(passing) / name for name in ("data.npz", "world.npy", "gallery"))
        np.savez(data, X=found.gallery, **({} if labels is None else {"y": labels}))
        if negatives is not None:
            np.save(world, negatives)
        result = mc.runs.build_gallery(data, out, negatives=None if negatives is None else world)
        gallery = mc.Gallery.open(out)
        space = gallery.state().indexes[0].encoder
        scores = space.similarity(space.transform(found.queries), gallery.codes(gallery.ids))
        precisions = found.average_precisions(scores)
        gain = paired_bootstrap(precisions, cosine, random_state=0)
        numbers = {"gain": gain.difference, "low": gain.low, "high": gain.high}
        return {"map": float(precisions.mean()), "method": result["method"], **numbers}


def _told(found: dict[str, Any]) -> str:
    return verdict(-found["gain"], found["high"] - found["gain"], ALLOWED)


def _cells(row: dict[str, Any]) -> list[str]:
    found = [cell for key in ("plain", "tuned") for cell in _judged(row[key])]
    return [row["name"], row["features"], row["kind"], f"{row['number']:,}", f"{row['cosine']:.1f}", *found]


def _judged(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return [""] * 4
    gain = f"{found['gain']:+.1f} ({found['low']:+.1f} to {found['high']:+.1f})"
    return [f"{found['map']:.1f}", gain, _told(found), found["method"]]
