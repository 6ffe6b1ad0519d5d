"""Samples of descriptors have as many rows of every image, and none twice."""

import numpy as np

from manyclass.features.local import descriptor
from manyclass.features.local.descriptor import LocalDescriptors, sample_descriptors


class Counting:
    dimension = 2

    def describe(self, image):
        m = int(image[0, 0, 0])
        rows = np.stack([np.arange(m), np.full(m, image[0, 0, 1])], axis=1)
        return LocalDescriptors(rows.astype("f4"), np.zeros((m, 2), "f4"))


def test_every_image_gives_the_same_share_and_no_row_twice():
    images = [np.full((2, 2, 3), (200, i, 0), np.uint8) for i in range(4)]
    sample = sample_descriptors(images, [Counting()], 41, 100, seed=0)
    (local,) = sample.descriptors
    assert np.bincount(local.values[:, 1].astype(int)).tolist() == [11] * 4
    assert len(np.unique(local.values, axis=0)) == 44
    other = sample_descriptors(images, [Counting()], 41, 100, seed=1).descriptors[0]
    assert other.values.tolist() != local.values.tolist()


def test_an_image_with_fewer_rows_than_its_share_gives_all():
    images = [np.full((2, 2, 3), (5, 0, 0), np.uint8), np.full((2, 2, 3), (200, 1, 0), np.uint8)]
    (local,) = sample_descriptors(images, [Counting()], 40, 100, seed=0).descriptors
    assert np.bincount(local.values[:, 1].astype(int)).tolist() == [5, 20]


def test_a_sample_may_outgrow_the_memory_that_was_asked_for(monkeypatch):
    images = [np.full((2, 2, 3), (100, i, 0), np.uint8) for i in range(7)]
    (expected,) = sample_descriptors(images, [Counting()], 210, 100, seed=0).descriptors
    monkeypatch.setattr(descriptor, "_ROOM", 4)
    (found,) = sample_descriptors(images, [Counting()], 210, 100, seed=0).descriptors
    assert found.values.shape == (210, 2)
    assert found.values.tolist() == expected.values.tolist()
    assert found.positions.shape == (210, 2)
