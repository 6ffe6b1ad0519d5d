"""What a reader would refuse is not committed, and the store that was there stays."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.store import StoreWriter
from manyclass.data.store.columns import StoreColumns

X = (np.arange(60, dtype=np.float32) % 5).reshape(15, 4)


def product():
    return mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X)


def codes_beyond_the_centroids_of_an_append(path):
    with StoreWriter.extending(path) as writer:
        writer.append_codes(np.full((10, 2), 200, np.uint8))
        writer.commit()


def codes_beyond_the_centroids_of_an_overwrite(path):
    with StoreWriter(path, quantizer=product(), overwrite=True) as writer:
        writer.append_codes(np.full((10, 2), 16, np.uint8))
        writer.commit()


def a_step_that_is_infinite(path):
    quantizer = mc.ScalarQuantizer().fit(X)
    quantizer.scale_ = quantizer.scale_ * np.float32(np.inf)
    mc.write_store(path, X, quantizer=quantizer, overwrite=True)


def settings_that_json_cannot_hold(path):
    quantizer = mc.ScalarQuantizer().fit(X)
    quantizer.bits = np.int64(8)
    mc.write_store(path, X, quantizer=quantizer, overwrite=True)


class Liar(mc.ScalarQuantizer):
    """Says that it has more columns than its state has."""

    n_features = 5


def a_quantizer_that_is_not_what_its_state_says(path):
    quantizer = Liar()
    quantizer.scale_, quantizer.zero_ = np.ones(4, np.float32), np.zeros(4, np.uint8)
    with StoreWriter(path, quantizer=quantizer, overwrite=True) as writer:
        writer.commit()


def labels_beyond_the_classes(path):
    with StoreWriter(path, 4, overwrite=True) as writer:
        writer.append(X)
        writer.commit_columns(StoreColumns({"y": np.full(15, 9)}, ["cat"], None))


def names_that_leave_gaps(path):
    with StoreWriter(path, 4, overwrite=True) as writer:
        writer.append(X)
        arrays = {"names": np.zeros(3, np.uint8), "name_offsets": np.zeros(16, np.int64)}
        writer.commit_columns(StoreColumns(arrays, None, None))


REFUSED = [
    codes_beyond_the_centroids_of_an_append,
    codes_beyond_the_centroids_of_an_overwrite,
    a_step_that_is_infinite,
    settings_that_json_cannot_hold,
    a_quantizer_that_is_not_what_its_state_says,
    labels_beyond_the_classes,
    names_that_leave_gaps,
]


@pytest.mark.parametrize("attempt", REFUSED)
def test_after_a_refused_commit_the_old_store_still_opens(tmp_path, attempt):
    path = mc.write_store(tmp_path / "a.store", X, quantizer=product()).path
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        attempt(path)
    store = mc.open_store(path)
    np.testing.assert_array_equal(store.X.toarray(), X)
    assert store.verify() == []


@pytest.mark.parametrize("attempt", REFUSED)
def test_after_a_refused_commit_the_next_one_may_begin_afresh(tmp_path, attempt):
    path = mc.write_store(tmp_path / "a.store", X, quantizer=product()).path
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        attempt(path)
    np.testing.assert_array_equal(mc.write_store(path, X + 1, overwrite=True, resume=False).X.toarray(), X + 1)


def test_codes_that_stand_for_nothing_are_refused_when_they_come(tmp_path):
    words = "codes must be below the number of centroids, 16; got 16"
    with StoreWriter(tmp_path / "a.store", quantizer=product()) as writer, pytest.raises(ValueError, match=words):
        writer.append_codes(np.full((10, 2), 16, np.uint8))
    assert writer.rows_done == 0


def test_a_quantizer_that_readers_refuse_is_refused_before_the_folder_is_made(tmp_path):
    with pytest.raises(ValueError, match="scale must be finite"):
        a_step_that_is_infinite(tmp_path / "a.store")
    assert not (tmp_path / "a.store").exists()
