"""Settings are tried one after another, none twice, and taken where they are better by more than chance."""

import numpy as np
import pytest
from cli.runs import rows

import manyclass as mc
from manyclass._core.sealed import unseal
from manyclass.runs.grid_search import GridSearch
from manyclass.runs.recipe import make_recipe

X, Y = rows()


def ignore(message):
    pass


def search(folder, *tune, **settings):
    recipe = make_recipe("ovr", tune, 0, {"max_epochs": 2, **settings})
    return GridSearch(recipe, mc.as_matrix(X), Y, (mc.as_matrix(X[::3]), Y[::3]), folder, [])


@pytest.fixture
def pretend(monkeypatch):
    """pretend(accuracy of settings): fits take no time, and begin from a step of 1 and a beta of 2."""

    def call(accuracy):
        tried = []

        def fit(self, settings):
            tried.append(settings)
            found = {"step": 1.0, "beta": 2.0, "regularization": 0.0, **settings}
            return {"accuracy": accuracy(settings), "found": {**found, "beta": found["beta"] or 5.0}}

        monkeypatch.setattr(GridSearch, "_fit", fit)
        return tried

    return call


def test_the_best_is_taken_and_the_next_setting_is_tried_with_it(tmp_path, pretend):
    tried = pretend(lambda s: 0.2 + 0.5 * (s.get("step") == 4) + 0.2 * (s.get("regularization", 0) > 1e-3))
    chosen, shown = search(tmp_path, "step", "regularization").choose(ignore)
    assert chosen["step"] == 4
    assert chosen["regularization"] > 1e-3
    assert [s["step"] for s in tried[1:5]] == [0.25, 0.5, 2, 4]
    assert all(s["step"] == 4 for s in tried[5:])
    assert [row["name"] for row in shown] == ["step"] * 5 + ["regularization"] * 5


def test_a_difference_that_chance_explains_changes_nothing(tmp_path, pretend):
    # Half a standard error of 0.9 on 60 rows is 0.019.
    pretend(lambda s: 0.9 + 0.01 * bool(s))
    assert search(tmp_path, "step").choose(ignore)[0] == {"step": 1.0}


def test_a_fit_that_came_to_nothing_is_shown_and_not_taken(tmp_path, pretend):
    pretend(lambda s: None if s.get("step", 0) > 1 else 0.5)
    chosen, shown = search(tmp_path, "step").choose(ignore)
    assert chosen == {"step": 1.0}
    assert [row["accuracy"] for row in shown] == [0.5, 0.5, 0.5, None, None]


def test_as_many_negatives_as_there_are_classes_are_all_of_them(tmp_path, pretend):
    tried = pretend(lambda s: 0.9 if "beta" in s and s["beta"] is None else 0.2)
    chosen, shown = search(tmp_path, "beta").choose(ignore)
    assert [s.get("beta") for s in tried[1:]] == [1.0, 4.0, None]  # there are 6 classes
    assert chosen == {"beta": None}
    assert [row["value"] for row in shown] == [2.0, 1.0, 4.0, 5.0]


def test_what_was_tried_before_an_interruption_is_not_tried_again(tmp_path, pretend):
    def interrupted(settings):
        if settings.get("step") == 2:
            raise KeyboardInterrupt
        return 0.5

    pretend(interrupted)
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path, "step").choose(ignore)
    assert len(unseal((tmp_path / "tuning.json").read_bytes())["tried"]) == 3
    tried, said = pretend(lambda s: 0.5), []
    search(tmp_path, "step").choose(said.append)
    assert tried == [{"step": 2.0}, {"step": 4.0}]
    assert said == ["trying step 2", "trying step 4"]


def test_ridges_are_in_proportion_to_the_squared_length_of_a_row(tmp_path, pretend):
    pretend(lambda s: 0.5)
    _, shown = search(tmp_path, "regularization").choose(ignore)
    square = np.median(np.sum(X.astype(float) ** 2, axis=1))
    np.testing.assert_allclose([row["value"] for row in shown[1:]], square * np.logspace(-6, -3, 4), rtol=0.01)


def test_a_real_fit_has_an_accuracy_and_the_settings_that_it_found(tmp_path):
    chosen, shown = search(tmp_path, "beta", step=0.05, max_epochs=3).choose(ignore)
    assert set(chosen) == {"beta"}
    assert all(0.5 < row["accuracy"] <= 1 for row in shown)


def test_a_first_fit_that_diverges_is_an_error(tmp_path):
    with pytest.raises(FloatingPointError):
        search(tmp_path, "beta", step=1e38).choose(ignore)


def test_a_flipped_bit_of_what_was_tried_is_noticed(tmp_path, pretend):
    pretend(lambda s: 0.5)
    search(tmp_path, "step").choose(ignore)
    file = tmp_path / "tuning.json"
    good = file.read_bytes()
    for place in range(0, len(good), 7):
        file.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(ValueError, match=r"tuning\.json is damaged; pass `overwrite=True` to begin the run again"):
            search(tmp_path, "step")
