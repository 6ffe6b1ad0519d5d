"""Recipes: which estimator an objective asks for, and which settings go with it."""

import pytest

import manyclass as mc
from manyclass.runs.recipe import ObjectiveName, SettingsError, division_words, make_recipe

OF_A_RUN = {"callbacks", "checkpoint", "verbose", "n_threads", "warm_start", "random_state"}


@pytest.mark.parametrize("objective", sorted(set(ObjectiveName) - {"square"}))
def test_every_objective_has_an_estimator_with_the_seed_and_the_settings(objective):
    recipe = make_recipe(objective.value, [], 7, {"tolerance": 0.5})
    model = recipe.estimator(**recipe.settings)
    assert isinstance(model, mc.TraceNormClassifier if objective == "trace" else mc.StochasticClassifier)
    assert (model.random_state, model.tolerance) == (7, 0.5)
    assert getattr(model, "objective", "trace") == objective


def test_a_closed_form_has_neither_seed_nor_validation_and_keeps_no_sums():
    recipe = make_recipe("square", [], 7, {"regularization": 0.5})
    model = recipe.estimator(**recipe.settings)
    assert isinstance(model, mc.SquareLossClassifier)
    assert (model.regularization, model.keep_sums, model.objective) == (0.5, False, "square")
    assert not recipe.takes_validation
    assert not recipe.takes_callbacks
    assert make_recipe("square", [], 7, {"keep_sums": True}).settings == {"keep_sums": True}


@pytest.mark.parametrize("given", [{"traces": 3}, {"ridges": [0.1]}, {}])
def test_several_strengths_are_a_path(given):
    recipe = make_recipe("trace", [] if given else ["path"], 0, given)
    assert recipe.estimator is mc.TraceNormPath
    assert recipe.takes_validation


@pytest.mark.parametrize("objective", ["ovr", "trace"])
def test_all_settings_are_those_that_the_estimator_has(objective):
    recipe = make_recipe(objective, [], 0, {"tolerance": 0.5})
    params = recipe.estimator(**recipe.settings).get_params(deep=False)
    known = {name: value for name, value in params.items() if name not in OF_A_RUN}
    assert recipe.record == {**known, "tune": []}
    assert list(recipe.record)[:-1] == sorted(known)


def test_what_is_tuned_has_an_order_of_its_own():
    assert make_recipe("ovr", ["regularization", "step", "beta"], 0, {}).tune == ("step", "beta", "regularization")


@pytest.mark.parametrize(
    ("objective", "tune", "settings", "words"),
    [
        (
            "best",
            [],
            {},
            "`objective` must be one of auto, ovr, multiclass, ranking, warp, softmax, square, trace; got",
        ),
        ("ovr", ["everything"], {}, "`tune` must be one of step, beta, regularization, path; got 'everything'"),
        ("ovr", ["path"], {}, "`tune='path'` does not go with `objective='ovr'`"),
        ("warp", ["beta"], {}, "`tune='beta'` does not go with `objective='warp'`"),
        ("ovr", ["beta"], {"beta": 3}, "`tune='beta'` does not go with `beta`, which it is to find"),
        ("ovr", ["step"], {"early_stopping": False}, "`tune` needs early stopping"),
        (
            "ovr",
            ["regularization"],
            {"step_decay": True},
            "`tune='regularization'` tries 0 too, with which",
        ),
        ("ovr", [], {"trace": 0.1}, "`trace` does not go with `objective='ovr'`"),
        ("softmax", [], {"loss": "hinge"}, "`loss` does not go with `objective='softmax'`"),
        ("square", ["regularization"], {}, "`tune='regularization'` does not go with `objective='square'`"),
        ("square", [], {"loss": "squared"}, "`loss` does not go with `objective='square'`"),
        ("square", [], {"random_state": 0}, "`random_state` does not go with `objective='square'`"),
        ("trace", ["path"], {"trace": 1.0}, "`trace` does not go with `objective='trace'` `tune='path'`"),
        ("ovr", [], {"n_threads": 2}, "`n_threads` does not go with `objective='ovr'`"),
        ("ovr", [], {"nothing": 2}, "`nothing` does not go with `objective='ovr'`"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(objective, tune, settings, words):
    with pytest.raises(SettingsError) as refused:
        make_recipe(objective, tune, 0, settings)
    assert str(refused.value).startswith(words)


def test_one_name_to_tune_is_one_name():
    assert make_recipe("ovr", "regularization", 0, {}).tune == ("regularization",)


@pytest.mark.parametrize("seed", [None, -1])
def test_a_seed_that_nobody_could_give_again_is_refused(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        make_recipe("ovr", (), seed, {})


@pytest.mark.parametrize(("tune", "given"), [(["step"], {}), ([], {"loss": "logistic"}), ([], {"beta": 3.0})])
def test_what_belongs_to_one_vs_rest_makes_it_the_objective(tune, given):
    assert make_recipe("auto", tune, 0, given).settings["objective"] == "ovr"
    assert make_recipe("auto", [], 0, {"max_epochs": 3}).settings["objective"] == "auto"


def test_infinitely_many_negatives_are_all_that_there_are():
    recipe = make_recipe("ovr", [], 0, {"beta": float("inf")})
    assert recipe.settings["beta"] is recipe.record["beta"] is None


@pytest.mark.parametrize("objective", ["multiclass", "ranking", "warp", "softmax"])
def test_objectives_whose_classes_compete_are_not_divided(objective):
    words = division_words(objective, 3, (9_000_000, 4096), 1000, 2)
    assert words == [f"`objective='{objective}'` is not divided, as its classes compete: this machine alone computes"]


@pytest.mark.parametrize(
    ("objective", "share"), [("ovr", "at most 512 classes"), ("square", "646,287 rows"), ("trace", "640,584 rows")]
)
def test_what_every_worker_does_is_said(objective, share):
    words = division_words(objective, 2, (1_281_167, 2048), 1000, 2)
    assert len(words) == 1 or objective == "square"
    assert share in words[0]


def test_classes_and_rows_go_to_workers_by_blocks():
    assert (
        division_words("ovr", 3, (10_000, 100), 130, 2)[0] == "one-vs-rest by 2 of 3 workers, at most 128 classes each"
    )
    words = division_words("square", 3, (5000, 100), 130, 2)[0]
    assert words == "squares in closed form by 1 of 3 workers, at most 5,000 rows each"
    assert division_words("trace", 2, (5000, 64), 10, 2)[0].endswith("by 1 of 2 workers, at most 5,000 rows each")
    assert " by 64 of 100 workers," in division_words("trace", 100, (9_000_000, 4096), 10, 2)[0]


def test_a_fit_that_is_short_needs_no_cluster():
    words = division_words("ovr", 2, (10_000, 100), 100, 2)
    assert words[1] == "this machine alone needs less than a second, of which a cluster saves nothing"
