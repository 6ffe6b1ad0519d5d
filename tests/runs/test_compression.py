"""Fitting on some rows and measuring on others."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.compression import fit_on_sample, relative_error
from manyclass.runs.sources import retrieval_file


class Recorder(mc.ScalarQuantizer):
    """Remembers the rows that it was fitted on."""

    def fit(self, X, y=None):
        self.seen = mc.as_matrix(X).toarray()
        return super().fit(X, y)


X = np.arange(400, dtype=np.float32).reshape(100, 4)


@pytest.mark.parametrize("n_sample", [1, 30, 90, 500])
def test_rows_that_measure_are_not_rows_that_fit(n_sample):
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X), n_sample, seed=0)
    assert len(fitted.quantizer.seen) == fitted.fit_rows == min(n_sample, 90)
    assert (fitted.error_rows, fitted.held_out) == (10, True)


def test_without_a_sample_all_rows_fit_and_none_is_called_held_out():
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X), None, seed=0)
    assert np.array_equal(fitted.quantizer.seen, X)
    assert not fitted.held_out


def test_one_row_is_enough():
    fitted = fit_on_sample(Recorder(), mc.DenseMatrix(X[1:2]), 10, seed=0)
    assert (fitted.fit_rows, fitted.error_rows, fitted.held_out) == (1, 1, False)


def test_the_sample_depends_on_the_seed_alone():
    a, b, c = (fit_on_sample(Recorder(), mc.DenseMatrix(X), 20, seed).quantizer.seen for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_a_bad_number_in_the_sample_is_named_by_its_row_in_the_source():
    bad = X.copy()
    bad[57, 2] = np.inf
    with pytest.raises(ValueError, match="the source must hold finite numbers within float32; row 57 has NaN"):
        fit_on_sample(Recorder(), mc.DenseMatrix(bad), 100, seed=0)


def test_the_relative_error_is_a_ratio_of_lengths():
    quantizer = mc.ScalarQuantizer(bits=8).fit(X)
    decoded = quantizer.encode(X).toarray()
    expected = np.linalg.norm(X - decoded) / np.linalg.norm(X)
    assert relative_error(quantizer, X) == pytest.approx(expected, rel=1e-5)
    assert relative_error(quantizer, 0 * X) == 0


def test_a_store_is_written_with_what_goes_with_the_rows(tmp_path, capsys, watched):
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(100) % 5)
    result = mc.runs.compress(
        str(tmp_path / "x.npz"), str(tmp_path / "x.store"), kind="scalar", bits=4, test_fraction=0.2, progress=watched
    )
    store = mc.open_store(tmp_path / "x.store")
    assert store.quantizer.bits == 4
    assert np.array_equal(store.y, np.arange(100) % 5)
    assert np.count_nonzero(np.asarray(store.split) == "test") == 20
    assert (result["rows"], result["dimensions"], result["resumed_after"]) == (100, 4, 0)
    assert watched.seen == [("compressing", "rows", 100, 100)]
    assert capsys.readouterr() == ("", "")


def test_what_is_being_done_is_told_in_a_sentence(tmp_path):
    np.save(tmp_path / "x.npy", X)
    said = []
    mc.runs.compress(tmp_path / "x.npy", tmp_path / "x.store", block=2, n_centroids=4, sample=50, notify=said.append)
    assert said == ["learning from 50 of 100 rows of 4"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"block": 5}, "`block` must be at most 4, the columns of .*; got 5"),
        ({"kind": "none"}, "kind must be one of product, scalar; got 'none'"),
        ({"kind": "scalar", "bits": 3}, "bits must be 4 or 8; got 3"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path, settings, words):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match=words):
        mc.runs.compress(tmp_path / "x.npy", tmp_path / "x.store", **settings)
    assert not (tmp_path / "x.store").exists()


@pytest.mark.parametrize("settings", [{"block": 0}, {"sample": 0}, {"seed": -1}, {"sample": 2.5}])
def test_numbers_that_are_none_of_the_allowed_ones_are_refused(tmp_path, settings):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be a whole number"):
        mc.runs.compress(tmp_path / "x.npy", tmp_path / "x.store", **settings)
    assert not (tmp_path / "x.store").exists()


def test_a_tilde_is_the_home_folder_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(120) % 6
    np.savez(tmp_path / "x.npz", X=(rng.normal(size=(6, 8))[y] + rng.normal(size=(120, 8))).astype(np.float32), y=y)
    mc.runs.compress("~/x.npz", "~/x.store", kind="scalar")
    mc.runs.build_gallery("~/x.npz", "~/g", method="none", evaluate=True)
    mc.runs.update_gallery("~/g", remove=[3])
    mc.runs.compare_encoders("~/x.npz", "none")
    run = mc.runs.train("~/x.npz", "~/run", test_fraction=0.25, max_epochs=2)
    mc.runs.evaluate("~/run", "~/x.npz")
    assert run.path == tmp_path / "run"
    assert retrieval_file(tmp_path / "g").exists()
    assert not (tmp_path / "~").exists()
