"""Settings are chosen by what they bring to the front."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.exemplar import calibrate
from manyclass.exemplar.calibration import combinations
from tests.exemplar.problems import ENCODERS, pool


def labeled(seed=0):
    """Negatives and labeled images that differ by label in few columns, and wildly in the others."""
    rng = np.random.default_rng(seed)
    spread = np.r_[np.full(5, 20.0), np.ones(5)]
    y = np.arange(60) % 12
    means = rng.normal(size=(12, 10)) * np.r_[np.zeros(5), np.full(5, 3.0)]
    return rng.normal(size=(400, 10)) * spread, means[y] + rng.normal(size=(60, 10)) * spread, y


def plain_map(enc, X, y):
    """Mean average precision as it is defined, query by query and rank by rank."""
    C = enc.transform(X)
    found = []
    for i, scores in enumerate(enc.similarity(C, C)):
        ranked = [j for j in sorted(range(len(X)), key=lambda j: (-scores[j], j)) if j != i]
        hits = [y[j] == y[i] for j in ranked]
        area, seen = 0.0, 0
        for rank, hit in enumerate(hits):
            if hit:
                left = seen / rank if rank else 1.0
                seen += 1
                area += (left + seen / (rank + 1)) / 2
        if seen:
            found.append(area / seen)
    return np.mean(found)


def test_the_best_of_the_grid_is_chosen_and_fitted():
    X, Q, y = labeled()
    grid = {"regularization": [1e6, 1e-2, 1e3]}
    best = calibrate(mc.SquareLossExemplar(random_state=0), X, Q, y, grid)
    assert best.regularization == 1e-2
    assert [row["regularization"] for row in best.calibration_] == [1e6, 1e-2, 1e3]
    for row in best.calibration_:
        fitted = mc.SquareLossExemplar(row["regularization"]).fit(X)
        assert row["mAP"] == pytest.approx(plain_map(fitted, Q, y), abs=1e-9)
    direct = mc.SquareLossExemplar(1e-2, random_state=0).fit(X)
    assert best.transform(Q).tobytes() == direct.transform(Q).tobytes()
    assert len(best.background_) == 400


def test_labels_of_one_row_are_distractors_only():
    X, Q, y = labeled()
    y = np.where(np.arange(60) < 6, y + 100, y)
    best = calibrate(mc.SquareLossExemplar(), X, Q, y, {"regularization": [1e-2]})
    assert best.calibration_[0]["mAP"] == pytest.approx(plain_map(best, Q, y), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("square", None),
        ("whitening", {"n_components": [2, 8], "power": [0.25, 0.5]}),
        ("lda", {"random_state": [0]}),
        ("sgd", {"regularization": [1.0, 10.0], "positive_weight": [0.5, 1.0]}),
    ],
)
def test_every_encoder_can_be_calibrated_and_saved(tmp_path, name, grid):
    X, Q, y = labeled()
    best = calibrate(ENCODERS[name](), X, Q, y, grid)
    assert len(best.calibration_) == (16 if grid is None else np.prod([len(v) for v in grid.values()]))
    best.save(tmp_path / "encoder")
    assert mc.load(tmp_path / "encoder").calibration_ == best.calibration_


def test_of_equals_the_first_wins():
    X, Q, y = labeled()
    assert calibrate(mc.SquareLossExemplar(), X, Q, y, {"positive_weight": [3.0, 1.0, 2.0]}).positive_weight == 3.0


def test_without_labels_rows_are_looked_for_by_parts_of_themselves():
    X, Q = pool(n=500, d=40)
    best = calibrate(mc.SquareLossExemplar(), X, Q, grid={"regularization": [1e-12, 10.0]}, random_state=0)
    again = calibrate(mc.SquareLossExemplar(), X, Q, grid={"regularization": [1e-12, 10.0]}, random_state=0)
    assert best.calibration_ == again.calibration_
    assert best.regularization == 10.0
    assert all(0 < row["mAP"] <= 1 for row in best.calibration_)


def test_the_grid_follows_the_unit_of_the_negatives():
    X, _ = pool()
    plain = mc.SquareLossExemplar().default_grid(mc.DenseMatrix(X))["regularization"]
    scaled = mc.SquareLossExemplar().default_grid(mc.DenseMatrix(X * 10))["regularization"]
    assert plain[0] == scaled[0] == "auto"
    np.testing.assert_allclose(scaled[1:], np.multiply(100, plain[1:]), rtol=1e-9)


def test_the_encoder_that_was_given_stays_as_it_is():
    X, Q, y = labeled()
    enc = mc.SquareLossExemplar(5.0)
    calibrate(enc, X, Q, y, {"regularization": [1.0]})
    assert enc.regularization == 5.0
    assert not hasattr(enc, "mean_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.zeros(59)}, r"y must have one entry per row of X \(60\); got 59"),
        ({"y": np.zeros((60, 1))}, r"y must be a vector with at least one label; got shape \(60, 1\)"),
        ({"y": np.full(60, np.nan)}, "y must hold finite numbers; row 0 has NaN or infinity"),
        ({"y": np.arange(60)}, "y must have at least two equal labels; got none"),
        ({"grid": {"regularization": []}}, "grid must have at least one value for every parameter; got none"),
        ({"grid": {}}, "grid must name a parameter to choose"),
        ({"grid": {"colour": [1]}}, "colour"),
        (
            {"grid": {"regularization": [-1.0]}},
            "regularization must be a finite number, at least 0, or 'auto'; got -1.0",
        ),
        ({"X": np.zeros((60, 3))}, r"X must have as many columns as negatives \(10\); got 3"),
        ({"X": np.zeros((1, 10)), "y": None}, "X must have at least two rows"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(arguments, message):
    X, Q, y = labeled()
    given = {"X": Q, "y": y, "grid": {"regularization": [1.0]}, **arguments}
    with pytest.raises(ValueError, match=message):
        calibrate(mc.SquareLossExemplar(), X, **given)


def test_numbers_of_numpy_become_plain_ones():
    assert [type(s["a"]) for s in combinations({"a": np.logspace(0, 1, 2)})] == [float, float]
