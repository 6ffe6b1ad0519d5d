"""Parts of the classes are trained by processes that do not talk, from a plan; together they are what one run is."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.run_record import run_rows, run_summary
from manyclass.runs.training import planned_settings

K, D = 300, 12
FIXED = {"step": 0.05, "beta": 4.0, "max_epochs": 3, "early_stopping": False}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(K), np.arange(K), rng.integers(K, size=K)])
    X = rng.normal(size=(K, D))[y] + 0.5 * rng.normal(size=(len(y), D))
    file = tmp_path_factory.mktemp("parts") / "x.npz"
    np.savez(file, X=X.astype(np.float32), y=y)
    return file


def parts_of(data, folder, count=3, **settings):
    return [mc.runs.train(data, folder / f"part{i}", classes=f"{i}/{count}", **settings) for i in range(1, count + 1)]


@pytest.mark.parametrize("beta", [4.0, None])
@pytest.mark.parametrize("regularization", [0.0, 1e-3])
def test_parts_have_the_machines_of_one_run(data, tmp_path, beta, regularization):
    settings = FIXED | {"beta": beta, "regularization": regularization}
    whole = mc.runs.train(data, tmp_path / "whole", **settings).model
    models = [part.model for part in parts_of(data, tmp_path, **settings)]
    for name in ("coef_", "intercept_", "classes_", "steps_"):
        np.testing.assert_array_equal(np.concatenate([getattr(m, name) for m in models]), getattr(whole, name))
    assert [len(m.classes_) for m in models] == [128, 128, 44]


def test_parts_of_wide_rows_have_them_too(tmp_path):
    """Where rows are fewer than columns, machines are turned back from the coordinates of the rows."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(150), np.arange(150)])
    X = rng.normal(size=(150, 4096))[y] + rng.normal(size=(300, 4096))
    np.savez(tmp_path / "x.npz", X=X.astype(np.float32), y=y)
    whole = mc.runs.train(tmp_path / "x.npz", tmp_path / "whole", **FIXED).model
    found = [part.model.coef_ for part in parts_of(tmp_path / "x.npz", tmp_path, 2, **FIXED)]
    np.testing.assert_array_equal(np.concatenate(found), whole.coef_)


def test_a_part_says_which_it_is_and_of_what(data, tmp_path):
    records = [part.record for part in parts_of(data, tmp_path, **FIXED)]
    shards = [record["shard"] for record in records]
    assert [(one["number"], one["count"], one["first"], one["stop"], one["total"]) for one in shards] == [
        (1, 3, 0, 128, K),
        (2, 3, 128, 256, K),
        (3, 3, 256, 300, K),
    ]
    assert shards[0]["whole"] == shards[1]["whole"] == shards[2]["whole"]
    assert [record["settings"]["classes"] for record in records] == ["1/3", "2/3", "3/3"]
    other = mc.runs.train(data, tmp_path / "other", classes="1/3", seed=1, **FIXED)
    assert other.record["shard"]["whole"] != shards[0]["whole"]


def test_a_part_is_no_classifier_yet(data, tmp_path):
    (first, *_) = parts_of(data, tmp_path, **FIXED)
    assert first.record["training"] is first.record["embedding"] is None
    for use in (mc.load, lambda run: mc.runs.evaluate(run, data)):
        with pytest.raises(
            ValueError, match=r"part1 must have all classes; it is part 1/3 of a run; .* manyclass join"
        ):
            use(first.path)


def test_a_part_goes_on_where_it_was_interrupted_and_not_as_another_part(data, tmp_path):
    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mc.runs.train(data, tmp_path / "run", classes="2/3", callbacks=[interrupt], **FIXED)
    with pytest.raises(ValueError, match="differ in classes"):
        mc.runs.train(data, tmp_path / "run", classes="1/3", resume=True, **FIXED)
    again = mc.runs.train(data, tmp_path / "run", classes="2/3", resume=True, **FIXED)
    expected = mc.runs.train(data, tmp_path / "other", classes="2/3", **FIXED)
    assert again.model.coef_.tobytes() == expected.model.coef_.tobytes()


