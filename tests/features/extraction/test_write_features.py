"""Rows are what the encoder gives, in order and whatever happens to some of the images."""

import multiprocessing
import os
import signal
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from tests.features import child
from tests.features.child import Means, Pairs
from tests.features.extraction.written import contents_of, many_images
from tests.features.hostile import picture


def test_rows_are_what_the_encoder_gives_in_the_order_of_the_images(tmp_path):
    images = many_images()
    run = mc.write_features(tmp_path / "a.store", images, Means(), y=np.arange(40))
    assert_array_equal(run.store.X.toarray(), [Means().encode(image) for image in images])
    assert_array_equal(run.store.y, np.arange(40))
    assert run.skipped == []
    assert not list((tmp_path / "a.store").glob("skipped-*"))
    assert run.store.provenance == {"images": 40, "skipped": 0}


@pytest.mark.parametrize("encoder", [Means(), Pairs()])
def test_the_store_has_the_same_bytes_for_any_number_of_threads(tmp_path, folder, encoder):
    images = mc.datasets.read_images(folder)
    for n in (1, 2, 5):
        with mc.threads(n):
            mc.write_features(tmp_path / f"{n}.store", images.paths, encoder, names=images.names)
    assert contents_of(tmp_path / "1.store") == contents_of(tmp_path / "2.store") == contents_of(tmp_path / "5.store")


def test_labels_names_and_parts_of_skipped_images_are_left_out(tmp_path, folder):
    images = mc.datasets.read_images(folder)
    split = ["train" if i % 3 else "test" for i in range(60)]
    run = mc.write_features(tmp_path / "a.store", images.paths, Means(), names=images.names, y=images.y, split=split)
    bad = {entry.position for entry in run.skipped}
    assert len(bad) == 9
    good = [i for i in range(60) if i not in bad]
    assert list(run.store.names) == [images.names[i] for i in good]
    assert [run.store.classes[label] for label in run.store.y] == [images.y[i] for i in good]
    assert run.store.split.tolist() == [split[i] for i in good]
    assert [images.names[entry.position] for entry in run.skipped] == [entry.name for entry in run.skipped]


def test_names_are_paths_where_there_are_any(tmp_path, folder):
    paths = mc.datasets.read_images(folder).paths[:3]
    assert list(mc.write_features(tmp_path / "a.store", paths, Means()).store.names) == paths
    assert mc.write_features(tmp_path / "b.store", many_images(3), Means()).store.names is None


@pytest.mark.parametrize("quantizer", [child.quantizer(), mc.ScalarQuantizer()])
def test_codes_are_those_of_a_quantizer_that_learned_from_the_same_rows(tmp_path, quantizer):
    images = many_images()
    exact = mc.write_features(tmp_path / "a.store", images, Means()).store
    store = mc.write_features(tmp_path / "b.store", images, Means(), quantizer=quantizer).store
    order = np.random.default_rng(0).permutation(40)
    fitted = copy(quantizer).fit(exact.X.rows(order))
    assert_array_equal(store.X.toarray(), fitted.encode(exact.X).toarray())
    assert not any(file.name.startswith("X") for file in (tmp_path / "b.store").iterdir())


def test_a_sample_is_enough_for_the_quantizer_and_the_given_one_is_not_changed(tmp_path):
    images, given = many_images(), mc.ScalarQuantizer()
    exact = mc.write_features(tmp_path / "a.store", images, Means()).store
    store = mc.write_features(tmp_path / "b.store", images, Means(), quantizer=given, sample=5, seed=3).store
    rows = exact.X.rows(np.random.default_rng(3).permutation(40)[:5])
    assert_array_equal(store.quantizer.scale_, mc.ScalarQuantizer().fit(rows).scale_)
    with pytest.raises(ValueError, match="fit"):
        given.n_features  # noqa: B018


def test_a_fitted_quantizer_is_used_as_it_is(tmp_path):
    images = many_images()
    fitted = mc.ScalarQuantizer().fit(np.random.default_rng(0).random((50, 12)))
    store = mc.write_features(tmp_path / "a.store", images, Means(), quantizer=fitted).store
    assert_array_equal(store.quantizer.scale_, fitted.scale_)


def test_progress_counts_the_pictures_that_the_quantizer_learns_from_and_never_falls(tmp_path):
    seen = []
    mc.write_features(
        tmp_path / "a.store", many_images(), Means(), quantizer=mc.ScalarQuantizer(), sample=25,
        progress=lambda done, n: seen.append((done, n)),
    )  # fmt: skip
    done = [count for count, _ in seen]
    assert done[0] == 1
    assert done == sorted(done)
    assert done[-1] == 40
    assert {n for _, n in seen} == {40}


