"""manyclass predict, as a user meets it."""

import csv
import json
import os
import shutil

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

import manyclass as mc
from manyclass.cli.predict import Prediction
from manyclass.runs.provenance import encoder_file
from tests.features.hostile import picture, saved

SMALL = ("--n-words", 4, "--descriptors", "sift", "--n-samples", 2000, "--n-components", 8, "--scales", 2)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with data, a model with scores, and one with probabilities."""
    folder = tmp_path_factory.mktemp("predict")
    store(folder / "x.store")
    X, y = rows()
    for loss in ("hinge", "logistic"):
        settings = {"loss": loss, "max_epochs": 4, "step": 0.05, "beta": 3.0, "random_state": 0}
        settings["early_stopping"] = loss != "hinge"  # a fit that holds nothing out finds no temperature
        mc.StochasticClassifier(**settings).fit(X, np.array(CLASSES)[y]).save(folder / loss)
    vague = X + np.random.default_rng(1).normal(size=X.shape).astype(np.float32)
    mc.SquareLossClassifier().fit(vague, np.array(CLASSES)[y]).save(folder / "vague")
    return folder


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_json_has_a_line_per_row_with_what_the_model_says(run, models, loss):
    outcome = run("predict", models / loss, models / "x.store", "--top", 3, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    data, model = mc.open_store(models / "x.store"), mc.load(models / loss)
    assert [line["name"] for line in lines] == list(data.names)
    assert [line["classes"] for line in lines] == model.predict_top(data.X, 3).tolist()
    scores = -np.sort(-model.decision_function(data.X), axis=1)[:, :3]
    np.testing.assert_allclose([line["scores"] for line in lines], scores, rtol=1e-5)
    if loss == "hinge":
        assert lines[0]["probabilities"] is None
    else:
        best = -np.sort(-model.predict_proba(data.X), axis=1)[:, :3]
        np.testing.assert_allclose([line["probabilities"] for line in lines], best, rtol=1e-5)


@pytest.mark.parametrize(("loss", "width"), [("hinge", 2), ("logistic", 3)])
def test_many_rows_go_into_a_csv(run, models, tmp_path, loss, width):
    outcome = run("predict", models / loss, models / "x.store", "-o", tmp_path / "p.csv")
    assert outcome.code == 0, outcome.err
    with (tmp_path / "p.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 180
    assert len(table[0]) == 1 + 5 * width
    assert [row["class_1"] for row in table] == mc.load(models / loss).predict(
        mc.open_store(models / "x.store").X
    ).tolist()


def test_the_table_shows_the_first_rows_and_says_that_there_are_more(run, models):
    outcome = run("predict", models / "logistic", models / "x.store")
    assert "160 rows more; see them all with -o predictions.csv or --json" in outcome.err
    assert "owl/0.jpg" in outcome.out
    assert "%" in outcome.out


def test_rows_without_names_have_numbers(run, models, tmp_path):
    np.save(tmp_path / "x.npy", rows()[0][:3])
    lines = run("predict", models / "hinge", tmp_path / "x.npy", "--json").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["0", "1", "2"]


def test_of_two_classes_the_likelier_comes_first(run, tmp_path):
    X, y = rows(k=2)
    np.save(tmp_path / "x.npy", X)
    mc.StochasticClassifier(loss="logistic", max_epochs=3, random_state=0).fit(X, y).save(tmp_path / "m")
    lines = [json.loads(line) for line in run("predict", tmp_path / "m", tmp_path / "x.npy", "--json").out.splitlines()]
    assert [int(line["classes"][0]) for line in lines] == mc.load(tmp_path / "m").predict(X).tolist()
    assert all(line["probabilities"][0] >= 0.5 for line in lines)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Two classes of six photographs."""
    root = tmp_path_factory.mktemp("photos") / "photos"
    for i in range(12):
        path = root / f"class {i % 2}" / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(i).integers(0, 40, (60, 70, 3), np.uint8)
        path.write_bytes(saved(picture(60, 70, seed=i) // 2 + noise, "PNG"))
    return root


def test_pictures_go_through_the_encoder_of_the_training_data(run, photos, tmp_path):
    """From a folder to answers, with the store compressed on the way and gone afterwards."""
    assert run("features", photos, "-o", tmp_path / "a.store", *SMALL).code == 0
    assert run("compress", tmp_path / "a.store", "-o", tmp_path / "b.store", "--kind", "scalar").code == 0
    trained = run("train", tmp_path / "b.store", "-o", tmp_path / "run", "--max-epochs", 4, "--step", 1)
    assert trained.code == 0, trained.err
    judged = run("evaluate", tmp_path / "run", tmp_path / "b.store", "--json")
    assert json.loads(judged.out)["pictures"] == {"folder": str(photos)}
    encoder = mc.load(encoder_file(tmp_path / "a.store"))
    for name in "ab":
        shutil.rmtree(tmp_path / f"{name}.store")
    outcome = run("predict", tmp_path / "run", photos / "class 0" / "02.png", photos / "class 1", "--json")
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    paths = [photos / "class 0" / "02.png", *sorted((photos / "class 1").iterdir())]
    assert [line["name"] for line in lines] == [str(path) for path in paths]
    top = mc.load(tmp_path / "run").predict_top(encoder.transform(paths), 5)
    assert [line["classes"] for line in lines] == top.tolist()


def test_pictures_that_cannot_be_read_are_named_and_the_others_answered(run, photos, tmp_path):
    encoder = mc.BagOfWords(n_words=4, descriptors=("sift",), n_samples=500, random_state=0)
    paths = sorted(photos.rglob("*.png"))
    X = encoder.fit(paths).transform(paths)
    encoder.save(tmp_path / "encoder")
    mc.StochasticClassifier(max_epochs=2, random_state=0).fit(X, np.arange(12) % 2).save(tmp_path / "m")
    (tmp_path / "bad.jpg").write_bytes(b"bad")
    words = ("predict", tmp_path / "m", tmp_path / "bad.jpg", paths[0], "--encoder", tmp_path / "encoder", "--json")
    outcome = run(*words)
    assert outcome.code == 1
    assert outcome.err.startswith(f"manyclass: {tmp_path / 'bad.jpg'} is not an image")
    assert [json.loads(line)["name"] for line in outcome.out.splitlines()] == [str(paths[0])]


def _missing(path):
    return ("missing.npy",), "no file or folder at missing.npy"


def _no_encoder(path):
    (path / "x.jpg").write_bytes(b"x")
    return (path / "x.jpg",), "images need the encoder that made the features of"


def _columns(path):
    np.save(path / "x.npy", np.ones((2, 3)))
    return (path / "x.npy",), "must have 8 columns, as the data of"


def _empty_folder(path):
    (path / "e").mkdir()
    return (path / "e",), "must hold features or pictures; it holds none"


def _another_encoder(path):
    (path / "x.jpg").write_bytes(b"x")
    mc.WhitenedPCA(2).fit(np.random.default_rng(0).standard_normal((9, 3))).save(path / "e")
    return (path / "x.jpg", "--encoder", path / "e"), "must hold an encoder of images; it holds a WhitenedPCA"


@pytest.mark.parametrize("make", [_missing, _no_encoder, _columns, _empty_folder, _another_encoder])
def test_inputs_that_cannot_be_used_are_one_sentence_and_exit_one(run, models, tmp_path, make):
    words, said = make(tmp_path)
    outcome = run("predict", models / "hinge", *words, "-o", tmp_path / "p.csv")
    assert (outcome.code, outcome.out) == (1, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert not list(tmp_path.glob("p.csv*"))


@pytest.mark.parametrize("options", [("--top", 0), ("--nothing",)])
def test_wrong_usage_is_exit_two(run, models, options):
    outcome = run("predict", models / "hinge", models / "x.store", *options)
    assert outcome.code == 2
    assert options[0] in outcome.err


def test_help_teaches(run):
    out = run("predict", "--help").out
    for word in ("--top", "--encoder", "--json", "Example: manyclass predict"):
        assert word in out


def test_one_row_is_shown_with_a_line_for_each_class(run, models, tmp_path):
    np.save(tmp_path / "one.npy", rows()[0][:1])
    lines = run("predict", models / "hinge", tmp_path / "one.npy", "--top", 3).out.splitlines()
    assert len(lines) == 4
    assert lines[1].split()[0] == "owl"


def test_names_are_not_broken_and_classes_that_do_not_fit_are_left_out(run, models, tmp_path):
    names = [f"photographs/of/a/very/long/journey/to/the/sea/image_{i:04d}.jpg" for i in range(2)]
    mc.write_store(tmp_path / "long.store", mc.DenseMatrix(rows()[0][:2]), names=names)
    outcome = run("predict", models / "logistic", tmp_path / "long.store")
    lines = outcome.out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == names
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["1", "2", "3"]
    assert "of 5 classes 3 fit on a line" in outcome.err


def test_a_best_class_is_told_however_long_the_name_is(run, models, tmp_path):
    names = [f"{'photographs/' * 8}{i}.jpg" for i in range(2)]
    mc.write_store(tmp_path / "long.store", mc.DenseMatrix(rows()[0][:2]), names=names)
    outcome = run("predict", models / "logistic", tmp_path / "long.store")
    assert outcome.out.count("%") == 2


def test_results_do_not_replace_a_pipe_or_a_link(run, models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "mine.csv").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine.csv")
    for name, kind in (("pipe", "a pipe"), ("link", "a link")):
        outcome = run("predict", models / "hinge", models / "x.store", "-o", tmp_path / name)
        assert outcome.code == 1
        assert f"{name} is {kind}, in whose place no file is put; name a file, or leave -o away" in outcome.err
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["link", "mine.csv", "pipe"]


@pytest.mark.parametrize(("likely", "unsure"), [(0.49, True), (0.5, False), (0.9, False)])
def test_a_best_class_that_is_more_likely_wrong_than_right_is_unsure(likely, unsure):
    found = Prediction("a.png", ["cat", "dog"], [1.0, 0.5], [likely, 0.1])
    assert found.plain()["unsure"] is unsure
    assert [words.endswith(", unsure") for _, words in found.words()] == [unsure, False]


def test_nothing_is_said_of_how_sure_scores_are():
    found = Prediction("a.png", ["cat"], [0.2], None)
    assert found.unsure is None
    assert found.words() == [("cat", "0.200")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "tree.csv"
    kinds = {"owl": "bird", "cat": "beast", "dog": "beast", "fox": "beast", "bee": "insect", "ant": "insect"}
    kinds |= dict.fromkeys(("bird", "beast", "insect"), "animal")
    path.write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in kinds.items()))
    return path


def test_a_taxonomy_tells_the_deepest_node_that_is_sure(run, models, tree):
    outcome = run("predict", models / "logistic", models / "x.store", "--taxonomy", tree, "--confidence", 0.7, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    data, model = mc.open_store(models / "x.store"), mc.load(models / "logistic")
    taxa = model.predict_taxon(data.X, tree, 0.7)
    assert [line["taxon"] for line in lines] == taxa.names.tolist()
    np.testing.assert_allclose([line["taxon_probability"] for line in lines], taxa.probabilities)


def test_a_taxon_stands_in_tables_and_files(run, models, tree, tmp_path):
    words = "predict", models / "logistic", models / "x.store", "--taxonomy", tree, "--confidence", 1
    assert "surely animal, 100.0%" in " ".join(run(*words).out.split())
    assert run(*words, "-o", tmp_path / "p.csv").code == 0
    with (tmp_path / "p.csv").open(newline="") as file:
        assert {row["taxon"] for row in csv.DictReader(file)} == {"animal"}


def test_a_confidence_without_a_tree_is_refused(run, models):
    outcome = run("predict", models / "logistic", models / "x.store", "--confidence", 0.7)
    assert outcome.code == 2
    assert "--taxonomy" in outcome.err


def test_a_taxonomy_needs_probabilities_and_all_classes(run, models, tree, tmp_path):
    outcome = run("predict", models / "hinge", models / "x.store", "--taxonomy", tree)
    assert outcome.code == 1
    assert "manyclass calibrate" in outcome.err
    (tmp_path / "t.csv").write_text("child,parent\nowl,bird\n")
    outcome = run("predict", models / "logistic", models / "x.store", "--taxonomy", tmp_path / "t.csv")
    assert outcome.code == 1
    assert "it has no 'ant' and 4 more" in outcome.err


def test_a_prior_moves_the_classes_that_are_told(run, models, tmp_path):
    (tmp_path / "shares.csv").write_text("\n".join(f"{name},{1000 if name == 'owl' else 1e-9}" for name in CLASSES))
    outcome = run("predict", models / "logistic", models / "x.store", "--prior", tmp_path / "shares.csv", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert {json.loads(line)["classes"][0] for line in outcome.out.splitlines()} == {"owl"}


def test_a_prior_of_scores_without_a_meaning_asks_for_calibration(run, models):
    outcome = run("predict", models / "hinge", models / "x.store", "--prior", "uniform")
    assert outcome.code != 0
    assert "calibrate" in outcome.err


def strange(path):
    """Rows of the classes, and two that are far from all of them."""
    X, _ = rows()
    np.save(path, np.concatenate([X[:3], np.zeros((2, X.shape[1]), np.float32)]))
    return path


def test_a_set_has_as_many_classes_as_the_library_says(run, models, tmp_path):
    path = strange(tmp_path / "x.npy")
    outcome = run("predict", models / "vague", path, "--coverage", 0.9, "--json")
    assert outcome.code == 0, outcome.err
    sets = [json.loads(line)["classes"] for line in outcome.out.splitlines()]
    assert sets == [one.tolist() for one in mc.load(models / "vague").predict_set(np.load(path), 0.9)]
    assert len({len(one) for one in sets}) > 1


def test_sets_with_a_prior_are_those_of_the_library(run, models, tmp_path):
    path, shares = strange(tmp_path / "x.npy"), {name: 30.0**place for place, name in enumerate(CLASSES)}
    (tmp_path / "shares.csv").write_text("\n".join(f"{name},{share}" for name, share in shares.items()))
    outcome = run("predict", models / "vague", path, "--coverage", 0.9, "--prior", tmp_path / "shares.csv", "--json")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    model = mc.load(models / "vague").set_prior(shares)
    sets = model.predict_set(np.load(path), 0.9)
    assert [sorted(line["classes"]) for line in lines] == [sorted(one.tolist()) for one in sets]
    assert any(line["classes"] != one.tolist() for line, one in zip(lines, sets, strict=True))  # by this prior
    assert all(line["scores"] == sorted(line["scores"], reverse=True) for line in lines)


def test_sets_of_many_rows_are_lists_in_a_csv(run, models, tmp_path):
    asked = ("--coverage", 0.9, "--unknown", 0.1)
    assert run("predict", models / "logistic", models / "x.store", *asked, "-o", tmp_path / "p.csv").code == 0
    with (tmp_path / "p.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["name", "p_value", "none_of_these", "size", "classes", "probabilities"]
    assert [len(json.loads(row["classes"])) for row in table] == [int(row["size"]) for row in table]


def test_rows_that_are_like_no_class_are_said_to_be_none_of_these(run, models, tmp_path):
    outcome = run("predict", models / "logistic", strange(tmp_path / "x.npy"), "--unknown", 0.1, "--json")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    p_values = mc.load(models / "logistic").unknown_p_values(np.load(tmp_path / "x.npy"))
    np.testing.assert_allclose([line["p_value"] for line in lines], p_values)
    assert [line["none"] for line in lines] == (p_values <= 0.1).tolist()
    assert lines[3]["none"]
    assert "none of these, p = " in run("predict", models / "logistic", tmp_path / "x.npy", "--unknown", 0.1).out


@pytest.mark.parametrize(
    ("model", "asked", "words"),
    [
        ("hinge", ("--coverage", 0.9), "--coverage needs rows that training has held out"),
        ("logistic", ("--coverage", 2), "--coverage must be a number between 0 and 1; got 2"),
        ("logistic", ("--unknown", 0.001), "unknown must be at least 0.053, as 18 held-out rows tell no less"),
    ],
)
def test_what_a_model_cannot_tell_is_refused_in_one_sentence(run, models, model, asked, words):
    outcome = run("predict", models / model, models / "x.store", *asked)
    assert outcome.code == 1
    assert words in " ".join(outcome.err.split())
