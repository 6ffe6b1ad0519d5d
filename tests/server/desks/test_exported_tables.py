"""What leaves the page, in pieces: tables of many lines, names that are no text, and what a model takes."""

import csv
import io
from types import SimpleNamespace

import pytest

from manyclass.server.app import ApiError
from manyclass.server.desks import exported_tables
from manyclass.server.desks.exported_tables import data_ids, labels_table, learned_model, model_bytes, paths_list
from manyclass.server.desks.labeling_desk import LabelingDesk


class FakePictures:
    def path(self, number):
        return None


def collection(home, ids, data=None, given=None):
    return SimpleNamespace(
        home=home,
        ids=ids,
        data=data,
        given=given or [None] * len(ids),
        model=None,
        pictures=FakePictures(),
        number=ids.index,
        X=SimpleNamespace(shape=(len(ids), 12)),
        gallery=SimpleNamespace(features=None),
    )


@pytest.fixture
def make(tmp_path):
    desks = []

    def make(ids, **about):
        desks.append(LabelingDesk(collection(tmp_path / "home", ids, **about)))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


def test_a_long_table_is_sent_in_parts(make):
    desk = make([f"{i}.jpg" for i in range(5000)], given=["cat"] * 5000)
    parts = list(labels_table(desk))
    assert len(parts) == 6
    lines = list(csv.reader(io.StringIO(b"".join(parts).decode())))
    assert lines[0] == ["path", "label", "who", "time", "from"]
    assert lines[-1] == ["4999.jpg", "cat", "", "", "data"]
    assert len(lines) == 5001


def test_names_that_are_no_text_leave_as_the_disk_has_them(make):
    desk = make(["\udcff.jpg", "\ud800.jpg"])
    desk.say(["\udcff.jpg"], "dog")
    assert b"\xff.jpg" in b"".join(paths_list(desk, None, None, False))
    desk.say(["\ud800.jpg"], "dog")
    assert b"\xed\xa0\x80.jpg" in b"".join(labels_table(desk))


def test_features_are_at_hand_if_all_ids_are_among_their_rows(make, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "manyclass.runs.sources.read_source", lambda *args, **settings: SimpleNamespace(names=["b", "a", "c"])
    )
    assert data_ids(collection(tmp_path, ["a", "b"], data=tmp_path)) == ["b", "a", "c"]
    assert data_ids(collection(tmp_path, ["a", "d"], data=tmp_path)) is None
    assert data_ids(collection(tmp_path, ["a", "b"])) is None


def test_features_that_are_gone_are_not_at_hand(tmp_path):
    assert data_ids(collection(tmp_path, ["a"], data=tmp_path / "gone.store")) is None


class FakeClassifier:
    classes_ = ("ant", "bee")


@pytest.mark.parametrize(
    ("ids", "encoder", "words"),
    [
        (None, None, "it takes embeddings of the gallery"),
        (["a"], None, "it takes rows of 12 features"),
        (["a"], object(), "manyclass predict model.safetensors picture.jpg --encoder encoder.safetensors"),
    ],
)
def test_what_a_model_takes_is_told(make, monkeypatch, ids, encoder, words):
    desk = make(["a"])
    desk._session = SimpleNamespace(classifier=FakeClassifier)
    desk.collection.gallery.features = encoder
    monkeypatch.setattr(exported_tables, "data_ids", lambda about: ids)
    model, about = learned_model(desk)
    assert isinstance(model, FakeClassifier)
    assert words in about["words"]
    assert about["encoder"] == (ids is not None and encoder is not None)


def test_without_a_classifier_there_is_nothing_to_take(make):
    desk = make(["a"])
    desk._session = SimpleNamespace(classifier=lambda: None)
    with pytest.raises(ApiError, match="nothing is learned yet"):
        learned_model(desk)


def test_the_bytes_of_a_model_are_its_file(tmp_path):
    import manyclass as mc

    model = mc.NearestCentroid().fit([[0.0], [1.0]], ["a", "b"])
    model.save(tmp_path / "model.safetensors")
    assert b"".join(model_bytes(model)) == (tmp_path / "model.safetensors").read_bytes()
