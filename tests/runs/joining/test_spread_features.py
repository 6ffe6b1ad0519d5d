"""Features by workers have the bytes of those of one process, whatever was lost on the way."""

import os
from copy import copy

import pytest

import manyclass as mc
from manyclass._core.errors import FolderBusyError, SettingsError, StorageError
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.runs.joining.worker_parts import holding_parts, parts_folder
from manyclass.runs.provenance import about_encoder, choose_kind, keep_encoder
from tests.features.child import Pairs
from tests.features.extraction.written import contents_of, many_images
from tests.runs.joining.test_join_stores import GIVEN, WORDS, images, make_whole

OPTIONS = {"n_words": 2, "descriptors": "sift", "n_components": 4, "n_samples": 400, "scales": 1, "step": 8}


def spread(path, pictures=None, encoder=None, n=2, **given):
    with using_workers(LocalWorkers(n)):
        return mc.runs.spread_features(
            path, pictures or images(), encoder or Pairs(), provenance={"made by": "us"}, **given
        )


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_workers_write_the_store_of_one_run(tmp_path, given, n):
    whole = make_whole(tmp_path / "whole", **{key: copy(value) for key, value in given.items()})
    run = spread(tmp_path / "spread", n=n, **{key: copy(value) for key, value in given.items()})
    assert contents_of(tmp_path / "spread") == whole
    assert (run.store.shape[0], len(run.skipped), run.resumed_after) == (21, 4, 0)
    assert not parts_folder(tmp_path / "spread").exists()


def test_how_the_encoder_was_learned_is_told_as_by_one_run(tmp_path):
    kind, pictures = choose_kind("fisher", 0, OPTIONS), many_images(12)
    encoder, about = kind.encoder().fit(pictures), about_encoder(kind, pictures)
    keep_encoder(tmp_path / "whole", about, encoder, False, True)
    whole = make_whole(tmp_path / "whole", encoder, pictures)
    spread(tmp_path / "spread", pictures, encoder, about=about)
    assert contents_of(tmp_path / "spread") == whole


class Leave(LocalWorkers):
    """Workers that are gone after some parts."""

    def run(self, function, common, each):
        yield from super().run(function, common, each[:3])
        raise OSError("the disk is gone")


def broken(path, **given):
    with using_workers(Leave(2)), pytest.raises(OSError, match="the disk is gone"):
        mc.runs.spread_features(path, images(), Pairs(), provenance={"made by": "us"}, **given)


@pytest.mark.parametrize("name", ["words", "product"])
def test_the_same_call_goes_on_after_an_error_with_any_number_of_workers(tmp_path, name):
    given, told = GIVEN[name], []
    whole = make_whole(tmp_path / "whole", **given)
    broken(tmp_path / "spread", **given)
    run = spread(tmp_path / "spread", n=5, progress=lambda *amount: told.append(amount), **given)
    assert contents_of(tmp_path / "spread") == whole
    assert run.resumed_after > 0
    assert told[0][0] > 0
    assert told[-1] == (25, 25)


def test_what_a_quantizer_has_learned_is_not_learned_again(tmp_path, monkeypatch):
    broken(tmp_path / "spread", **GIVEN["product"])
    monkeypatch.setattr(mc.ProductQuantizer, "fit", None)
    spread(tmp_path / "spread", **GIVEN["product"])


def test_parts_of_other_images_are_refused_and_can_be_dropped(tmp_path):
    whole = make_whole(tmp_path / "whole", **WORDS)
    broken(tmp_path / "spread", **WORDS)
    with pytest.raises(StorageError, match=r"spread\.parts holds parts of other images or settings; pass resume=False"):
        spread(tmp_path / "spread", **WORDS, max_pixels=500)
    spread(tmp_path / "spread", **WORDS, resume=False)
    assert contents_of(tmp_path / "spread") == whole


class Twice(LocalWorkers):
    """Workers of which each is lost when it has done its part, and before it could say so."""

    def run(self, function, common, each):
        for _ in super().run(function, common, each):
            pass
        yield from super().run(function, common, each)


def test_a_part_that_is_done_twice_is_written_once(tmp_path):
    whole = make_whole(tmp_path / "whole", **WORDS)
    with using_workers(Twice(2)):
        mc.runs.spread_features(tmp_path / "spread", images(), Pairs(), provenance={"made by": "us"}, **WORDS)
    assert contents_of(tmp_path / "spread") == whole


def test_a_store_that_is_there_is_refused_before_anything_is_done(tmp_path):
    spread(tmp_path / "a.store", **WORDS)
    with pytest.raises(StorageError, match=r"a\.store is there already"):
        spread(tmp_path / "a.store", **WORDS)
    assert not parts_folder(tmp_path / "a.store").exists()
    spread(tmp_path / "a.store", **WORDS, overwrite=True)


def test_there_must_be_workers(tmp_path):
    with pytest.raises(SettingsError, match=r"in a `with` block of manyclass\.cluster\.connect"):
        mc.runs.spread_features(tmp_path / "a", images(), Pairs())


def test_images_that_another_node_does_not_see_are_one_sentence(tmp_path, monkeypatch):
    from manyclass.runs.joining import spread_features

    sent = spread_features._sent
    monkeypatch.setattr(spread_features, "_sent", lambda part: _elsewhere(sent(part)))
    (tmp_path / "x.png").write_bytes(b"")
    with pytest.raises(StorageError, match=r"x\.png is not on this machine; put the images on storage that all"):
        spread(tmp_path / "a", [tmp_path / "x.png"])


def _elsewhere(part):
    part.encoding.images._entries[:] = [os.path.join("/nowhere", "x.png")]
    return part


def test_parts_of_a_command_that_still_runs_are_left_to_it(tmp_path):
    with holding_parts(parts_folder(tmp_path / "out")):
        for resume in (True, False):
            with pytest.raises(FolderBusyError, match=r"out\.parts is being written"):
                spread(tmp_path / "out", resume=resume)
