"""The file of a checkpoint: what goes in comes back, seldom written, never of another fit."""

from dataclasses import replace

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.sealed import SealedFormat
from manyclass.data.dense import DenseMatrix
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import checkpoint as module
from manyclass.solvers.sgd.checkpoint import Checkpoint, run_identity_of
from manyclass.solvers.sgd.descent import AveragedWeights, SgdRun
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest

IDENTITY = {"X": "a", "step": "0.1"}

OVR = OneVsRest(MARGIN_LOSSES["hinge"])


def machines(seed, k=3, d=4):
    rng = np.random.default_rng(seed)
    found = LinearWeights.of(rng.normal(size=(k, d)), rng.normal(size=k))
    found.scales[:], found.steps[:] = rng.random(k), rng.integers(0, 2**60, k)
    return found


def same(a, b):
    return all(array.tobytes() == b.arrays()[name].tobytes() for name, array in a.arrays().items())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


def under_way(path, best=True):
    checkpoint = Checkpoint(path)
    checkpoint.check(IDENTITY)
    run = checkpoint.run
    run.seed, run.step, run.beta, run.trained = 2**31 - 2, 0.1, 1 / 3, [{"epoch": 1, "loss": 0.1}]
    run.phase, run.n_epochs, run.n_iter = "refit", 7, 5
    weights = AveragedWeights(machines(1), machines(2), machines(3) if best else None)
    run.descent = SgdRun(weights, 5, 4, 0.7, 0.6, 1, True, history=[{"a": 1}])
    return checkpoint


@pytest.mark.parametrize("best", [True, False])
def test_a_run_comes_back_to_the_bit(path, best):
    written = under_way(path, best)
    written.write()
    run, expected = Checkpoint(path).run, written.run
    weights = run.descent_from(LinearWeights.zeros(3, 4), OVR, problem()).weights
    for role in ("machines", "mean", *(["best"] if best else [])):
        assert same(getattr(weights, role), getattr(expected.descent.weights, role))
    assert (weights.best is None) != best
    plain = ("epoch", "best_epoch", "best_score", "mark", "stale", "done", "history")
    assert [getattr(run.descent, n) for n in plain] == [getattr(expected.descent, n) for n in plain]
    plain = ("seed", "step", "beta", "n_iter", "phase", "trained", "n_epochs")
    assert [getattr(run, n) for n in plain] == [getattr(expected, n) for n in plain]


def test_without_a_path_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkpoint = under_way(None)
    checkpoint.write()
    checkpoint.remove()
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_when_the_last_time_is_long_enough_ago(path, monkeypatch):
    now, waits = [100.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    checkpoint = under_way(path)
    monkeypatch.setattr(SealedFormat, "write", lambda *_: now.__setitem__(0, now[0] + 1) or waits.append(now[0]))
    for _ in range(100):
        checkpoint.write(only_if_due=True)
        now[0] += 1
    # A write takes a second, so that twenty pass until the next.
    assert waits == [101.0, 122.0, 143.0, 164.0, 185.0]


@pytest.mark.parametrize("changed", [{"X": "b"}, {"step": "0.2"}, {"X": "b", "step": "0.2"}])
def test_the_checkpoint_of_another_fit_is_refused_and_kept(path, changed):
    under_way(path).write()
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another fit, which differs in {', '.join(changed)}; ") as caught:
        Checkpoint(path).check({**IDENTITY, **changed})
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused_and_kept(path):
    under_way(path).write()
    whole = path.read_bytes()
    for bit in np.random.default_rng(0).integers(8 * len(whole), size=100).tolist():
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"fit\.checkpoint is .*; remove the file to begin anew"):
            Checkpoint(path)
        assert path.read_bytes() == broken


@pytest.mark.parametrize("content", [{}, {"run": {"pace": 3}, "identity": {}}, {"run": {"descent": {}}}, 3])
def test_a_sealed_file_that_is_no_run_is_one_sentence(path, content):
    module.FORMAT.write(path, content, {})
    with pytest.raises(ValueError, match=r"cannot be read as a manyclass checkpoint: .*; remove the file"):
        Checkpoint(path)


