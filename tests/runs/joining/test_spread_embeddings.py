"""Galleries whose rows workers have encoded have the bytes of those of one process, whatever was lost on the way."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import FolderBusyError
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.data.dense import DenseMatrix
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.runs.galleries import gallery_builder
from manyclass.runs.joining.spread_embeddings import write_part
from manyclass.runs.joining.worker_parts import holding_parts, parts_folder
from tests.cli.gallery_data import labeled, world, write_store
from tests.features.extraction.written import contents_of
from tests.runs.joining.test_join_galleries import METHODS


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Blocks of few rows, so that small data has parts."""
    monkeypatch.setattr(gallery_builder, "ROWS_AT_ONCE", 16)


@pytest.fixture
def store(tmp_path):
    np.save(tmp_path / "world.npy", world())
    return write_store(tmp_path / "x.store", split=["train", "test"] * 48).path


def build(store, name, workers=None, **given):
    out = store.parent / name
    negatives = store.parent / "world.npy"
    with using_workers(workers):
        mc.runs.build_gallery(store, out, **{"negatives": negatives, **given}, warn=str)
    assert not parts_folder(out).exists()
    return contents_of(out)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("given", METHODS.values(), ids=METHODS)
def test_workers_make_the_gallery_of_one_process(store, given, n):
    assert build(store, "spread", LocalWorkers(n), **given) == build(store, "whole", **given)


def test_rows_that_are_known_by_numbers_keep_them(store):
    np.save(store.parent / "x.npy", labeled()[0])
    data = store.parent / "x.npy"
    assert build(data, "spread", LocalWorkers(3)) == build(data, "whole")


def test_a_part_of_the_rows_can_be_made_by_workers_too(store):
    assert build(store, "spread", LocalWorkers(2), shard="2/3") == build(store, "whole", shard="2/3")


class Once(LocalWorkers):
    """Workers that are gone after one part."""

    def run(self, function, common, each):
        yield from super().run(function, common, each[:1])
        raise OSError("the disk is gone")


def test_parts_of_another_part_of_the_rows_are_made_again(store):
    with pytest.raises(OSError, match="the disk is gone"):
        build(store, "spread", Once(1), shard="1/2")
    assert build(store, "spread", LocalWorkers(1), shard="2/2") == build(store, "whole", shard="2/2")


class Leave(LocalWorkers):
    """Workers that are gone after some parts, and in the middle of one."""

    def run(self, function, common, each):
        yield from super().run(function, common, each[:2])
        encoder, at_once = common
        place, record, X = each[3]  # of two blocks
        with pytest.raises(ZeroDivisionError):
            write_part(Fails(encoder), at_once, place, record, X)
        raise OSError("the disk is gone")


class Fails:
    """An encoder that fails at its second call."""

    def __init__(self, encoder):
        self._encoder, self.calls = encoder, 0
        self.n_features_out_, self.similarity = encoder.n_features_out_, encoder.similarity

    def transform(self, X):
        self.calls += 1
        return self._encoder.transform(X) if self.calls < 2 else 1 / 0


class Counts(LocalWorkers):
    """Workers that count their parts."""

    def run(self, function, common, each):
        self.parts = len(each)
        return super().run(function, common, each)


def leave(store, **given):
    with pytest.raises(OSError, match="the disk is gone"):
        build(store, "spread", Leave(1), **given)


def test_the_same_call_goes_on_after_an_error_with_any_number_of_workers(store):
    leave(store)
    workers, told = Counts(5), []
    spread = build(store, "spread", workers, progress=lambda *words: _Reports(told))
    assert workers.parts == 2
    assert told[0][0] > 0
    assert told[-1] == (96, 96)
    assert spread == build(store, "whole")


class _Reports:
    def __init__(self, told):
        self._told = told

    def __enter__(self):
        return lambda *amount: self._told.append(amount)

    def __exit__(self, *error):
        pass


def test_parts_of_other_rows_or_settings_are_made_again(store):
    leave(store, method="lda")
    workers = Counts(1)
    spread = build(store, "spread", workers, method="whitening")
    assert workers.parts == 4
    assert spread == build(store, "whole", method="whitening")


def test_a_part_that_is_done_is_not_written_again(tmp_path):
    X, encoder = DenseMatrix(np.ones((3, 2), np.float32)), CosineEncoder(2)
    record = {"number": 1, "count": 1, "first": 0, "stop": 3, "total": 3, "whole": {}}
    write_part(encoder, 16, tmp_path / "1of1.store", record, X)
    nobody = Fails(encoder)
    assert write_part(nobody, 16, tmp_path / "1of1.store", record, X) == 3
    assert nobody.calls == 0


def test_parts_of_a_command_that_still_runs_are_left_to_it(store):
    with holding_parts(parts_folder(store.parent / "out")), pytest.raises(FolderBusyError, match="is being written"):
        build(store, "out", LocalWorkers(2))
