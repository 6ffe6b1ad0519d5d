"""Characters that are drawn, and dealt out to learning, searching and negatives."""

import json

import numpy as np
from PIL import Image

import manyclass as mc
from manyclass.cli.demo.glyph_data import Kinds, spoken


def test_kinds_that_are_learned_searched_and_negative_have_nothing_in_common():
    kinds = Kinds.deal(40, seed=0)
    together = np.concatenate([kinds.learned, kinds.searched, kinds.negatives])
    assert (len(kinds.learned), len(kinds.searched), len(kinds.negatives)) == (40, 8, 8)
    assert sorted(together) == list(range(len(kinds)))


def test_stores_hold_these_kinds_and_no_others(once):
    out, _ = once
    classes = [set(mc.open_store(out / name).classes) for name in ("glyphs.store", "others.store", "world.store")]
    assert [len(names) for names in classes] == [40, 8, 8]
    assert not (classes[0] & classes[1] | classes[0] & classes[2] | classes[1] & classes[2])


def test_pictures_are_those_of_the_names(once):
    out, _ = once
    names = json.loads((out / "pictures.json").read_text())
    pictures = np.load(out / "pictures.npy")
    drawn = mc.datasets.glyphs(56, 8, random_state=0)
    row = names.index("Latin capital B/03")
    at = 8 * drawn.classes.index("LATIN CAPITAL LETTER B") + 3
    assert np.array_equal(pictures[row], drawn.images[at])
    with Image.open(out / "glyphs.png") as page:
        assert page.width > 27 * 32


def test_short_names_are_distinct():
    names = mc.datasets.glyphs(300, 2).classes
    assert len({spoken(name) for name in names}) == 300
