"""A part of the images: the same bits as in a run of all, resumed like one, and honest where it is empty."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.data.store.verify import verify_store
from manyclass.features.extraction.skip_log import read_skipped
from tests.features.child import Means, Pairs, quantizer
from tests.features.extraction.written import contents_of, many_images


def parts_of(folder, n, images, encoder, **more):
    return [mc.write_features(folder / f"part{i}", images, encoder, shard=f"{i}/{n}", **more) for i in range(1, n + 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_parts_hold_the_rows_of_one_run_in_order(tmp_path, n):
    images = many_images(25)
    images[8] = b"bad"
    images[24] = b"bad"
    whole = mc.write_features(tmp_path / "whole", images, Pairs(), y=np.arange(25) % 3)
    parts = parts_of(tmp_path, n, images, Pairs(), y=np.arange(25) % 3)
    assert_array_equal(
        np.concatenate([part.store.X.rows(slice(None)) for part in parts]), whole.store.X.rows(slice(None))
    )
    assert_array_equal(np.concatenate([part.store.y for part in parts]), whole.store.y)
    assert [entry for part in parts for entry in part.skipped] == whole.skipped
    assert [entry for i in range(1, n + 1) for entry in read_skipped(tmp_path / f"part{i}")] == whole.skipped


def test_every_part_learns_the_quantizer_of_one_run(tmp_path):
    images, learning = many_images(30), {"quantizer": quantizer(), "sample": 10}
    whole = mc.write_features(tmp_path / "whole", images, Pairs(), **learning)
    for part in parts_of(tmp_path, 3, images, Pairs(), **learning):
        assert_array_equal(part.store.quantizer.state()[1]["codebooks"], whole.store.quantizer.state()[1]["codebooks"])


def test_a_part_says_which_it_is_and_of_what(tmp_path):
    images = many_images(10)
    part = mc.write_features(tmp_path / "part", images, Pairs(), y=["a"] * 10, seed=3, shard="2/3", provenance={"k": 1})
    about = part.store.provenance
    assert (about["k"], about["images"], about["skipped"]) == (1, 4, 0)
    assert [about["shard"][key] for key in ("number", "count", "first", "stop", "total")] == [2, 3, 2, 6, 10]
    assert about["shard"]["whole"]["features"]["seed"] == 3
    assert about["shard"]["whole"]["versions"]["manyclass"] == mc.__version__


@pytest.mark.parametrize("changed", [{"y": ["b"] * 10}, {"split": ["test"] * 10}, {"y": None}])
def test_labels_and_splits_of_all_images_are_known_by_a_digest(tmp_path, changed):
    given = {"y": ["a"] * 10, "split": ["train"] * 10}
    digests = [
        mc.write_features(tmp_path / f"{i}", many_images(10), Means(), shard="1/2", **given | more)
        .store.provenance["shard"]["whole"]["labels"]
        for i, more in enumerate([{}, {}, changed])
    ]  # fmt: skip
    assert digests[0] == digests[1] != digests[2]


def test_a_part_without_images_or_without_good_ones_has_no_row(tmp_path):
    images = [*many_images(2), b"bad"]
    parts = parts_of(tmp_path, 5, images, Means(), y=["a", "b", "c"], split=["train"] * 3)
    assert [len(part.store) for part in parts] == [0, 1, 0, 1, 0]
    assert [part.store.provenance["images"] for part in parts] == [0, 1, 0, 1, 1]
    assert parts[4].skipped[0].position == 2
    assert [verify_store(part.store.path) for part in parts] == [[]] * 5
    assert parts[0].similarity == 0


def stop_after(n):
    def progress(done, total):
        assert total in (40, 14)
        if total == 14 and done >= n:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("learning", [{}, {"quantizer": quantizer(), "sample": 10}], ids=["numbers", "codes"])
@pytest.mark.parametrize("stop", [1, 5, 12])
def test_an_interrupted_part_goes_on_to_the_same_bytes(tmp_path, stop, learning):
    images = many_images(40)
    for i in (14, 17, 20):
        images[i] = b"bad"
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    mc.write_features(whole, images, Pairs(), shard="2/3", **learning)
    with pytest.raises(KeyboardInterrupt):
        mc.write_features(cut, images, Pairs(), shard="2/3", progress=stop_after(stop), **learning)
    run = mc.write_features(cut, images, Pairs(), shard="2/3", **learning)
    assert run.resumed_after > 0 or stop == 1
    assert contents_of(cut) == contents_of(whole)


def test_another_part_does_not_go_on_with_what_one_began(tmp_path):
    images = many_images(40)
    with pytest.raises(KeyboardInterrupt):
        mc.write_features(tmp_path / "part", images, Pairs(), shard="2/3", progress=stop_after(5))
    with pytest.raises(mc.StorageError, match="unfinished write of something else"):
        mc.write_features(tmp_path / "part", images, Pairs(), shard="1/3")


def test_a_part_that_cannot_be_is_refused_before_an_image_is_read(tmp_path):
    with pytest.raises(SettingsError, match="`shard` must be i/n"):
        mc.write_features(tmp_path / "part", many_images(3), Means(), shard="4/3")
    assert not (tmp_path / "part").exists()


class WithLibrary(Means):
    """One whose numbers depend on a library of its own."""

    libraries = ("scipy",)


def test_versions_are_of_all_that_an_encoder_depends_on(tmp_path):
    import scipy

    part = mc.write_features(tmp_path / "part", many_images(3), WithLibrary(), shard="1/1")
    assert part.store.provenance["shard"]["whole"]["versions"]["scipy"] == scipy.__version__
    assert mc.OnnxFeatures.libraries == ("onnxruntime",)
