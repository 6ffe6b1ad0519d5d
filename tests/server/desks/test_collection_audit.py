"""What an audit of a collection finds is what mc.audit finds on the same rows; and its file."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.audit import duplicates, label_errors, outliers
from manyclass.data.dense import DenseMatrix
from manyclass.server.desks import collection_audit
from manyclass.server.desks.collection_audit import CHECKS, LEAST, CollectionAudit, audit_collection, is_affordable
from tests.server.small_collection import COPY, ORIGINAL, OUTLIER, WRONG, names, rows

IDS = names()


def audited(labels=None, set_aside=(), kept=(), **settings):
    X, y = rows()
    labels = y.tolist() if labels is None else labels
    settings = {"threshold": 0.999, **settings}
    return audit_collection(DenseMatrix(X), IDS, labels, frozenset(set_aside), frozenset(kept), **settings)


def test_it_is_the_same_as_the_library_on_the_same_rows():
    X, y = rows()
    found = audited()
    errors, copies, far = label_errors(X, y), duplicates(X, threshold=0.999), outliers(X, y)
    ranked = errors.ranked(LEAST)
    assert [one.number for one in found.suspects] == ranked.tolist()
    assert [one.probability for one in found.suspects] == errors.probability[ranked].round(6).tolist()
    assert [(one.given, one.proposed) for one in found.suspects] == list(
        zip(y[ranked].tolist(), errors.proposed[ranked].tolist(), strict=True)
    )
    assert sorted(one.numbers for one in found.copies) == sorted(group.tolist() for group in copies.groups())
    assert [one.number for one in found.far] == far.ranked().tolist()
    assert (found.suspects[0].number, found.suspects[0].proposed) == (WRONG, "ant")
    assert found.copies[0].numbers == [ORIGINAL, COPY]
    assert OUTLIER in [one.number for one in found.far]


def test_it_is_the_same_as_the_command_on_a_store(tmp_path):
    X, y = rows()
    mc.write_store(tmp_path / "x.store", X, y, names=IDS)
    record = mc.runs.audit(tmp_path / "x.store", checks=CHECKS, threshold=0.999).record
    found = audited()
    assert [(IDS[one.number], one.given, one.proposed, one.probability) for one in found.suspects] == [
        (one["name"], one["given"], one["proposed"], one["probability"]) for one in record["label_errors"]
    ]
    assert [(IDS[one.number], one.distance) for one in found.far] == [
        (one["name"], one["distance"]) for one in record["outliers"]
    ]
    assert [round(one.similarity, 6) for one in found.copies] == [one["similarity"] for one in record["duplicates"]]


def test_what_is_set_aside_takes_no_part():
    found = audited(set_aside=[IDS[WRONG], IDS[COPY], IDS[OUTLIER]])
    left = [i for i in range(len(IDS)) if i not in (WRONG, COPY, OUTLIER)]
    X, y = rows()
    expected = label_errors(X[left], y[left])
    assert [one.number for one in found.suspects] == [left[row] for row in expected.ranked(LEAST).tolist()]
    assert found.copies == []
    assert OUTLIER not in [one.number for one in found.far]


def test_what_was_kept_is_not_suspected_again_but_teaches():
    kept = audited(kept=[IDS[WRONG], IDS[OUTLIER]])
    found = audited()
    assert kept.suspects == [one for one in found.suspects if one.number not in (WRONG, OUTLIER)]
    assert kept.far == [one for one in found.far if one.number not in (WRONG, OUTLIER)]
    assert kept.copies == found.copies


def test_pictures_without_a_label_take_part_in_duplicates_alone():
    _, y = rows()
    labels = [None if i in (COPY, 50, 51) else label for i, label in enumerate(y.tolist())]
    found = audited(labels)
    assert found.copies[0].numbers == [ORIGINAL, COPY]
    assert found.notes == ["3 pictures without a label took part in duplicates alone"]
    assert COPY not in [one.number for one in found.suspects]


@pytest.mark.parametrize("labels", [[None] * len(IDS), ["cat"] * len(IDS)])
def test_without_two_classes_wrong_labels_are_not_looked_for(labels):
    X, _ = rows()
    found = audited(labels)
    assert found.suspects is None
    assert found.notes[0] == "labels are not of two classes or more, so that wrong ones were not looked for"
    assert [one.number for one in found.far] == outliers(X).ranked().tolist()
    assert found.counts()["labels"] is None


def test_a_threshold_that_is_too_low_is_a_note(monkeypatch):
    monkeypatch.setattr(collection_audit, "duplicates", lambda X, **settings: duplicates(X, **settings, limit=3))
    found = audited(threshold=0.5)
    assert found.copies is None
    assert "duplicates were left out" in found.notes[0]
    assert found.suspects


def test_checks_can_be_left_out():
    found = audited(checks=["duplicates"])
    assert found.counts() == {"labels": None, "duplicates": 1, "outliers": None}


def test_all_may_be_set_aside():
    assert audited(set_aside=IDS).counts() == {"labels": None, "duplicates": None, "outliers": None}


def test_groups_that_are_surely_copies_come_first():
    X, y = rows()
    X[3], X[4] = X[2], X[2]
    found = audit_collection(DenseMatrix(X), IDS, y.tolist(), frozenset(), frozenset(), threshold=0.98)
    similar = [one.similarity for one in found.copies]
    assert similar == sorted(similar, reverse=True)
    assert found.copies[0].numbers == [2, 3, 4]


def test_a_file_gives_back_what_was_written(tmp_path):
    found = audited(event=7)
    found.save(tmp_path / "home" / "audit.json")
    assert CollectionAudit.read(tmp_path / "home" / "audit.json", IDS) == found


def test_a_file_of_other_pictures_is_refused(tmp_path):
    audited().save(tmp_path / "audit.json")
    with pytest.raises(StorageError, match="the pictures are others since"):
        CollectionAudit.read(tmp_path / "audit.json", IDS[::-1])


def test_every_changed_byte_of_a_file_is_noticed(tmp_path):
    path = tmp_path / "audit.json"
    audited(checks=["duplicates"]).save(path)
    whole = path.read_bytes()
    for at in np.random.default_rng(0).integers(0, len(whole), 40).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ValueError, match="checksum"):
            CollectionAudit.read(path, IDS)


def test_rows_that_do_not_fit_into_memory_are_known_before(monkeypatch):
    X = DenseMatrix(np.ones((1000, 100), np.float32))
    monkeypatch.setattr(collection_audit, "_free_memory", lambda: 10**9)
    assert is_affordable(X)
    monkeypatch.setattr(collection_audit, "_free_memory", lambda: 10**5)
    assert not is_affordable(X)
