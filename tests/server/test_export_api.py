"""What leaves the page: labels, lists, models and steps, which must work outside of it."""

import csv
import io
import json
import shlex

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets.dataset import read_features
from manyclass.runs.labeling import read_label_events
from manyclass.server.app import ServerSettings
from manyclass.server.collection import Collection, open_collection
from tests.commands import give
from tests.server.pages import CLASSES as SHAPES
from tests.server.small_collection import CLASSES, asking, names, open_small, rows, wait_for_job, write_gallery

IDS = names()

HOSTILE = [
    "=1+1.jpg",
    "+cmd|' /C calc'!A0",
    "-flag.jpg",
    "@sum.jpg",
    "'=quoted.jpg",
    'a,"b".jpg',
    "ünï.jpg",
    "=2/x.jpg",
]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("small"))


@pytest.fixture
def asker(gallery, tmp_path):
    with asking(open_small(gallery, tmp_path / "home")) as asker:
        yield asker


def table(answer):
    assert answer.status_code == 200
    assert "attachment" in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_the_log_leaves_as_it_is(asker, tmp_path):
    assert asker.get("/api/export/labels.jsonl").content == b""
    asker.post("/api/labels", ids=IDS[:2], label="dog", who="Ada", proposed="cat")
    asker.post("/api/labels/undo", who="Ada")
    answer = asker.get("/api/export/labels.jsonl")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="labels.jsonl"'
    assert answer.content == (tmp_path / "home" / "labels.jsonl").read_bytes()
    (tmp_path / "copy.jsonl").write_bytes(answer.content)
    assert [event.action for event in read_label_events(tmp_path / "copy.jsonl")] == ["label", "undo"]


def test_the_table_has_a_line_for_every_picture_with_who_said_what_and_when(asker):
    asker.post("/api/labels", ids=[IDS[1]], label="dog", who="Ada")
    asker.post("/api/labels", ids=[IDS[2]], action="set_aside", who="Bob")
    lines = table(asker.get("/api/export/labels.csv"))
    assert [line["path"] for line in lines] == IDS
    first, second, third = lines[:3]
    assert (first["label"], first["who"], first["time"], first["from"]) == ("ant", "", "", "data")
    assert (second["label"], second["who"], second["from"]) == ("dog", "Ada", "person")
    assert second["time"].endswith("Z")
    assert (third["label"], third["who"], third["from"]) == ("", "Bob", "set aside")


def test_what_is_taken_back_is_not_in_the_table(asker):
    asker.post("/api/labels", ids=[IDS[1]], label="dog", who="Ada")
    asker.post("/api/labels", ids=[IDS[1]], label="elk", who="Bob")
    asker.post("/api/labels/undo", who="Bob")
    line = table(asker.get("/api/export/labels.csv"))[1]
    assert (line["label"], line["who"]) == ("dog", "Ada")


@pytest.fixture
def hostile(tmp_path):
    ids = [*HOSTILE, *names()[len(HOSTILE) :]]
    with asking(open_small(write_gallery(tmp_path, ids=ids), tmp_path / "home")) as asker:
        asker.ids = ids
        yield asker


def test_no_cell_can_run_in_a_spreadsheet_and_all_are_read_as_they_were(hostile, tmp_path):
    said = ["=HYPERLINK(1)", "+1", "-2 x", "@here", "'tis", "'=a", "plain", "a, b"]
    for one, label in zip(HOSTILE, said, strict=True):
        assert hostile.post("/api/labels", ids=[one], label=label, who="=Eve()").status_code == 200
    answer = hostile.get("/api/export/labels.csv")
    cells = [cell for line in csv.reader(io.StringIO(answer.text)) for cell in line]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    (tmp_path / "labels.csv").write_bytes(answer.content)
    read = read_features(tmp_path / "small.store", labels=tmp_path / "labels.csv")
    assert read.label_names()[: len(said)].tolist() == said


