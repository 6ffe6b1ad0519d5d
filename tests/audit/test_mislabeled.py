"""Flipped labels are found, with the class that they were and a probability that holds."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.audit import mislabeled


@pytest.fixture(scope="module")
def flipped():
    """(X, labels of which a tenth is flipped, the truth, which are flipped)."""
    data = mc.datasets.low_rank_classes(1500, d=24, n_classes=30, noise=0.2, random_state=0)
    rng = np.random.default_rng(0)
    y, rows = data.y.copy(), rng.permutation(1500)[:150]
    y[rows] = (y[rows] + rng.integers(1, 30, 150)) % 30
    return data.rows(slice(None)), y, data.y, y != data.y


def test_flipped_labels_come_first_with_their_class(flipped):
    X, y, truth, wrong = flipped
    found = mc.audit.label_errors(X, y)
    assert wrong[found.ranked()[:150]].mean() > 0.9
    assert (found.proposed == truth)[wrong].mean() > 0.9
    assert found.expected == pytest.approx(150, rel=0.25)
    sure = found.probability > 0.9
    assert wrong[sure].mean() > 0.9
    assert sure.sum() > 80


def test_probabilities_rise_as_scores_fall(flipped):
    X, y, _, _ = flipped
    found = mc.audit.label_errors(X, y)
    order = np.argsort(found.score, kind="stable")
    assert (np.diff(found.probability[order]) <= 1e-12).all()
    assert (found.ranked(0.5) == found.ranked()[: np.count_nonzero(found.probability >= 0.5)]).all()


def test_good_labels_are_left_alone():
    data = mc.datasets.low_rank_classes(600, d=24, n_classes=12, noise=0.1, random_state=0)
    found = mc.audit.label_errors(data, data.y)
    assert found.expected < 6
    assert len(found.ranked(0.5)) == 0


def test_blocks_and_threads_do_not_change_a_bit(flipped, monkeypatch):
    X, y, _, _ = flipped
    with mc.threads(1):
        one = mc.audit.label_errors(X, y)
    with mc.threads(2):
        two = mc.audit.label_errors(X, y)
    assert one.probability.tobytes() == two.probability.tobytes()
    assert one.score.tobytes() == two.score.tobytes()
    monkeypatch.setattr(mislabeled, "_BLOCK", 30 * 100)
    some = mc.audit.label_errors(X, y)
    assert some.score == pytest.approx(one.score, abs=0.05)


def test_codes_are_judged_like_rows(flipped):
    X, y, _, wrong = flipped
    codes = mc.ScalarQuantizer().fit(X).encode(X)
    assert wrong[mc.audit.label_errors(codes, y).ranked()[:150]].mean() > 0.9


def test_rows_with_more_columns_than_machines_are_made_for_are_judged_by_neighbors(flipped, monkeypatch):
    X, y, _, wrong = flipped
    monkeypatch.setattr(mislabeled, "MOST_COLUMNS", 10)
    assert wrong[mc.audit.label_errors(X, y).ranked()[:150]].mean() > 0.75


def test_a_class_of_one_row_is_as_suspicious_as_any():
    data = mc.datasets.low_rank_classes(200, d=16, n_classes=5, noise=0.1, random_state=0)
    y = data.y.copy()
    y[17] = 9
    found = mc.audit.label_errors(data, y)
    assert found.probability[17] == pytest.approx(found.noise)


def test_labels_may_be_text_and_columns_of_any_scale(flipped):
    X, y, truth, wrong = flipped
    names = np.array([f"class {c}" for c in range(30)])
    found = mc.audit.label_errors(1000 * X + 3, names[y])
    assert found.given[0] == names[y[0]]
    assert (found.proposed == names[truth])[wrong].mean() > 0.9


def test_what_cannot_be_judged_is_refused_in_one_sentence():
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="X must hold finite numbers; row 2"):
        mc.audit.label_errors(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="at least two classes"):
        mc.audit.label_errors(np.ones((4, 2)), [1, 1, 1, 1])
    with pytest.raises(ValueError, match="n_neighbors must be a whole number"):
        mc.audit.label_errors(np.eye(4), [0, 1, 0, 1], n_neighbors=0)


def test_progress_ends_at_the_whole(flipped):
    from contextlib import contextmanager

    X, y, _, _ = flipped
    seen = []

    @contextmanager
    def progress(what, unit):
        yield lambda done, total: seen.append((done, total))

    mc.audit.label_errors(X, y, progress=progress)
    assert seen[-1] == (3000, 3000)
    assert seen == sorted(seen)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_no_rows_or_columns_are_one_sentence(shape):
    with pytest.raises(ValueError, match="X must have at least one row and one column"):
        mc.audit.label_errors(np.zeros(shape), np.arange(shape[0]) % 2)
