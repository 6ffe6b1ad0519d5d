"""Descriptors by name."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manyclass.features.aggregation.image_encoder import descriptors_by_name
from manyclass.features.local.color import LocalColor
from manyclass.features.local.dense_sift import DenseSift

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
    (found,) = descriptors_by_name((name,), step=8, scales=2, patch=16, root=root)
    values, positions = found.describe(IMAGE)
    assert_array_equal(values, made.describe(IMAGE).values)
    assert_array_equal(positions, made.describe(IMAGE).positions)
    assert values.shape == (len(positions), found.dimension)


def test_names_keep_their_order():
    assert [found.dimension for found in descriptors_by_name(["color", "sift"])] == [96, 128]


@pytest.mark.parametrize("names", [(), "sift", ("surf",), (3,)])
def test_other_names_are_refused(names):
    with pytest.raises(ValueError, match="descriptors must be"):
        descriptors_by_name(names)
