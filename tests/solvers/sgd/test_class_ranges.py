"""One-vs-rest by workers, a range of the classes each: the bits of one process, whoever is lost on the way."""

import gc
import itertools
import warnings
import weakref

import numpy as np
import pytest
from solvers.sgd.forgetful import ForgetfulWorkers

import manyclass as mc
from manyclass._core.shards import Shard
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.solvers.sgd import checkpoint as checkpoint_module
from manyclass.solvers.sgd import class_ranges, tuning
from manyclass.solvers.sgd.class_ranges import ClassRange
from manyclass.solvers.sgd.linear_weights import LinearWeights

K = 300  # two panels and a half


def data(k=K, d=12, per_class=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(k), per_class))
    return (rng.normal(size=(k, d))[y] + 0.4 * rng.normal(size=(len(y), d))).astype(np.float32), y


X, Y = data()

USUAL = {"objective": "ovr", "step": 0.05, "beta": 20.0, "max_epochs": 4, "random_state": 0}

TIMES = ("seconds", "judging_seconds")


def bits(model):
    """All that a fit has learned, but for times."""
    history = [{key: value for key, value in record.items() if key not in TIMES} for record in model.history_]
    arrays = [model.coef_.tobytes(), model.intercept_.tobytes(), model.steps_.tobytes()]
    found = model.step_, model.beta_, model.n_epochs_, model.n_iter_, getattr(model, "temperature_", None)
    return arrays, history, found


def fit(workers=None, X=X, y=Y, validation=None, sample_weight=None, **settings):
    with using_workers(workers):
        model = mc.StochasticClassifier(**{**USUAL, **settings})
        return model.fit(X, y, validation=validation, sample_weight=sample_weight)