def test_the_store_is_trained_on_by_the_table(hostile, tmp_path):
    """`manyclass train STORE --labels labels.csv -o run`, with new classes, gaps and names that a shell would split."""
    hostile.post("/api/labels", ids=hostile.ids[:12], label="=new class")
    hostile.post("/api/labels", ids=hostile.ids[70:75], action="set_aside")
    (tmp_path / "labels.csv").write_bytes(hostile.get("/api/export/labels.csv").content)
    steps = hostile.get("/api/export/steps", tab="label").json()
    words = shlex.split(steps["command"])
    assert words[:2] == ["manyclass", "train"]
    give(*words[1:], folder=tmp_path)
    model = mc.load(tmp_path / "run")
    assert model.classes_.tolist() == ["=new class", *CLASSES]
    X, _ = rows()
    assert (model.predict(X[30:60]) == "bee").mean() > 0.9


def test_rows_that_the_gallery_has_lost_are_in_the_table_without_a_label(gallery, tmp_path):
    opened = mc.Gallery.open(gallery)
    opened.remove(IDS[3])
    collection = Collection(opened, gallery, tmp_path / "home", gallery.with_name("small.store"))
    with asking(collection) as asker:
        lines = table(asker.get("/api/export/labels.csv"))
    assert len(lines) == len(IDS)
    assert {line["path"]: line["label"] for line in lines}[IDS[3]] == ""


def test_the_steps_of_the_audit_work(asker, tmp_path):
    steps = asker.get("/api/export/steps", tab="audit").json()
    (tmp_path / "labels.csv").write_bytes(asker.get("/api/export/labels.csv").content)
    give(*shlex.split(steps["command"])[1:], folder=tmp_path)
    assert (tmp_path / "audit" / "label_errors.csv").is_file()


@pytest.mark.parametrize("tab", ["find", "label", "audit"])
def test_steps_in_python_are_python(asker, tab):
    compile(asker.get("/api/export/steps", tab=tab).json()["python"], tab, "exec")


def test_steps_in_python_do_the_same(asker, tmp_path, monkeypatch):
    (tmp_path / "labels.csv").write_bytes(asker.get("/api/export/labels.csv").content)
    monkeypatch.chdir(tmp_path)
    done = {}
    exec(asker.get("/api/export/steps", tab="label").json()["python"], done)
    assert done["run"].model.classes_.tolist() == CLASSES


def test_without_its_features_a_gallery_says_how_to_make_them(tmp_path):
    gallery = write_gallery(tmp_path)
    gallery.with_name("small.store").rename(tmp_path / "elsewhere.store")
    with asking(open_small(gallery, tmp_path / "home")) as asker:
        steps = asker.get("/api/export/steps", tab="label").json()
        assert "manyclass features PICTURES -o new.store" in steps["command"]
        assert "not at hand" in steps["python"]
        assert [line["path"] for line in table(asker.get("/api/export/labels.csv"))] == IDS


def test_paths_of_what_people_labeled_of_a_class_or_set_aside(asker):
    asker.post("/api/labels", ids=IDS[:3], label="dog")
    asker.post("/api/labels", ids=IDS[30:32], label="ant")
    asker.post("/api/labels", ids=IDS[4:5], action="set_aside")

    def listed(**query):
        return asker.get("/api/export/paths.txt", **query).text.splitlines()

    assert listed() == [*IDS[:3], *IDS[30:32]]
    assert listed(label="dog") == IDS[:3]
    assert listed(**{"class": "ant"}) == [
        *[one for i, one in enumerate(IDS[:30]) if i not in (0, 1, 2, 4, 7)],
        *IDS[30:32],
    ]
    assert listed(label="dog", **{"class": "ant"}) == []
    assert listed(set_aside="true") == IDS[4:5]
    assert asker.get("/api/export/paths.txt", end="null").content.split(b"\0")[:-1] == [
        one.encode() for one in listed()
    ]


