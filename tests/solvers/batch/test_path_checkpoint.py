"""Points of a path in files."""

import numpy as np
import pytest
from estimators.problems import blobs

import manyclass as mc
from manyclass.solvers.batch.path import FORMAT, PathCheckpoint
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights
from manyclass.solvers.batch.solution import Solution, Status

X, Y = blobs(k=6, d=10, spread=0.8)
SMALL = {"traces": 4, "ridges": 3, "random_state": 0}
POINTS = {
    "product": LowRankWeights(np.ones((3, 2), np.float32), np.ones((4, 2), np.float32), np.arange(4.0)),
    "whole": DenseWeights(np.ones((3, 4)), np.arange(4.0)),
    "zero": LowRankWeights(np.ones((3, 0), np.float32), np.ones((4, 0), np.float32), np.arange(4.0)),
}


class Killed(BaseException):
    """In place of a kill."""


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


def fit_until(folder, number, **settings):
    """A path that ends after so many pairs as if killed."""

    def kill(row):
        if row["point"] == number:
            raise Killed

    with pytest.raises(Killed):
        mc.TraceNormPath(**{**SMALL, **settings}, checkpoint=folder, callbacks=[kill]).fit(X, Y)


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_a_solution_comes_back_as_it_was(tmp_path, point):
    kept = PathCheckpoint(tmp_path / "path", {"a": "b"})
    kept.save(3, Solution(point, 1.5, np.inf, 0.1, Status.OPTIMAL, 0.5, 2.0, 7, [{"iteration": 0, "gap": np.inf}]))
    found = kept.load(3)
    assert (found.objective, found.gap, found.history) == (1.5, np.inf, [{"iteration": 0, "gap": np.inf}])
    for name, array in vars(point).items():
        np.testing.assert_array_equal(vars(found.point)[name], array)
        assert vars(found.point)[name].dtype == array.dtype
    assert kept.load(2) is None


@pytest.mark.parametrize("status", [status for status in Status if status.is_unfinished])
def test_a_pair_that_was_cut_short_is_solved_again(tmp_path, status):
    kept = PathCheckpoint(tmp_path / "path", {})
    kept.save(0, Solution(POINTS["whole"], 1.5, 0.1, 0.1, status, 0.5, 2.0, 7))
    assert kept.load(0) is None


@pytest.mark.parametrize("solver", ["auto", "fista"])
@pytest.mark.parametrize("number", [1, 5, 12])
def test_a_path_that_was_killed_goes_on_to_the_same_bits(tmp_path, solver, number):
    settings = {**SMALL, "solver": solver, "max_iter": 300, "tolerance": 1e-3}
    fit_until(tmp_path / "path", number, **settings)
    assert len(list((tmp_path / "path").iterdir())) == number
    whole = mc.TraceNormPath(**settings).fit(X, Y)
    resumed = mc.TraceNormPath(**settings, checkpoint=tmp_path / "path").fit(X, Y)
    assert bits(resumed) == bits(whole)
    assert [row["objective"] for row in resumed.table_] == [row["objective"] for row in whole.table_]
    assert not (tmp_path / "path").exists()


def test_pairs_that_are_known_are_not_solved_again(tmp_path, monkeypatch):
    from manyclass.estimators.trace import trace_path

    fit_until(tmp_path / "path", 12)
    solved, solve = [], trace_path.solve
    monkeypatch.setattr(trace_path, "solve", lambda *args, **kwargs: solved.append(1) or solve(*args, **kwargs))
    mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "path").fit(X, Y)
    assert len(solved) == 1  # the refit


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"tolerance": 1e-3}, "tolerance"), ({"ridges": 2}, "ridges"), ({"random_state": 1}, "valid")],
)
def test_the_path_of_other_settings_is_refused_and_left_alone(tmp_path, settings, words):
    fit_until(tmp_path / "path", 2)
    with pytest.raises(ValueError, match=f"belongs to another fit, which differs in .*{words}"):
        mc.TraceNormPath(**{**SMALL, **settings}, checkpoint=tmp_path / "path").fit(X, Y)
    assert len(list((tmp_path / "path").iterdir())) == 2


def test_other_labels_are_refused(tmp_path):
    fit_until(tmp_path / "path", 2)
    with pytest.raises(ValueError, match="differs in"):
        mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "path").fit(X, np.roll(Y, 1))


def test_an_interrupted_path_keeps_its_points(tmp_path):
    from sklearn.exceptions import ConvergenceWarning

    def interrupt(row):
        if row["point"] == 5:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted after 5"):
        mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "path", callbacks=[interrupt]).fit(X, Y)
    assert len(list((tmp_path / "path").iterdir())) == 5


def test_a_seed_that_is_drawn_cannot_be_gone_on_with(tmp_path):
    with pytest.raises(ValueError, match="checkpoint needs an integer random_state; got None"):
        mc.TraceNormPath(traces=2, ridges=1, checkpoint=tmp_path / "path").fit(X, Y)


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="must lie in a folder that exists"):
        mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "no" / "path").fit(X, Y)


def test_a_damaged_point_is_refused(tmp_path):
    fit_until(tmp_path / "path", 1)
    file = tmp_path / "path" / "point-00000"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is damaged"):
        mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "path").fit(X, Y)


def test_points_lie_in_memory_as_a_file_gives_them_back(monkeypatch):
    """Products of arrays in another order may differ in their last bits."""
    seen = []
    monkeypatch.setattr(PathCheckpoint, "save", lambda self, number, found: seen.append(found.point))
    turned = DenseWeights(np.asfortranarray(np.ones((10, 6), np.float32)), np.zeros(6))
    solved = Solution(turned, 1.0, 0.0, 0.0, "optimal", 0.1, 1.0, 1)
    monkeypatch.setattr("manyclass.solvers.batch.solve.solve", lambda *args, **kwargs: solved)
    mc.TraceNormPath(**SMALL).fit(X, Y)
    assert len(seen) == 12
    assert all(array.flags.c_contiguous for point in seen for array in vars(point).values())


CRAFTED = {
    "identity": lambda content, arrays: content.update(identity="abc"),
    "no facts": lambda content, arrays: content.update(facts=None),
    "a list": lambda content, arrays: content.update(facts=[1]),
    "objective": lambda content, arrays: content["facts"]["dict"].__setitem__(0, ["objective", "low"]),
    "history": lambda content, arrays: content["facts"]["dict"].__setitem__(-1, ["history", [3]]),
    "point": lambda content, arrays: content.update(point=["c"]),
    "shape": lambda content, arrays: arrays.update({name: array[:-1] for name, array in arrays.items()}),
    "intercepts": lambda content, arrays: arrays.update(b=arrays["b"][:, None]),
    "not finite": lambda content, arrays: arrays.update(b=arrays["b"] * np.nan),
    "whole numbers": lambda content, arrays: arrays.update(b=arrays["b"].astype(np.int64)),
}


@pytest.mark.parametrize("change", CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_point_with_a_good_seal_is_refused_in_one_sentence(tmp_path, change):
    fit_until(tmp_path / "path", 2)
    file = tmp_path / "path" / "point-00000"
    content, arrays = FORMAT.read(file)
    change(content, arrays)
    FORMAT.write(file, content, arrays)
    with pytest.raises(
        ValueError, match=r"point-00000 cannot be read as .*; remove its folder to begin anew$"
    ) as refused:
        mc.TraceNormPath(**SMALL, checkpoint=tmp_path / "path").fit(X, Y)
    assert "\n" not in str(refused.value)
