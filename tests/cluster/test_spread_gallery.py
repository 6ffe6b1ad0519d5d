"""A gallery that actors search."""

import numpy as np
import pytest
from cluster.killing import killing

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass._core.worker_groups import LocalWorkers, using_workers
from tests.features.extraction.written import contents_of
from tests.retrieval.test_spread_index import Q, X, assert_same, gallery


def test_actors_find_what_one_process_finds_also_after_one_was_killed(workers, monkeypatch):
    one = gallery()
    expected = one.search(Q, 20)
    with mc.cluster.spread(one):
        assert_same(one.search(Q, 20), expected)
        one.add(X[:300] + 3)
        more = one.search(Q, 20)
        with killing(workers, monkeypatch, 0) as killer:
            assert_same(one.search(Q, 20), more)
        assert killer.replaced


def test_rows_that_tasks_encode_make_the_gallery_of_one_process(workers, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mc.runs.build_gallery(tmp_path / "rows.npy", tmp_path / "spread", method="slem", warn=str)
    with using_workers(None):
        mc.runs.build_gallery(tmp_path / "rows.npy", tmp_path / "whole", method="slem", warn=str)
    assert contents_of(tmp_path / "spread") == contents_of(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.npy", "spread", "whole"]


def test_there_must_be_workers():
    with pytest.raises(SettingsError, match=r"in a `with` block of manyclass\.cluster"), mc.cluster.spread(gallery(10)):
        pass


def test_an_empty_gallery_is_refused():
    empty = pytest.raises(ValueError, match="this one is empty")
    with using_workers(LocalWorkers(2)), empty, mc.cluster.spread(mc.Gallery()):
        pass


def test_the_gallery_is_as_before_after_an_error():
    one = gallery(100)
    with using_workers(LocalWorkers(2)), pytest.raises(KeyError), mc.cluster.spread(one):
        raise KeyError
    assert np.isfinite(one.search(Q).scores).all()