SETTINGS = {
    "usual": {},
    "all negatives": {"beta": None},
    "few negatives": {"beta": 1.0},
    "logistic": {"loss": "logistic"},
    "regularization": {"regularization": 0.3, "step_decay": True},
    "scales that vanish": {"regularization": 0.9, "step": 0.9, "beta": None},
    "balanced": {"sampling": "balanced"},
    "class weights": {"class_weight": "balanced"},
    "sample weights": {"sample_weight": np.random.default_rng(1).integers(0, 3, len(Y))},
    "no stopping": {"early_stopping": False},
    "watched": {"early_stopping": False, "validation": (X[:99], Y[:99])},
    "validation": {"validation": (X[:99], Y[:99])},
    "no refit": {"refit": False},
    "few epochs without gain": {"patience": 1, "tolerance": 1.0},
    "tuned": {"step": "auto", "beta": "auto"},
    "best kept, as a callback may end the fit": {"callbacks": [lambda record: None]},
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_workers_find_the_machines_of_one_process_to_the_bit(settings, count):
    assert bits(fit(LocalWorkers(count), **settings)) == bits(fit(**settings))


@pytest.mark.parametrize("k", [5, 128, 129, 256])
@pytest.mark.parametrize("count", [2, 5])
def test_any_number_of_classes_is_divided_among_any_number_of_workers(k, count):
    examples = dict(zip(("X", "y"), data(k), strict=True))
    assert bits(fit(LocalWorkers(count), **examples)) == bits(fit(**examples))


def test_rows_travel_once_to_all_descents_of_a_fit():
    workers = ForgetfulWorkers(2)
    model = fit(workers)
    assert {record["examples"] for record in model.history_} == {900, 1200}  # some are held out, and then a refit
    assert len(workers.shared) == 1


def test_rows_to_judge_by_that_are_others_travel_too():
    workers = ForgetfulWorkers(2)
    fit(workers, validation=(X[:99], Y[:99]))
    assert len(workers.shared) == 2


def test_codes_are_divided_like_numbers():
    codes = mc.ProductQuantizer(3).fit(X).encode(X)
    assert bits(fit(ForgetfulWorkers(2), X=codes)) == bits(fit(X=codes))


@pytest.mark.parametrize("surpassed", [False, True])
def test_a_start_near_the_end_goes_on_with_workers(monkeypatch, surpassed):
    monkeypatch.setattr(tuning, "_LEAST_WORK", 1)
    rows, y = data(k=150, d=100, per_class=8)
    rows /= 10
    if surpassed:
        of = tuning.LeastSquaresStart._with_margins

        def short(start, W, b):  # machines of half of the classes are a tenth of what they should be
            machines = of(start, W, b)
            machines.W[::2] /= 10
            return machines

        monkeypatch.setattr(tuning.LeastSquaresStart, "_with_margins", short)
        monkeypatch.setattr(tuning.LeastSquaresStart, "_means_are_better", lambda *_: False)
    settings = {"step": "auto", "beta": "auto", "objective": "auto", "max_epochs": 12, "X": rows, "y": y}
    whole = fit(**settings)
    assert whole.n_iter_ > 0
    assert (whole.n_epochs_ > 1) == surpassed
    assert bits(fit(ForgetfulWorkers(2, rate=0.1), **settings)) == bits(whole)


def test_rows_that_are_few_for_their_columns_are_seen_by_their_coordinates():
    wide, y = data(k=150, d=4000, per_class=2)
    assert bits(fit(ForgetfulWorkers(2), X=wide, y=y)) == bits(fit(X=wide, y=y))


def test_columns_that_are_standardized_are_so_for_workers(monkeypatch):
    monkeypatch.setattr(tuning, "_CANDIDATES", (("ovr", "squared_hinge", -np.inf),))
    table, y = data(k=140, d=5, per_class=20)
    settings = {"objective": "auto", "step": "auto", "beta": "auto", "X": table * 10.0 ** np.arange(-2, 3), "y": y}
    whole = fit(**settings)
    assert whole.trained_ == ("ovr", "squared_hinge")
    assert bits(fit(ForgetfulWorkers(2), **settings)) == bits(whole)


def test_a_warm_start_begins_with_the_machines_that_there_are():
    def warm(workers):
        model = fit().set_params(warm_start=True, random_state=1)
        with using_workers(workers):
            return model.fit(X, Y)

    assert bits(warm(ForgetfulWorkers(2, rate=0.1))) == bits(warm(None))


def test_a_part_of_the_classes_is_divided_too():
    def part(workers):
        model = mc.StochasticClassifier(**USUAL, early_stopping=False)
        model.shard = Shard(2, 2)
        with using_workers(workers):
            return model.fit(*data(k=600))

    assert len(part(None).classes_) < 600
    assert bits(part(ForgetfulWorkers(2))) == bits(part(None))


@pytest.mark.parametrize("seed", range(8))
def test_who_is_lost_sees_again_what_it_had_seen(seed):
    workers = ForgetfulWorkers(3, rate=0.2, seed=seed)
    assert bits(fit(workers)) == bits(fit())
    assert workers.lost


@pytest.mark.parametrize("sees_files", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_who_is_lost_goes_on_from_what_was_saved(tmp_path, monkeypatch, seed, sees_files):
    at_every_epoch(monkeypatch)
    workers = ForgetfulWorkers(2, rate=0.2, seed=seed, sees_files=sees_files)
    assert bits(fit(workers, checkpoint=tmp_path / "c")) == bits(fit())
    assert workers.lost
    assert list(tmp_path.iterdir()) == []


def test_who_goes_on_from_a_file_forgets_the_machines_that_it_was_to_begin_with(tmp_path):
    """They are as large as the weights."""
    start = LinearWeights.zeros(4, 3)
    ClassRange([], 3, range(4), None).save(tmp_path / "saved")
    part = ClassRange([], 3, range(4), start)
    held = weakref.ref(start)
    del start
    assert part.restore(tmp_path / "saved")
    gc.collect()
    assert held() is None


def test_weights_are_gathered_in_pieces(monkeypatch):
    monkeypatch.setattr(class_ranges, "_PIECE", 4 * 12 * 50)  # fifty classes
    assert bits(fit(LocalWorkers(2), refit=False)) == bits(fit(refit=False))


def at_every_epoch(monkeypatch):
    monkeypatch.setattr(checkpoint_module, "_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_module, "_TIMES", 0.0)


class Killed(BaseException):
    pass


def kill_at(epoch):
    seen = itertools.count(1)

    def callback(record):
        if next(seen) == epoch:
            raise Killed

    return callback


CROWDS = {"none": lambda: None, "two": lambda: ForgetfulWorkers(2), "three": lambda: ForgetfulWorkers(3)}


@pytest.mark.parametrize("epoch", [1, 3, 5, 7])
@pytest.mark.parametrize(("before", "after"), [(b, a) for b in CROWDS for a in CROWDS if (b, a) != ("none", "none")])
def test_a_fit_that_was_killed_goes_on_with_any_number_of_workers(tmp_path, monkeypatch, before, after, epoch):
    at_every_epoch(monkeypatch)
    ends = [lambda record: None]  # may end the fit, so that the best are kept
    path = tmp_path / "c"
    with pytest.raises(Killed):
        fit(CROWDS[before](), checkpoint=path, callbacks=[kill_at(epoch)])
    seen = []
    again = fit(CROWDS[after](), checkpoint=path, callbacks=[seen.append])
    whole = fit(callbacks=ends)
    assert bits(again) == bits(whole)
    assert len(seen) == len(whole.history_) - (epoch - 1)
    assert list(tmp_path.iterdir()) == []


def test_killed_twice_with_workers_that_are_lost_it_still_ends_the_same(tmp_path, monkeypatch):
    at_every_epoch(monkeypatch)
    for seed, epoch in enumerate([3, 2]):
        workers = ForgetfulWorkers(3 - seed, rate=0.2, seed=seed)
        with pytest.raises(Killed):
            fit(workers, checkpoint=tmp_path / "c", callbacks=[kill_at(epoch)])
    whole = fit(callbacks=[lambda record: None])
    assert bits(fit(ForgetfulWorkers(2, rate=0.2, seed=9), checkpoint=tmp_path / "c")) == bits(whole)


def killed(tmp_path, monkeypatch, workers=2):
    """The folder of a fit that was killed, with its parts."""
    at_every_epoch(monkeypatch)
    with pytest.raises(Killed):
        fit(LocalWorkers(workers), checkpoint=tmp_path / "c", callbacks=[kill_at(3)])
    return sorted(tmp_path.iterdir())


def test_only_the_parts_that_a_checkpoint_names_are_kept(tmp_path, monkeypatch):
    names = [file.name for file in killed(tmp_path, monkeypatch)]
    assert names == ["c", "c.part-train-2-0-128", "c.part-train-2-128-300"]


@pytest.mark.parametrize("workers", [None, LocalWorkers(2), LocalWorkers(3)])
def test_a_part_that_is_missing_damaged_or_another_is_one_sentence(tmp_path, monkeypatch, workers):
    _, first, second = killed(tmp_path, monkeypatch)
    good = first.read_bytes()
    first.unlink()
    with pytest.raises(ValueError, match=r"^[^\n]*0-128 is missing, .* to begin anew$"):
        fit(workers, checkpoint=tmp_path / "c")
    broken = bytearray(good)
    broken[-9] ^= 4
    first.write_bytes(broken)
    with pytest.raises(ValueError, match=r"^[^\n]*0-128 is damaged: .* to begin anew$"):
        fit(workers, checkpoint=tmp_path / "c")
    first.write_bytes(second.read_bytes())
    with pytest.raises(ValueError, match=r"^[^\n]*0-128 is not the part that its checkpoint names; .* begin anew$"):
        fit(workers, checkpoint=tmp_path / "c")
    first.write_bytes(good)
    assert bits(fit(workers, checkpoint=tmp_path / "c")) == bits(fit(callbacks=[lambda record: None]))


def test_the_error_of_a_step_that_is_too_large_is_that_of_one_process():
    sentences = []
    for workers in (None, LocalWorkers(2)):
        with pytest.raises(FloatingPointError) as caught:
            fit(workers, step=1e6, loss="squared", early_stopping=False, max_epochs=40)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]


@pytest.mark.parametrize("objective", ["multiclass", "ranking", "warp", "softmax"])
def test_classes_that_compete_are_trained_here_and_that_is_told_once(objective):
    whole = fit(objective=objective)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = fit(ForgetfulWorkers(2), objective=objective)
    assert [str(one.message) for one in told] == [
        "a classifier whose classes compete is computed by this process alone, without workers: objective='ovr' is "
        "divided among them"
    ]
    assert bits(found) == bits(whole)


def test_workers_are_let_go_when_there_is_nothing_to_resume_from(tmp_path, monkeypatch):
    killed(tmp_path, monkeypatch)[1].unlink()
    workers = ForgetfulWorkers(2)
    with pytest.raises(ValueError, match="is missing"):
        fit(workers, checkpoint=tmp_path / "c")
    assert workers.open == 0


@pytest.mark.parametrize("fails", [False, True])
def test_workers_are_let_go_when_a_fit_ends_whichever_way(fails):
    workers = ForgetfulWorkers(2)
    if fails:
        with pytest.raises(Killed):
            fit(workers, callbacks=[kill_at(6)])
    else:
        fit(workers)
    assert workers.open == 0


def test_weights_travel_at_the_end_alone():
    workers = ForgetfulWorkers(2)
    fit(workers, early_stopping=False, validation=(X[:99], Y[:99]), max_epochs=3)
    large = [method for method, size in workers.sent if size > 4096]
    assert large == ["result", "result"]
    assert {method for method, _ in workers.sent} == {"epoch", "opening", "verdict", "result"}


def test_rows_that_are_trained_on_and_judged_travel_once(monkeypatch):
    seen, init = [], ClassRange.__init__
    monkeypatch.setattr(
        ClassRange, "__init__", lambda self, problems, *more: seen.append(problems) or init(self, problems, *more)
    )
    fit(ForgetfulWorkers(2), refit=False)
    for train, judged in seen:
        assert train.X is judged.X
        assert train.y is judged.y
    assert len(seen) == 2
