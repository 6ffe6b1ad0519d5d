"""Every kind of pixel becomes red, green and blue; large images become small ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from PIL import Image

from manyclass.features.images.decoding import read_image
from manyclass.features.images.pixels import ImageError, final_size
from tests.features import hostile
from tests.features.hostile import picture, saved


def test_sixteen_bits_are_scaled_and_not_cut(read):
    values = np.full((3, 4), 40000, np.uint16)
    assert_array_equal(read(saved(values, "PNG")), np.full((3, 4, 3), 156))
    assert_array_equal(read(hostile._big_endian_tiff(values)), np.full((3, 4, 3), 156))
    assert_array_equal(read_image(values), np.full((3, 4, 3), 156))


def test_what_is_transparent_becomes_white(read):
    values = np.zeros((2, 3, 4), np.uint8)
    values[..., 3] = [0, 51, 255]
    expected = np.repeat(np.array([[255, 204, 0]] * 2, np.uint8)[..., None], 3, axis=2)
    assert_array_equal(read(saved(values, "PNG")), expected)
    assert_array_equal(read_image(values), expected)


def test_a_color_of_a_palette_may_be_transparent(read):
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putpixel((1, 0), 1)
    assert_array_equal(read(saved(image, "PNG", transparency=0))[0], [[255, 255, 255], [40, 50, 60]])
    assert_array_equal(read(saved(image, "PNG", transparency=b"\xff\x00"))[0], [[10, 20, 30], [255, 255, 255]])


def test_ink_is_read_as_the_color_that_it_prints(read):
    ink = np.zeros((16, 16, 4), np.uint8)
    ink[..., 0], ink[..., 3] = 255, 102  # cyan, and some black
    image = Image.frombytes("CMYK", (16, 16), ink.tobytes())
    for kind in ("JPEG", "TIFF"):
        assert np.abs(read(saved(image, kind)).astype(int) - [0, 153, 153]).max() <= 3


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stands_upright_however_the_camera_was_held(read, kind, orientation):
    back = {
        1: lambda A: A, 2: lambda A: A[:, ::-1], 3: lambda A: A[::-1, ::-1], 4: lambda A: A[::-1],
        5: lambda A: A.swapaxes(0, 1), 6: lambda A: np.rot90(A), 7: lambda A: A[::-1, ::-1].swapaxes(0, 1),
        8: lambda A: np.rot90(A, -1),
    }  # fmt: skip
    held = np.ascontiguousarray(back[orientation](picture()))
    exif = Image.Exif()
    exif[0x0112] = orientation
    extra = {"tiffinfo": {274: orientation}} if kind == "TIFF" else {"exif": exif}
    options = {"WEBP": {"lossless": True}, "JPEG": {"quality": 100, "subsampling": 0}}.get(kind, {})
    found = read(saved(held, kind, **extra, **options))
    assert found.shape == picture().shape
    assert np.abs(found.astype(int) - picture()).max() <= (6 if kind == "JPEG" else 0)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[0, 128]], np.uint8), [0, 128]),
        (np.array([[[0], [128]]], np.uint8), [0, 128]),
        (np.array([[0, 40000]], np.uint16), [0, 156]),
        (np.array([[False, True]]), [0, 255]),
        (np.array([[0.0, 0.5]]), [0, 128]),
        (np.array([[0.0, 0.5]], np.float16), [0, 128]),
        (np.array([[[0, 255], [0, 0]]], np.uint8), [0, 255]),
    ],
)
def test_gray_arrays_of_every_kind_become_colors(array, expected):
    assert_array_equal(read_image(array), np.array([[[value] * 3 for value in expected]]))


def test_an_array_of_colors_is_kept_and_not_shared():
    image = picture()
    found = read_image(image)
    assert_array_equal(found, image)
    assert found.flags.writeable
    assert not np.shares_memory(found, image)
    assert_array_equal(read_image(image[:, ::-1]), image[:, ::-1])


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3, np.uint8), "an image must be a path or an array"),
        (np.zeros((2, 2, 5), np.uint8), "an image must be a path or an array"),
        (np.zeros((0, 2, 3), np.uint8), "an image must be a path or an array"),
        (np.zeros((2, 2), np.int64), "pixels of type int64"),
        (np.full((2, 2), 1.5), "outside"),
        (np.full((2, 2), np.nan), "outside"),
    ],
)
def test_arrays_that_are_no_pictures_are_refused(array, words):
    with pytest.raises(ImageError, match=words):
        read_image(array)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_final_size_has_at_most_so_many_pixels_and_wastes_few(width, height, most):
    w, h = final_size(width, height, most)
    assert 1 <= w <= width
    assert 1 <= h <= height
    assert w * h <= most
    if width * height > most:
        assert (w + 1) * (h + 1) > most
        assert final_size(height, width, most) == (h, w)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_large_picture_is_shrunk_without_stripes_or_shift(read, kind):
    large = picture(600, 800)
    found = read(saved(large, kind), max_pixels=10_000)
    assert found.shape == (86, 115, 3)
    smooth = np.asarray(Image.fromarray(large).resize((115, 86), Image.Resampling.BOX))
    assert np.abs(found.astype(int) - smooth).max() <= 8


@pytest.mark.parametrize("shape", [(3000, 700), (701, 2999), (20, 90_000)])
def test_strips_give_what_the_whole_would(monkeypatch, shape):
    large = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    monkeypatch.setattr("manyclass.features.images.pixels._STRIP", 1 << 40)
    whole = read_image(large, max_pixels=5000)
    monkeypatch.setattr("manyclass.features.images.pixels._STRIP", 5000)
    assert_array_equal(read_image(large, max_pixels=5000), whole)
