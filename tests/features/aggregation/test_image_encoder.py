"""What FisherVectors, BagOfWords and Vlad promise alike."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from sklearn.base import clone

import manyclass as mc
from manyclass.features.aggregation.image_encoder import make_descriptors
from manyclass.features.images.pixels import ImageError
from manyclass.features.local.color import LocalColor
from manyclass.features.local.dense_sift import DenseSift
from tests.features.twins import images_of

IMAGES = images_of(5)


SMALL = {"scales": 2, "random_state": 0, "n_samples": 3000}


ENCODERS = {
    "fisher": mc.FisherVectors(3, n_components=8, pyramid=("1x1", "3x1"), **SMALL),
    "fisher sift": mc.FisherVectors(2, ("rootsift",), n_components=5, coordinates=True, **SMALL),
    "bag": mc.BagOfWords(9, ("sift", "color"), n_components=6, whiten=True, **SMALL),
    "vlad": mc.Vlad(4, pyramid=("1x1", "2x2"), **SMALL),
    "vlad plain": mc.Vlad(3, rotate=False, whiten=True, coordinates=True, n_components=7, **SMALL),
}


WIDTHS = {"fisher": 2 * 4 * 2 * 3 * 8, "fisher sift": 2 * 2 * 7, "bag": 18, "vlad": 5 * 4 * 128, "vlad plain": 3 * 9}


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(encoder).fit(IMAGES) for name, encoder in ENCODERS.items()}


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_have_unit_length_and_the_width_that_is_said(fitted, name):
    F = fitted[name].transform(IMAGES)
    assert F.dtype == np.float32
    assert F.shape == (5, WIDTHS[name]) == (5, fitted[name].n_features_out_)
    np.testing.assert_allclose(np.linalg.norm(F, axis=1), 1, atol=1e-5)
    assert len(fitted[name].get_feature_names_out()) == WIDTHS[name]


@pytest.mark.parametrize("name", ENCODERS)
def test_images_by_themselves_have_the_same_bits(fitted, name):
    F = fitted[name].transform(IMAGES)
    for row, image in zip(F, IMAGES, strict=True):
        np.testing.assert_array_equal(fitted[name].encode(image), row)


@pytest.mark.parametrize("name", ENCODERS)
def test_the_number_of_threads_changes_no_bit(fitted, name):
    with mc.threads(2):
        again = clone(ENCODERS[name]).fit(IMAGES)
        found = again.transform(IMAGES)
    with mc.threads(1):
        np.testing.assert_array_equal(fitted[name].transform(IMAGES), found)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_saved_encoder_encodes_to_the_same_bits(fitted, name, tmp_path):
    fitted[name].save(tmp_path / "model")
    loaded = mc.load(tmp_path / "model")
    assert type(loaded) is type(fitted[name])
    np.testing.assert_array_equal(loaded.transform(IMAGES), fitted[name].transform(IMAGES))


def tampered(encoder, change):
    copy = clone(encoder).fit(IMAGES[:2])
    change(copy)
    return copy


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("fisher", lambda e: setattr(e, "n_features_out_", 7), "n_features_out_ must be 384; got 7"),
        ("fisher", lambda e: e.parts_.pop(), "zip"),
        ("fisher", lambda e: e.parts_[0]["aggregation"].update(weights=np.ones(2)), "a mixture must have weights"),
        ("fisher", lambda e: e.parts_[0]["projection"].update(mean=np.ones(2, "f4")), "a projection must have a mean"),
        ("fisher", lambda e: e.parts_.reverse(), "a projection must take 128 numbers; got 96"),
        ("bag", lambda e: e.parts_[1]["aggregation"].update(centers=np.ones((9, 5), "f4")), "must take 6 numbers"),
        ("vlad", lambda e: e.parts_[0]["aggregation"].update(rotations=np.ones((1, 2), "f4")), "rotations must have"),
    ],
    ids=["width", "part missing", "weights", "mean", "exchanged", "words", "rotations"],
)
def test_a_file_whose_arrays_do_not_fit_is_refused(name, change, sentence, tmp_path):
    tampered(ENCODERS[name], change).save(tmp_path / "model")
    with pytest.raises(ValueError, match=f"cannot be read as a manyclass model: .*{sentence}"):
        mc.load(tmp_path / "model")


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (25, 25)])
@pytest.mark.parametrize("gray", [0, 128])
def test_flat_and_tiny_images_give_finite_vectors(fitted, name, shape, gray):
    vector = fitted[name].encode(np.full((*shape, 3), gray, np.uint8))
    length = np.linalg.norm(vector)
    assert length == 0 or length == pytest.approx(1, abs=1e-5)


def test_an_image_that_is_too_small_for_a_patch_gives_zeros(fitted):
    assert not fitted["fisher"].encode(np.zeros((2, 2, 3), np.uint8)).any()


def test_paths_and_arrays_give_the_same_bits(fitted, tmp_path):
    Image.fromarray(IMAGES[0]).save(tmp_path / "a.png")
    found = fitted["vlad"].transform([tmp_path / "a.png", str(tmp_path / "a.png"), IMAGES[0]])
    assert len({row.tobytes() for row in found}) == 1


def test_larger_images_are_shrunk_as_max_pixels_says():
    large = images_of(2, shape=(200, 300))
    encoder = mc.BagOfWords(5, max_pixels=6000, **SMALL).fit(large)
    small = encoder.encode(mc.features.images.read_image(large[0], 6000))
    np.testing.assert_array_equal(encoder.transform(large[:1])[0], small)


def test_images_that_cannot_be_read_are_left_out_of_learning_and_listed(tmp_path):
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    encoder = mc.BagOfWords(5, **SMALL).fit([IMAGES[0], tmp_path / "bad.jpg", IMAGES[1]])
    ((position, reason),) = encoder.skipped_
    assert position == 1
    assert reason
    with pytest.raises(ImageError, match=re.escape(f"image 1, {tmp_path / 'bad.jpg'}, {reason}")):
        encoder.transform([IMAGES[0], tmp_path / "bad.jpg"])


@pytest.mark.parametrize(
    ("encoder", "images", "sentence"),
    [
        (mc.FisherVectors(0), IMAGES, "n_gaussians must be a whole number, at least 1; got 0"),
        (mc.BagOfWords(n_words=2.5), IMAGES, "n_words must be a whole number"),
        (mc.Vlad(n_samples=0), IMAGES, "n_samples must be a whole number"),
        (mc.FisherVectors(pyramid="1x1"), IMAGES, "pyramid must be a sequence"),
        (mc.FisherVectors(descriptors=("surf",)), IMAGES, "descriptors must be one of sift"),
        (mc.FisherVectors(n_components=97), IMAGES, "n_components must be at most the 96 numbers of a descriptor"),
        (mc.FisherVectors(), "folder", "images must be a sequence of paths or arrays; got str"),
        (mc.FisherVectors(), np.zeros((4, 4)), r"images must be a sequence of paths or arrays; got one array of shape"),
        (mc.FisherVectors(), [], "images must have at least one entry; got none"),
        (mc.FisherVectors(), ["no.jpg"], "one of the 1 images to learn from must be usable; image 0 cannot be read"),
        (mc.FisherVectors(), [np.full((40, 40), 255.0)] * 2, "image 0 has floating-point pixels outside"),
        (mc.FisherVectors(descriptors="sift"), IMAGES, "descriptors must be a sequence of names"),
        (mc.FisherVectors(), [np.zeros((5, 5), np.uint8)], "at least one patch of 24 pixels for 'sift'; got none"),
        (mc.Vlad(4), [np.zeros((60, 60), np.uint8)], "at most 1, the number of distinct descriptors .*; got 4"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_learned_is_refused_and_nothing_changes(encoder, images, sentence):
    encoder = clone(encoder)
    with pytest.raises(ValueError, match=sentence):
        encoder.fit(images)
    assert not hasattr(encoder, "parts_")


def test_progress_is_told_at_the_start_and_of_every_image():
    seen = []
    mc.BagOfWords(3, **SMALL).fit(IMAGES, progress=lambda done, n: seen.append((done, n)))
    assert seen == [(i, 5) for i in range(6)]


def test_gradients_of_descriptors_side_by_side_are_those_of_each_alone():
    both = mc.FisherVectors(2, ("sift", "color"), n_components=4, **SMALL).fit(IMAGES)
    alone = [mc.FisherVectors(2, (name,), n_components=4, **SMALL).fit(IMAGES) for name in ("sift", "color")]
    expected = np.concatenate([encoder.transform(IMAGES) for encoder in alone], axis=1) / np.sqrt(2)
    np.testing.assert_allclose(both.transform(IMAGES), expected, atol=1e-6)


def test_another_fit_forgets_the_one_before():
    encoder = mc.BagOfWords(5, **SMALL).fit(IMAGES)
    encoder.encode(IMAGES[0])
    others = images_of(3, seed=9)
    fresh = mc.BagOfWords(5, **SMALL).fit(others)
    np.testing.assert_array_equal(encoder.fit(others).transform(others), fresh.transform(others))


IMAGE = np.random.default_rng(0).integers(0, 256, (50, 60, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "root", "made"),
    [
        ("sift", False, DenseSift(8, 2, 16)),
        ("sift", True, DenseSift(8, 2, 16, root=True)),
        ("rootsift", False, DenseSift(8, 2, 16, root=True)),
        ("color", False, LocalColor(8, 2, 16)),
    ],
)
def test_a_name_stands_for_a_descriptor_with_the_settings(name, root, made):
    (found,) = make_descriptors((name,), step=8, scales=2, patch=16, root=root)
    values, positions = found.describe(IMAGE)
    assert_array_equal(values, made.describe(IMAGE).values)
    assert_array_equal(positions, made.describe(IMAGE).positions)
    assert values.shape == (len(positions), found.dimension)


def test_names_keep_their_order():
    assert [found.dimension for found in make_descriptors(["color", "sift"])] == [96, 128]


@pytest.mark.parametrize("names", [(), "sift", ("surf",), (3,)])
def test_other_names_are_refused(names):
    with pytest.raises(ValueError, match="descriptors must be"):
        make_descriptors(names)