def test_a_path_with_a_line_break_is_not_torn(tmp_path):
    ids = ["a\nb.jpg", *names()[1:]]
    with asking(open_small(write_gallery(tmp_path, ids=ids), tmp_path / "home")) as asker:
        asker.post("/api/labels", ids=ids[:2], label="dog")
        answer = asker.get("/api/export/paths.txt")
        assert (answer.status_code, "end=null" in answer.json()["error"]) == (409, True)
        assert asker.get("/api/export/paths.txt", end="null").content == b"a\nb.jpg\0" + ids[1].encode() + b"\0"


def test_duplicates_leave_as_a_table_that_says_which_to_keep(asker):
    assert asker.get("/api/export/duplicates.csv").status_code == 409
    wait_for_job(asker, asker.post("/api/audit", checks=["duplicates"], threshold=0.999).json())
    lines = table(asker.get("/api/export/duplicates.csv", rule="first"))
    assert [(line["group"], line["keep"], line["id"]) for line in lines] == [
        ("1", "yes", IDS[40]),
        ("1", "no", IDS[41]),
    ]


@pytest.mark.parametrize("name", ["model.safetensors", "model.json"])
def test_before_anything_is_learned_there_is_no_model(tmp_path, name):
    with asking(open_small(write_gallery(tmp_path, labels=False), tmp_path / "home")) as asker:
        answer = asker.get(f"/api/export/{name}")
        assert (answer.status_code, "nothing is learned yet" in answer.json()["error"]) == (409, True)


def test_a_gallery_without_encoder_has_none_to_give(asker):
    assert asker.get("/api/export/encoder.safetensors").status_code == 409


def test_the_model_leaves_and_says_the_same(asker, tmp_path):
    session = asker.state.desk.session
    asker.post("/api/labels", ids=IDS[:5], label="dog")
    session.train()
    (tmp_path / "model.safetensors").write_bytes(asker.get("/api/export/model.safetensors").content)
    model, (X, _) = mc.load(tmp_path / "model.safetensors"), rows()
    np.testing.assert_array_equal(model.predict(X), session.classifier().predict(X))
    about = asker.get("/api/export/model.json").json()
    assert (about["learned_on"], about["columns"], about["classes"]) == ("features", 12, len(model.classes_))


def test_everything_waits_for_the_pictures():
    with asking(lambda state: None) as asker:
        for name in ("labels.jsonl", "labels.csv", "paths.txt", "duplicates.csv", "model.safetensors", "steps"):
            assert asker.get(f"/api/export/{name}").status_code == 503


def test_the_exported_model_tells_pictures_on_the_command_line(shapes, tmp_path):
    """A gallery of real pictures: labels, the model and the encoder leave, and `manyclass predict` takes them."""
    collection = open_collection(shapes, tmp_path / "home", settings=ServerSettings(n_workers=1))
    with asking(collection) as asker:
        asker.state.desk.session.train()
        about = asker.get("/api/export/model.json").json()
        for name in ("model.safetensors", "encoder.safetensors"):
            (tmp_path / name).write_bytes(asker.get(f"/api/export/{name}").content)
        picture = shapes.parent / "pictures" / "ring" / "ring_03.png"
        command = about["words"].partition(": ")[2]
        assert command in asker.get("/api/export/steps", tab="label").json()["command"].splitlines()
        words = [str(picture) if word == "picture.jpg" else word for word in shlex.split(command)]
        told = [give(*words[1:], "--json", folder=tmp_path)]
        words[words.index("--encoder") + 1] = "encoder.safetensors"  # where the store is elsewhere
        told.append(give(*words[1:], "--json", folder=tmp_path))
        number = collection.number("ring/ring_03.png")
        expected = asker.state.desk.session.classifier().predict(collection.X.rows([number]))[0]
    assert about["encoder"]
    assert [json.loads(one)["classes"][0] for one in told] == [expected, expected]
    assert expected in SHAPES
