"""Distortions: the same draws for the same numbers, small, and dark ink on light paper."""

import numpy as np
import pytest

pytest.importorskip("PIL")

from manyclass.datasets.glyph_images.distortion import Distortion

DRAWING = np.zeros((64, 64), np.uint8)
DRAWING[16:48, 24:40] = 255

STILL = Distortion(np.eye(2), np.zeros(2), blur=0.0, stroke=1.0, ink=0.0, paper=255.0, noise=0.0)


def changed(**settings):
    return Distortion(**{**vars(STILL), **settings}).apply(DRAWING, np.random.default_rng(0))


def center(image):
    ink = 255.0 - image
    return np.array([(ink.sum(axis=0) @ np.arange(32)), (ink.sum(axis=1) @ np.arange(32))]) / ink.sum()


def test_no_distortion_is_the_drawing_half_as_large():
    np.testing.assert_array_equal(changed(), 255 - DRAWING[::2, ::2])


def test_the_same_numbers_give_the_same_image_and_others_another():
    def image(seed):
        rng = np.random.default_rng(seed)
        return Distortion.draw(rng).apply(DRAWING, rng)

    np.testing.assert_array_equal(image(0), image(0))
    assert (image(0) != image(1)).any()


def test_a_shift_is_a_fraction_of_the_side():
    np.testing.assert_allclose(center(changed(shift=np.array([0.25, -0.125]))) - center(changed()), [8, -4], atol=0.1)


def test_the_matrix_leads_from_the_image_back_to_the_drawing():
    half = 255.0 - changed(matrix=2 * np.eye(2))
    assert half.sum() == pytest.approx((255.0 - changed()).sum() / 4, rel=0.1)


def test_ink_and_paper_have_their_grays_and_noise_is_around_them():
    image = changed(ink=50.0, paper=200.0)
    assert set(np.unique(image)) == {50, 200}
    noisy = changed(ink=50.0, paper=200.0, noise=5.0).astype(float) - image
    assert 4 < noisy.std() < 6
    assert abs(noisy.mean()) < 1


def test_a_low_power_thickens_strokes():
    soft = [changed(blur=1.0, stroke=power).astype(int).sum() for power in (0.6, 1.0, 1.25)]
    assert soft == sorted(soft)


@pytest.mark.parametrize("seed", range(20))
def test_draws_stay_within_their_bounds(seed):
    one = Distortion.draw(np.random.default_rng(seed))
    assert (np.abs(one.shift) <= 0.05).all()
    assert 0 <= one.ink <= 90 < 185 <= one.paper <= 255
    assert 0 <= one.noise <= 9
    assert np.exp(-0.2) <= np.linalg.det(one.matrix) <= np.exp(0.2)
