"""People who label one picture after the other, and the page that is made of them."""

import numpy as np
import pytest

from experiments import labeling
from experiments.index import write_index
from experiments.labeling import Pictures, Trial, labels_needed, trial, typing_keys
from experiments.verdicts import Interval


@pytest.fixture
def few_labels(monkeypatch):
    monkeypatch.setattr(labeling, "SHOWN", (10, 20, 30))
    monkeypatch.setattr(labeling, "REACHED", (20, 30))
    monkeypatch.setattr(labeling, "LEARNED", (5, 10, 20, 30))


@pytest.fixture
def pictures():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 30)
    X = (rng.normal(size=(5, 12))[y] + 0.5 * rng.normal(size=(150, 12))).astype(np.float32)
    return Pictures(X, y, ["ant", "bee", "bear", "cat", "cow"])


@pytest.mark.parametrize("way", labeling.WAYS)
def test_a_trial_labels_as_many_pictures_as_are_shown(pictures, way, few_labels):
    found = trial(pictures, way, 0)
    assert len(found.keys) == len(found.place) == len(found.typed) == 30
    assert list(found.accuracy)[-1] == 30
    assert found.accuracy[30] > 0.6
    assert all(
        keys == (1 if place >= 0 else typed)
        for keys, place, typed in zip(found.keys, found.place, found.typed, strict=True)
    )
    assert max(found.place) < labeling.PROPOSED


def test_the_first_names_are_typed_to_their_end(pictures, few_labels):
    found = trial(pictures, "mixed", 0)
    assert found.place[:5] == [-1] * 5
    assert found.keys[0] in (4, 5)


def test_a_name_is_typed_until_no_other_begins_so():
    known = {"bee", "bear", "beetle"}
    assert [typing_keys(name, known) for name in ("bee", "bear", "beetle", "bat")] == [4, 4, 5, 4]


def test_labels_that_are_needed_lie_between_those_that_were_judged():
    found = Trial({10: 0.2, 20: 0.4, 30: 0.4, 40: 0.8}, [], [], [])
    assert [labels_needed(found, goal) for goal in (0.1, 0.3, 0.6, 0.9)] == pytest.approx([10, 15, 35, np.inf])
    assert labels_needed(Trial({10: 0.4, 20: 0.2, 30: 0.6}, [], [], []), 0.45) == pytest.approx(25)


def test_a_page_has_tables_and_verdicts_and_the_index_reads_it(pictures, few_labels, monkeypatch, tmp_path):
    monkeypatch.setattr(labeling, "sources", lambda folder: {"A": lambda: pictures})
    labeling.run(tmp_path, range(2)).write(tmp_path)
    text = (tmp_path / "labeling.md").read_text()
    assert "| mixed |" in text
    assert "Keys per label" in text
    assert "produced" in text or "Not told" in text
    assert "A " in write_index(tmp_path).read_text()
    assert (tmp_path / "labeling.svg").exists()


def test_a_verdict_moves_with_its_margin():
    assert labeling._moved(Interval(1.5, 1.4, 1.6), -1.3) == pytest.approx((0.2, 0.1, 0.3))
