"""The data of the demo: characters that are drawn, and dealt out to learning, searching and negatives."""

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.files import write_bytes
from manyclass._core.typing import Report
from manyclass.cli.demo.command import MADE, NAMES, OTHERS, PICTURES, SHEET, WHOLE, WORLD
from manyclass.data.store.store import Store
from manyclass.data.store.write import write_store
from manyclass.datasets import glyph_features, glyphs
from manyclass.datasets.glyph_images.glyphs import Glyphs
from manyclass.report.thumbnails import contact_sheet

_SHEET = (18, 27)  # rows and columns of pictures on it

_SEARCHED, _NEGATIVES = 0.2, 0.12  # kinds for each that is learned

_FEWEST = 8  # kinds to search for, half of which settings are chosen by; and as many for negatives


@dataclass(frozen=True)
class Kinds:
    """Numbers of the characters that are learned, of those that are searched for, and of the negatives."""

    learned: NDArray[np.intp]
    searched: NDArray[np.intp]
    negatives: NDArray[np.intp]

    @classmethod
    def deal(cls, n_learned: int, seed: int) -> "Kinds":
        """At random, as neighbors in the alphabet are of one script.

        >>> kinds = Kinds.deal(500, seed=0)
        >>> len(kinds.learned), len(kinds.searched), len(kinds.negatives), len(kinds)
        (500, 100, 60, 660)
        """
        searched, negatives = (max(_FEWEST, int(fraction * n_learned)) for fraction in (_SEARCHED, _NEGATIVES))
        order = np.random.default_rng(seed).permutation(n_learned + searched + negatives)
        return cls(*(np.sort(kinds) for kinds in np.split(order, [n_learned, n_learned + searched])))

    def __len__(self) -> int:
        return len(self.learned) + len(self.searched) + len(self.negatives)


def draw(out: Path, kinds: Kinds, n_per_class: int, seed: int, report: Report) -> Store:
    """Draw all kinds, and write stores of their features, and their pictures with names; the store to learn from."""
    drawn = glyphs(len(kinds), n_per_class, random_state=seed, progress=report)
    drawn = replace(drawn, classes=[spoken(name) for name in drawn.classes])
    names = [f"{drawn.classes[y]}/{i % n_per_class:02d}" for i, y in enumerate(drawn.y.tolist())]
    _save_pictures(out, drawn.images, names)
    pages = drawn.images.reshape(len(kinds), n_per_class, *drawn.images.shape[1:])
    _save_sheet(out / SHEET, pages[kinds.learned, 0])
    X = glyph_features(drawn.images)
    for name, chosen in ((OTHERS, kinds.searched), (WORLD, kinds.negatives)):
        _write_kinds(out / name, drawn, X, names, chosen, seed)
    return _write_kinds(out / WHOLE, drawn, X, names, kinds.learned, seed)


def spoken(name: str) -> str:
    """A Unicode name as one says it, short enough for figures.

    >>> spoken("LATIN CAPITAL LETTER D"), spoken("LATIN SMALL LETTER D"), spoken("ELEMENT OF")
    ('Latin capital D', 'Latin small d', 'Element of')
    """
    first, *rest = name.replace(" LETTER ", " ").split()
    keep = "CAPITAL" in rest
    return " ".join([first.capitalize(), *(word if keep and len(word) == 1 else word.lower() for word in rest)])


def write_ours(path: Path, X: Any, seed: int, **given: Any) -> Store:
    """Write a store that tells who made it and where the pictures are, over what an earlier demo left there."""
    pictures = {"array": PICTURES, "names": NAMES}
    provenance = {**MADE, "drawn by": "manyclass.datasets.glyphs", "seed": seed, "pictures": pictures}
    return write_store(path, X, **given, provenance=provenance, identity=MADE, overwrite=True, resume=False)


def _write_kinds(path: Path, drawn: Glyphs, X: Any, names: list[str], kinds: NDArray[np.intp], seed: int) -> Store:
    """A store of the pictures of some kinds."""
    rows = np.flatnonzero(np.isin(drawn.y, kinds))
    columns = {
        "y": np.searchsorted(kinds, drawn.y[rows]),
        "classes": [drawn.classes[kind] for kind in kinds],
        "names": [names[row] for row in rows],
        "split": [drawn.split[row] for row in rows],
    }
    return write_ours(path, X[rows], seed, **columns)


def _save_pictures(out: Path, images: NDArray[np.uint8], names: list[str]) -> None:
    file = io.BytesIO()
    np.save(file, images, allow_pickle=False)
    write_bytes(out / PICTURES, file.getvalue())
    write_bytes(out / NAMES, json.dumps(names).encode())


def _save_sheet(path: Path, pictures: NDArray[Any]) -> None:
    from PIL import Image

    rows, columns = _SHEET
    page = Image.fromarray(contact_sheet(pictures[: rows * columns], columns))
    page.resize((2 * page.width, 2 * page.height), Image.Resampling.NEAREST).save(path)
