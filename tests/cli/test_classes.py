import json

import numpy as np
import pytest

import manyclass as mc
from tests.cli.runs import CLASSES, QUICK, bits, store


@pytest.fixture
def trained(run, tmp_path):
    assert run("train", store(tmp_path / "x.store"), "-o", tmp_path / "run", *QUICK, "--quiet").code == 0
    X = np.random.default_rng(0).normal(size=(5, 8)) / 2 + 3
    np.savez(tmp_path / "five.npz", X=X.astype(np.float32), y=np.repeat("zebra", 5))
    return tmp_path / "run"


def test_classes_are_listed_with_their_rows(run, trained):
    outcome = run("classes", trained)
    assert outcome.code == 0, outcome.err
    assert "6 classes" in outcome.out
    assert ["ant", "20"] in [line.split() for line in outcome.out.splitlines()]
    listed = json.loads(run("classes", trained, "--json").out)["classes"]
    assert listed == [{"class": label, "rows": 20} for label in sorted(CLASSES)]


def test_a_class_more_a_class_less_and_another_name(run, trained, tmp_path):
    before = bits(trained)
    added = run("classes", trained, "--add", tmp_path / "five.npz", "-o", tmp_path / "a", "--json")
    assert json.loads(added.out) == {"path": str(tmp_path / "a"), "classes": 7, "changed": ["zebra"], "rows": 5}
    removed = run("classes", tmp_path / "a", "--remove", "owl", "--remove", "fox", "-o", tmp_path / "b")
    assert (removed.code, "owl, fox" in removed.out) == (0, True)
    renamed = run("classes", tmp_path / "b", "--rename", "cat=lynx", "-o", tmp_path / "c")
    assert renamed.code == 0, renamed.err
    assert mc.load(tmp_path / "c").classes_.tolist() == ["ant", "bee", "dog", "lynx", "zebra"]
    assert bits(trained) == before
    told = " ".join(run("info", tmp_path / "c").out.split())
    assert "removed owl, fox; renamed cat to lynx" in told
    assert "validation accuracy" not in told  # which was that of other classes


def test_a_changed_run_is_used_as_any(run, trained, tmp_path):
    run("classes", trained, "--add", tmp_path / "five.npz", "-o", tmp_path / "new", "--quiet")
    told = [
        json.loads(one) for one in run("predict", tmp_path / "new", tmp_path / "five.npz", "--json").out.splitlines()
    ]
    assert [one["classes"][0] for one in told] == ["zebra"] * 5
    for words in (("evaluate", tmp_path / "new", tmp_path / "x.store"), ("verify", tmp_path / "new")):
        assert run(*words).code == 0
    assert run("report", tmp_path / "new", "-o", tmp_path / "page.html").code == 0


USAGE = {
    "no place": (("--remove", "owl"), "--remove makes a new run; say where with -o"),
    "no change": (("-o", "new"), "-o needs a change"),
    "two changes": (("--remove", "owl", "--rename", "cat=lynx", "-o", "new"), "are two changes"),
    "no pair": (("--rename", "cat", "-o", "new"), "must be OLD=NEW, such as cat=lynx; got 'cat'"),
    "two names": (("--rename", "cat=lynx", "--rename", "cat=puma", "-o", "new"), "got lynx and puma for cat"),
    "a name for nothing": (("--name", "zebra"), "--name goes with --add"),
}


@pytest.mark.parametrize("case", USAGE)
def test_what_does_not_go_together_is_wrong_usage(run, trained, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, said = USAGE[case]
    outcome = run("classes", trained, *words)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.replace("│", " ").split())
    assert not (tmp_path / "new").exists()


FAILED = {
    "an unknown class": (("--remove", "bat"), "must know the class 'bat'"),
    "two of one name": (("--rename", "cat=dog"), "every class a name of its own; got 'dog' for two of them"),
    "too few": ([word for label in CLASSES[:5] for word in ("--remove", label)], "must leave two classes"),
    "known rows": (("--add", "x.store"), "all labels are known"),
    "no rows": (("--add", "none.npz"), "no file or folder at none.npz"),
}


@pytest.mark.parametrize("case", FAILED)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(run, trained, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, said = FAILED[case]
    outcome = run("classes", trained, *words, "-o", "new", "--quiet")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert said in outcome.err
    assert not (tmp_path / "new").exists()


def test_many_classes_are_listed_in_part(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    mc.LinearClassifier(penalty=mc.Ridge(0.1)).fit(X, np.arange(100) % 50).save(tmp_path / "model")
    outcome = run("classes", tmp_path / "model")
    assert "10 classes more; see them all with --json" in outcome.err
    assert len(json.loads(run("classes", tmp_path / "model", "--json").out)["classes"]) == 50


def test_help_teaches(run):
    told = " ".join(run("classes", "--help").out.replace("│", " ").split())
    for words in ("--add", "--remove", "--rename", "Five pictures make a class", "Example: manyclass classes"):
        assert words in told
