"""The benchmark of audits: flips, rankings compared by the truth, and parts that are run alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import audit


def draw(wrong, ours, theirs):
    """What two rankings make of rows of which some are flipped."""
    found = SimpleNamespace(ranked=lambda: np.array(ours), probability=np.linspace(1, 0, len(wrong)))
    return audit.Draw(None, None, np.array(wrong, bool), found, 1.0, {"theirs": np.array(theirs)}, {}, 2.0)


def test_flips_are_of_another_class_and_differ_by_the_seed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 4
    for kind in ("any class", "most similar class"):
        z, wrong = audit.flipped(X, y, kind, 0.1, seed=1)
        assert (z != y).tolist() == wrong.tolist()
        assert wrong.sum() == 20
        assert (audit.flipped(X, y, kind, 0.1, seed=2)[1] != wrong).any()


def test_a_difference_counts_the_flips_that_one_alone_finds_in_all_draws():
    first = draw([1, 1, 0, 0], [0, 1, 2, 3], [0, 2, 1, 3])  # both flips, and one of them
    second = draw([1, 0, 0, 1], [1, 2, 0, 3], [3, 1, 0, 2])  # none, and one
    assert first.hits([0, 2, 1, 3]).tolist() == [True, False, False, False]
    assert audit.difference([first, second], "theirs").difference == 0
    assert audit.difference([first], "theirs").difference == 0.5
    assert audit.precision([first, second], [first.found.ranked(), second.found.ranked()]) == 0.5
    assert audit.said_and_were([first]) == "0.83 / 1.00"


def test_sets_are_those_at_hand(tmp_path):
    lines = [f"{'ABC'[i % 3]},{i},{i % 7}" for i in range(9)]
    (tmp_path / "letters.csv").write_text("\n".join(["letter,a,b", *lines]))
    ((name, (X, y)),) = audit.sets(tmp_path, "", "").items()
    assert (name, len(np.unique(y))) == ("letters", 3)
    assert X.shape[1] == 2
    assert audit.sets(None, "", "") == {}


def test_duplicates_are_sought_alone_at_a_given_size(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = audit.run(only="duplicates", rows=400)
    ((caption, columns, (row,)),) = page.tables
    assert caption.startswith("Near-duplicates, 400 x 256")
    assert dict(zip(columns, row, strict=True))["found"] == "200"
    with pytest.raises(SystemExit, match="`only` must be some of labels, memory, duplicates"):
        audit.run(only="duplicate")


def test_the_strength_of_cleanlab_is_that_of_most_labels_right(monkeypatch):
    y = np.arange(40) % 4
    right = {0.01: 10, 0.1: 30, 1.0: 20, 10.0: 25}  # labels that each has right
    monkeypatch.setattr(audit, "logistic", lambda X, z, C: np.eye(4)[(z + (np.arange(40) >= right[C])) % 4])
    monkeypatch.setattr(audit, "cleanlab_rankings", lambda z, P: {"theirs": int((P.argmax(axis=1) == z).sum())})
    one = audit.Draw(y, y, None, None, 1.0, {"theirs": 0}, {}, 2.0)
    C, (found,) = audit.with_chosen_strength(None, [one])
    assert (C, found.rankings["theirs"]) == (0.1, 30)
    right[1.0] = 40
    C, (found,) = audit.with_chosen_strength(None, [one])
    assert (C, found.rankings["theirs"]) == (1.0, 0), "what is known with C=1 is taken"


def test_tables_of_sets_that_are_not_asked_for_stay(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    written = tmp_path / "docs" / "benchmarks"
    written.mkdir(parents=True)
    monkeypatch.setattr(audit, "sets", lambda *_: dict.fromkeys(audit.SETS, (np.eye(4), np.arange(4))))
    monkeypatch.setattr(audit, "_warm_up", lambda: None)
    monkeypatch.setattr(
        audit, "compare", lambda page, name, *_: page.table(f"{name}: 4 x 4", ["flips"], [[str(len(page.tables))]])
    )
    audit.run(only="labels").write(written)
    tables = audit.run(only="labels", named="letters").tables
    assert [caption for caption, _, _ in tables] == [f"{name}: 4 x 4" for name in audit.SETS]
    assert [row for _, _, (row,) in tables] == [["0"], ["1"], ["3"], ["3"]], "letters came last, beside three that stay"