def test_rows_are_coded_several_at_a_time(tmp_path, monkeypatch):
    fitted = mc.ScalarQuantizer().fit(np.random.default_rng(0).random((50, 12)))
    single, sizes = fitted.encode_rows, []

    def counted(rows):
        sizes.append(len(rows))
        return single(rows)

    monkeypatch.setattr(fitted, "encode_rows", counted)
    monkeypatch.setattr(Means, "forks", False)
    run = mc.write_features(tmp_path / "a.store", many_images(), Means(), quantizer=fitted)
    assert sum(sizes) == 40
    assert len(sizes) <= 5
    monkeypatch.undo()
    alone = [fitted.encode(Means().encode(image)[None]).toarray()[0] for image in many_images()]
    assert_array_equal(run.store.X.toarray(), alone)


def test_no_picture_is_encoded_twice_though_the_quantizer_saw_it_first(tmp_path):
    class Counting(Means):
        def encode(self, image):
            with open(tmp_path / "count", "ab") as file:
                file.write(b"x")
            return super().encode(image)

    with mc.threads(2):
        mc.write_features(tmp_path / "a.store", many_images(), Counting(), quantizer=mc.ScalarQuantizer(), sample=10)
    # Some pictures are under way already when the sample is full.
    assert 40 <= len((tmp_path / "count").read_bytes()) <= 40 + 2 * 4 + 1


def test_a_picture_that_crashes_its_process_is_skipped_and_the_rest_is_not(tmp_path):
    class Crashing(Pairs):
        def encode_many(self, images):
            if any(len(image) == 23 for image in images):
                os.kill(os.getpid(), signal.SIGSEGV)
            return super().encode_many(images)

    for n in (1, 2):
        with mc.threads(n):
            run = mc.write_features(tmp_path / f"{n}.store", many_images(), Crashing())
        assert [entry.position for entry in run.skipped] == [i for i in range(40) if i % 7 == 3]
        assert {entry.reason for entry in run.skipped} == {"crashed the decoder"}


class Pids(Means):
    """Whether it was called in another process than that which made it."""

    def __init__(self):
        super().__init__()
        self.pid = os.getpid()

    def encode(self, image):
        return super().encode(image) * 0 + np.float32(os.getpid() != self.pid)


class Lazy:
    """Pictures that are made when asked for, as those of a dataset in one file are."""

    def __len__(self):
        return 40

    def __getitem__(self, position):
        return picture(20, 30, seed=position)


@pytest.mark.parametrize(
    ("images", "forks", "elsewhere"), [(many_images(), True, 1), (many_images(), False, 0), (Lazy(), True, 0)]
)
def test_an_encoder_that_does_not_say_so_is_not_forked_nor_are_pictures_behind_open_files(
    tmp_path, images, forks, elsewhere
):
    encoder = Pids()
    encoder.forks = forks
    assert_array_equal(mc.write_features(tmp_path / "a.store", images, encoder).store.X.toarray(), elsewhere)


def test_a_daemonic_process_writes_by_threads(tmp_path, monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert_array_equal(mc.write_features(tmp_path / "a.store", many_images(), Pids()).store.X.toarray(), 0)


def test_an_exception_that_somebody_keeps_keeps_no_process(tmp_path):
    def progress(done, total):
        if done == 3:
            raise KeyError("stop")

    with pytest.raises(KeyError) as kept:
        mc.write_features(tmp_path / "a.store", many_images(), Means(), progress=progress)
    assert kept.value.__traceback__ is not None
    assert multiprocessing.active_children() == []


def test_a_batch_that_takes_too_much_memory_is_done_one_by_one(tmp_path):
    class Large(Pairs):
        def encode_many(self, images):
            if len(images) > 1:
                raise MemoryError
            return super().encode_many(images)

    run = mc.write_features(tmp_path / "a.store", many_images(), Large())
    assert run.skipped == []


def test_what_cannot_encode_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"encoder must have encode\(image\), as FisherVectors has; got object"):
        mc.write_features(tmp_path / "a.store", many_images(), object())