def test_a_plan_gives_step_beta_and_epochs_of_a_run_on_a_sample(data, tmp_path):
    plan = mc.runs.train(data, tmp_path / "plan", sample=450, tune=["step"], max_epochs=4)
    assert 300 <= plan.record["data"][0]["rows"] <= 600
    model = plan.record["model"]
    run = mc.runs.train(data, tmp_path / "run", plan=tmp_path / "plan", classes="3/3")
    assert run.record["data"][0]["rows"] == 900
    assert {name: run.record["settings"][name] for name in FIXED} == {
        "step": model["step"], "beta": model["beta"], "max_epochs": model["n_epochs"], "early_stopping": False,
    }  # fmt: skip


def test_epochs_of_a_plan_that_began_with_least_squares_are_those_from_zero(data, tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass.solvers.sgd.tuning._LEAST_WORK", 0)
    monkeypatch.setattr("manyclass.solvers.sgd.tuning.LeastSquaresStart._means_are_better", lambda *_: False)
    plan = mc.runs.train(data, tmp_path / "plan")
    assert plan.record["model"]["n_iter"] > 0
    assert planned_settings(plan.path, {})["max_epochs"] >= 16


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"classes": "4/3"}, r"`classes` must be i/n with i from 1 to n, such as 3/16; got '4/3'"),
        ({"classes": "1/3", "objective": "softmax"}, "`classes` does not go with `objective='softmax'`, whose classes"),
        ({"classes": "1/3"}, r"a part of the classes \(1/3\) needs .*`early_stopping=False`.*; give them, or a `plan`"),
        ({"classes": "1/3", "early_stopping": False, "beta": 2.0}, "needs .* a `step`"),
        ({"classes": "1/9", **FIXED}, "300 classes can be divided into 3 parts of 128 at least; got 1/9"),
        ({"classes": "9/9", **FIXED}, "300 classes can be divided into 3 parts of 128 at least; got 9/9"),
        ({"classes": "1/3", "validation": "train", **FIXED}, "`validation` does not go with `classes`: a part of the"),
        ({"sample": 0}, "sample must be"),
    ],
)
def test_what_cannot_be_a_part_is_refused(data, tmp_path, settings, words):
    with pytest.raises(ValueError, match=words):
        mc.runs.train(data, tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_a_plan_is_refused(data, tmp_path):
    mc.runs.train(data, tmp_path / "square", "square")
    with pytest.raises(ValueError, match=r"`plan` must be a run of `objective='ovr'`; .* is one of 'square'"):
        mc.runs.train(data, tmp_path / "run", plan=tmp_path / "square")
    mc.runs.train(data, tmp_path / "plan", **FIXED)
    with pytest.raises(ValueError, match="`step` does not go with `plan`, which has it"):
        mc.runs.train(data, tmp_path / "run", plan=tmp_path / "plan", step=1.0)
    with pytest.raises(ValueError, match="`plan` does not go with `objective='softmax'`"):
        mc.runs.train(data, tmp_path / "run", "softmax", plan=tmp_path / "plan")


def test_a_plan_gives_what_its_step_was_found_with(data, tmp_path):
    found = {"regularization": 1e-3, "step_decay": True, "sampling": "balanced", "class_weight": "balanced"}
    mc.runs.train(data, tmp_path / "plan", **FIXED | found)
    run = mc.runs.train(data, tmp_path / "run", plan=tmp_path / "plan", classes="1/3")
    assert {name: run.record["settings"][name] for name in found} == found


def test_a_part_says_in_a_table_that_it_is_one(data, tmp_path):
    part = mc.runs.train(data, tmp_path / "part", classes="3/3", **FIXED)
    assert ("classes", "44 of 300, part 3/3") in run_rows(run_summary(part.record))
    whole = mc.runs.train(data, tmp_path / "whole", **FIXED)
    assert "classes" not in dict(run_rows(run_summary(whole.record)))