def test_a_folder_that_is_missing_is_told_at_once(tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint must lie in a folder that exists; got .*nowhere"):
        Checkpoint(tmp_path / "nowhere" / "c")


def test_a_disk_that_refuses_is_one_sentence_with_the_path(path, monkeypatch):
    monkeypatch.setattr("os.pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ValueError, match=r"disk full: .*fit\.checkpoint could not be written"):
        under_way(path).write()


def test_removing_leaves_nothing(path, tmp_path):
    checkpoint = under_way(path)
    checkpoint.write()
    (tmp_path / "fit.checkpoint.tmp").write_bytes(b"half")
    checkpoint.remove()
    checkpoint.remove()
    assert list(tmp_path.iterdir()) == []


def problem(X=None, y=None, k=4, weights=None):
    rows = np.arange(24, dtype=np.float32).reshape(8, 3) if X is None else X
    return Problem.whole(DenseMatrix(rows), np.arange(8) % 4 if y is None else y, k, weights)


OTHER = {
    "X": (problem(X=np.ones((8, 3), np.float32)), None, 0, {}),
    "y": (problem(y=np.arange(8) % 3), None, 0, {}),
    "weights": (problem(weights=np.arange(8)), None, 0, {}),
    "validation": (problem(), problem(), 0, {}),
    "the machines it starts from": (problem(), None, 1, {}),
    "step": (problem(), None, 0, {"step": 0.2}),
}


@pytest.mark.parametrize("name", OTHER)
def test_each_difference_between_two_fits_is_called_by_its_name(name):
    def of(problem, judged, seed, settings):
        return run_identity_of(problem, judged, machines(seed), {"step": 0.1, "names": list(range(99)), **settings})

    ours, others = of(problem(), None, 0, {}), of(*OTHER[name])
    assert [key for key in ours if ours[key] != others[key]] == [name]


def _replace(key, value, *inside):
    def change(content, arrays):
        place = content
        for name in inside:
            place = place[name]
        place[key] = value

    return change


def _array(name, make):
    def change(content, arrays):
        arrays[name] = make(arrays[name])

    return change


CRAFTED = {
    "no run": _replace("run", None),
    "a list": _replace("run", [1]),
    "identity": _replace("identity", "abc"),
    "phase": _replace("phase", "sleep", "run"),
    "step": _replace("step", "far", "run"),
    "no step": _replace("step", None, "run"),
    "seed": _replace("seed", -1, "run"),
    "unknown": _replace("spell", 3, "run"),
    "trained": _replace("trained", [3], "run"),
    "epoch": _replace("epoch", 2**70, "run", "descent"),
    "negative epoch": _replace("epoch", -1, "run", "descent"),
    "history": _replace("history", {"a": 1}, "run", "descent"),
    "score": _replace("best_score", None, "run", "descent"),
    "descent": _replace("descent", 3, "run"),
    "shape": _array("machines.W", lambda W: W[:, :-1].copy()),
    "dtype": _array("mean.W", lambda W: W.astype(np.float64)),
    "classes": _array("machines.steps", lambda s: s[:1]),
    "vector": _array("machines.biases", lambda b: b[:, None]),
    "not finite": _array("machines.W", lambda W: W * np.nan),
}


@pytest.mark.parametrize("change", CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_checkpoint_with_a_good_seal_is_refused_in_one_sentence(path, change, monkeypatch):
    class Killed(BaseException):
        pass

    def kill(record):
        if record["epoch"] == 2:
            raise Killed

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)).astype(np.float32), np.arange(60) % 3
    settings = {"max_epochs": 4, "step": 0.1, "beta": 1, "random_state": 0, "checkpoint": path}
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    monkeypatch.setattr(module, "_TIMES", 0.0)
    with pytest.raises(Killed):
        mc.StochasticClassifier(**settings, callbacks=[kill]).fit(X, y)
    content, arrays = module.FORMAT.read(path)
    change(content, arrays)
    module.FORMAT.write(path, content, arrays)
    with pytest.raises(ValueError, match=r"fit\.checkpoint.* remove the file to begin anew$") as refused:
        mc.StochasticClassifier(**settings).fit(X, y)
    assert "\n" not in str(refused.value)


def test_a_checkpoint_of_version_2_which_knows_no_parts_is_gone_on_with(path):
    written = under_way(path)
    written.write()
    content, arrays = module.FORMAT.read(path)
    del content["weights"]
    replace(module.FORMAT, version=2).write(path, content, arrays)
    weights = Checkpoint(path).run.descent_from(LinearWeights.zeros(3, 4), OVR, problem()).weights
    assert same(weights.mean, written.run.descent.weights.mean)


def test_machines_of_a_part_of_the_classes_come_back_as_such(path):
    under_way(path).write()
    weights = Checkpoint(path).run.descent_from(LinearWeights.zeros(3, 4, first=128), OVR, problem()).weights
    assert [one.first for one in (weights.machines, weights.mean, weights.best)] == [128] * 3


def test_what_was_said_of_held_out_examples_is_kept_and_odd_vectors_are_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    kept = Checkpoint(path)
    kept.check({"X": "a"})
    kept.run.held_out = {"losses": np.float32([1, 2]), "classes": np.int32([0, 1])}
    kept.write()
    found = Checkpoint(path).run.held_out
    assert {name: values.tolist() for name, values in found.items()} == {"losses": [1, 2], "classes": [0, 1]}
    kept.run.held_out["classes"] = np.int32([0])
    kept.write()
    with pytest.raises(ValueError, match="must be vectors of one length"):
        Checkpoint(path)