def test_a_picture_that_crashes_its_process_costs_none_of_those_that_are_coded_with_it(tmp_path):
    class Crashing(Means):
        def encode(self, image):
            if len(image) == 23:
                os.kill(os.getpid(), signal.SIGSEGV)
            return super().encode(image)

    fitted = mc.ScalarQuantizer().fit(np.random.default_rng(0).random((50, 12)))
    run = mc.write_features(tmp_path / "a.store", many_images(), Crashing(), quantizer=fitted)
    assert [entry.position for entry in run.skipped] == [i for i in range(40) if i % 7 == 3]
    kept = [Means().encode(image) for image in many_images() if len(image) != 23]
    assert_array_equal(run.store.X.toarray(), fitted.encode(np.array(kept)).toarray())


def test_a_process_that_others_ended_is_replaced_and_its_picture_is_kept(tmp_path):
    class Unlucky(Means):
        def encode(self, image):
            if len(image) == 23 and not (tmp_path / "killed").exists():
                (tmp_path / "killed").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().encode(image)

    with mc.threads(1):
        run = mc.write_features(tmp_path / "a.store", many_images(), Unlucky())
    assert (tmp_path / "killed").exists()
    assert_array_equal(run.store.X.toarray(), [Means().encode(image) for image in many_images()])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_no_numbers_cost_the_picture_its_row_and_not_the_run(tmp_path, bad):
    class Broken(Means):
        def encode(self, image):
            return super().encode(image) * (np.float32(bad) if len(image) == 21 else np.float32(1))

    run = mc.write_features(tmp_path / "a.store", many_images(), Broken())
    assert {entry.reason for entry in run.skipped} == {"has features that are NaN or infinite"}
    assert len(run.store) + len(run.skipped) == 40


def test_one_picture_that_cannot_be_encoded_does_not_harm_its_batch(tmp_path):
    class Picky(Pairs):
        def encode_many(self, images):
            if any(len(image) == 21 for image in images):
                raise ValueError("Too flat\nfor me")
            return super().encode_many(images)

    run = mc.write_features(tmp_path / "a.store", many_images(), Picky())
    assert [entry.position for entry in run.skipped] == [i for i in range(40) if i % 7 == 1]
    assert {entry.reason for entry in run.skipped} == {"cannot be encoded: too flat for me"}


def test_a_defect_of_the_encoder_ends_the_run_and_leaves_the_rows_before_it(tmp_path):
    class Defect(Means):
        broken = True

        def encode(self, image):
            if self.broken and len(image) == 26:
                raise KeyError("defect")
            return super().encode(image)

    encoder = Defect()
    with pytest.raises(KeyError):
        mc.write_features(tmp_path / "a.store", many_images(), encoder)
    encoder.broken = False
    run = mc.write_features(tmp_path / "a.store", many_images(), encoder)
    assert run.resumed_after == 6
    assert_array_equal(run.store.X.toarray(), [Means().encode(image) for image in many_images()])


def test_pictures_of_which_none_is_good_are_refused_with_the_first_reason(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.jpg").write_bytes(b"bad")
    paths = [tmp_path / f"{i}.jpg" for i in range(3)]
    for quantizer in (None, mc.ScalarQuantizer()):
        with pytest.raises(ValueError, match="is not an image in a supported format"):
            mc.write_features(tmp_path / "a.store", paths, Means(), quantizer=quantizer)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"images": []}, "at least one entry"),
        ({"y": [1]}, "y must have one entry per image"),
        ({"names": ["a"]}, "names must have one entry per image"),
        ({"split": ["train"]}, "split must have one entry per image"),
        ({"max_pixels": 0}, "max_pixels must be a whole number"),
        ({"sample": 0, "quantizer": mc.ScalarQuantizer()}, "sample must be a whole number"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path, settings, words):
    with pytest.raises(ValueError, match=words):
        mc.write_features(tmp_path / "a.store", **{"images": many_images(2), "encoder": Means(), **settings})


def test_an_encoder_of_another_width_than_it_says_is_refused(tmp_path):
    class Liar(Means):
        n_features_out_ = 11

    with pytest.raises(ValueError, match=r"must give 11 numbers; got shape \(12,\)"):
        mc.write_features(tmp_path / "a.store", many_images(2), Liar())


def test_pictures_are_read_at_the_size_that_the_encoder_wants_unless_told(tmp_path):
    class Area(Means):
        n_features_out_ = 1
        max_pixels = 500

        def encode(self, image):
            return np.float32([image.shape[0] * image.shape[1]])

    image = [np.zeros((100, 100), np.uint8)]
    assert mc.write_features(tmp_path / "a.store", image, Area()).store.X.rows(0) == [22 * 22]
    assert mc.write_features(tmp_path / "b.store", image, Area(), max_pixels=100).store.X.rows(0) == [100]
