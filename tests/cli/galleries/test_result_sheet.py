"""What is drawn under and in place of pictures on a sheet; whole sheets are tested with the command."""

import pytest
from PIL import ImageFont

from manyclass.cli.galleries.result_sheet import _fitting, _tile


@pytest.mark.parametrize("name", ["a", "a" * 300, "漢字/" * 40, ""])
def test_a_name_under_a_picture_is_no_wider_than_it(name):
    tile = _tile(None, (name, "0.123"), framed=False)
    assert tile.shape == (156, 128, 3)
    font = ImageFont.load_default(11)
    assert font.getlength(_fitting(name, font)) <= 128
    assert _fitting("short name", font) == "short name"


def test_a_place_of_a_sheet_that_has_no_picture_is_white():
    assert (_tile(None, (), framed=False) == 255).all()
