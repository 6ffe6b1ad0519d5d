"""Thumbnails of rows, found or not; many images on one page."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from manyclass.report.thumbnails import Thumbnails, contact_sheet, data_uri, mark_thumbnail
from tests.report.synthetic import write_pictures


def shown(markup):
    """The picture in an element img."""
    coded = markup.split("base64,")[1].split('"')[0]
    return Image.open(io.BytesIO(base64.b64decode(coded)))


@pytest.fixture
def folder(tmp_path):
    write_pictures(tmp_path / "pictures")
    return tmp_path


def test_a_picture_of_a_folder_is_shown_small(folder):
    picture = shown(Thumbnails({"folder": "pictures"}, folder).show("b.png", "words"))
    assert picture.size == (224, 149)
    assert np.abs(np.asarray(picture.convert("RGB"))[30, 30].astype(int) - [0, 0, 255]).max() < 8


def test_words_for_a_picture_are_its_alternative_text(folder):
    assert 'alt="&lt;b&gt;"' in Thumbnails({"folder": "pictures"}, folder).show("b.png", "<b>")


@pytest.mark.parametrize(
    "name", ["missing.png", "", ".", "../secret.png", "/etc/hosts", "a\0b", "notes.png", "x" * 9999]
)
def test_a_row_without_a_picture_has_a_plate_with_its_name(folder, name):
    Image.new("RGB", (4, 4)).save(folder / "secret.png")
    (folder / "pictures" / "notes.png").write_text("no picture")
    plate = Thumbnails({"folder": "pictures"}, folder).show(name, "words")
    assert plate.startswith('<span class="plate"')


def test_the_folder_of_the_user_comes_first_and_bare_names_are_found_in_it(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    Image.new("RGB", (8, 8), (255, 0, 0)).save(other / "b.png")
    picture = shown(Thumbnails({"folder": "pictures"}, folder, other).show("deep/b.png", ""))
    assert picture.getpixel((0, 0)) == (255, 0, 0)


@pytest.mark.parametrize("home", [".", "evaluations"])
def test_paths_are_found_from_the_record_and_from_its_parent(folder, home):
    (folder / "evaluations").mkdir()
    assert "<img" in Thumbnails({"folder": "pictures"}, folder / home).show("a.png", "")


def test_pictures_of_an_array_are_found_by_name(tmp_path):
    np.save(tmp_path / "p.npy", np.stack([np.zeros((6, 6)), np.full((6, 6), 255)]).astype(np.uint8))
    (tmp_path / "p.json").write_text(json.dumps(["black", "white"]))
    pictures = Thumbnails({"array": "p.npy", "names": "p.json"}, tmp_path)
    assert shown(pictures.show("white", "")).convert("L").getpixel((0, 0)) == 255
    assert "plate" in pictures.show("gray", "")


@pytest.mark.parametrize(
    ("names", "shape"), [('["a"]', (2, 4, 4)), ('{"a": 1}', (1, 4, 4)), ('["a"]', (1,)), ("[", (1, 4, 4))]
)
def test_an_array_and_names_that_do_not_fit_are_refused(tmp_path, names, shape):
    np.save(tmp_path / "p.npy", np.zeros(shape, np.uint8))
    (tmp_path / "p.json").write_text(names)
    with pytest.raises(ValueError, match=r"p\.json"):
        Thumbnails({"array": "p.npy", "names": "p.json"}, tmp_path)


def test_drawings_are_png_and_photographs_jpeg():
    assert data_uri(np.zeros((50, 50, 3), np.uint8)).startswith("data:image/png")
    noise = np.random.default_rng(0).integers(0, 256, (99, 99, 3), dtype=np.uint8)
    assert data_uri(noise).startswith("data:image/jpeg")


@pytest.mark.parametrize(("right", "sign"), [(True, "✓"), (False, "✗")])
def test_right_and_wrong_differ_by_a_sign_and_not_by_color_alone(folder, right, sign):
    assert sign in mark_thumbnail(Thumbnails(None, folder).show("a", ""), right)


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
