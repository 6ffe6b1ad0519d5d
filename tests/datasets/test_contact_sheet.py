"""Many small pictures on one page."""

import numpy as np
import pytest

from manyclass.features.images.pixels import contact_sheet


@pytest.mark.parametrize("colors", [(), (3,)])
@pytest.mark.parametrize(("n", "columns", "margin"), [(6, 3, 0), (5, 3, 1), (1, 4, 2), (4, 1, 1)])
def test_every_picture_lies_in_its_place(n, columns, margin, colors):
    images = np.random.default_rng(0).integers(0, 255, (n, 4, 5, *colors), np.uint8)
    page = contact_sheet(images, columns, margin)
    for i, image in enumerate(images):
        top, left = i // columns * (4 + margin), i % columns * (5 + margin)
        assert np.array_equal(page[top : top + 4, left : left + 5], image)


def test_the_rest_of_the_page_is_white():
    page = contact_sheet(np.zeros((3, 2, 2), np.uint8), columns=2)
    assert page.tolist() == [[0, 0, 255, 0, 0]] * 2 + [[255] * 5] + [[0, 0, 255, 255, 255]] * 2


def test_no_columns_are_refused():
    with pytest.raises(ValueError, match="columns must be a whole number, at least 1; got 0"):
        contact_sheet(np.zeros((3, 2, 2)), columns=0)
