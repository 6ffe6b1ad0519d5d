import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass.features.images.pixels import as_image_list
from tests.features.child import Means
from tests.features.hostile import picture


class Column:
    """As a column of pandas after a split: [i] is that of the label i, and the labels are in another order."""

    iloc = None

    def __init__(self, values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, label):
        return self.values[::-1][label]

    def __iter__(self):
        return iter(self.values)

    def to_numpy(self):
        array = np.empty(len(self.values), object)
        array[:] = self.values
        return array


IMAGES = [picture(40 + i, 60, seed=i) for i in range(4)]


@pytest.mark.parametrize("shape", [(60, 40, 3), (60, 40, 4), (60, 40), (7,), (2, 3, 4, 5, 3)])
def test_one_picture_is_not_taken_for_many(shape):
    with pytest.raises(ValueError, match="put it in a list"):
        as_image_list(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(5, 40, 30), (5, 40, 30, 3), (5, 40, 30, 1)])
def test_an_array_of_pictures_is_taken_as_it_is(shape):
    images = np.zeros(shape, np.uint8)
    assert as_image_list(images) is images


@pytest.mark.parametrize("images", ["photos", b"photos", {"a": 1}, {"a"}, iter("ab"), None, np.full((3, 1), "a.jpg")])
@pytest.mark.parametrize("use", [mc.BagOfWords(2).fit, lambda images: mc.write_features("a.store", images, Means())])
def test_what_is_no_sequence_is_refused(use, images):
    with pytest.raises(ValueError, match="images must be a sequence of paths or arrays; got"):
        use(images)


def test_columns_of_a_table_are_read_by_position(tmp_path):
    y, names, split = [3, 1, 2, 0], list("abcd"), ["train", "test", "train", "val"]
    run = mc.write_features(
        tmp_path / "a.store", Column(IMAGES), Means(), y=Column(y), names=Column(names), split=Column(split)
    )
    assert_array_equal(run.store.X.toarray(), [Means().encode(image) for image in IMAGES])
    assert_array_equal(run.store.y, y)
    assert list(run.store.names) == names
    assert list(run.store.split) == split


def test_an_encoder_gives_the_rows_of_a_column_in_its_order():
    encoder = mc.BagOfWords(4, n_components=8, random_state=0).fit(IMAGES)
    assert_array_equal(encoder.transform(Column(IMAGES)), encoder.transform(IMAGES))
