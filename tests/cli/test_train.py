"""manyclass train, as a user meets it."""

import json

import numpy as np
import pytest
from cli.runs import CLASSES, OBJECTIVES, QUICK, bits, rows, store

import manyclass as mc
from manyclass.runs.records import read_record
from manyclass.solvers.batch.solve import solvers_of


@pytest.fixture
def data(tmp_path):
    return store(tmp_path / "x.store")


@pytest.mark.parametrize("options", OBJECTIVES.values(), ids=OBJECTIVES)
def test_every_objective_leaves_a_model_and_a_record(run, data, tmp_path, options):
    outcome = run("train", data, "-o", tmp_path / "run", *options)
    assert outcome.code == 0, outcome.err
    record = read_record(tmp_path / "run" / "run.json", "run")
    assert (record["status"], record["seed"], record["data"][0]["rows"]) == ("done", 0, 120)
    assert record["model"]["classes"] == len(record["embedding"]["classes"]) == 6
    assert len(record["spectrum"]) == record["rank"] > 0
    assert record["history"]
    assert len(record["grid"] or []) == (6 if "--traces" in options else 0)
    model = mc.load(tmp_path / "run")
    assert model.classes_.tolist() == sorted(CLASSES)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["model-0.safetensors", "run.json"]


def test_the_model_is_what_the_library_fits(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", "--max-epochs", 4, "--seed", 7, "--class-weight", "balanced")
    store = mc.open_store(data)
    part = np.flatnonzero(store.split == "train")
    y = np.array(CLASSES)[store.y[part]]
    model = mc.StochasticClassifier(max_epochs=4, class_weight="balanced", random_state=7).fit(store.X.rows(part), y)
    assert bits(tmp_path / "run") == model.coef_.tobytes() + model.intercept_.tobytes()


def test_classes_can_be_drawn_equally_often(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", "--sampling", "balanced", *QUICK)
    assert mc.load(tmp_path / "run").sampling == "balanced"


def test_the_part_is_said_and_can_be_chosen(run, data, tmp_path):
    assert "training on 120 rows of the part train" in run("train", data, "-o", tmp_path / "a", *QUICK).err
    assert "training on 180 rows of" in run("train", data, "-o", tmp_path / "b", "--part", "all", *QUICK).err


def test_the_command_that_tests_a_run_is_named_and_works(run, data, tmp_path):
    outcome = run("train", data, "-o", tmp_path / "run", *QUICK)
    words = f"next                 manyclass evaluate {tmp_path / 'run'} {data}"
    assert words.replace(" ", "") in "".join(outcome.out.split())
    assert run("evaluate", tmp_path / "run", data).code == 0
    assert "next" not in run("train", data, "-o", tmp_path / "json", *QUICK, "--json").out


def test_where_no_rows_are_left_to_test_it_is_said_how_to_keep_some(run, data, tmp_path):
    outcome = run("train", data, "-o", tmp_path / "run", "--part", "all", *QUICK)
    assert "of other rows; or train with --test-fraction" in " ".join(outcome.out.split())


def test_labels_of_a_file_are_named_for_the_test_too(run, tmp_path):
    X, y = rows()
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "l.npy", y)
    given = (tmp_path / "x.npy", "--labels", tmp_path / "l.npy")
    outcome = run("train", *given, "-o", tmp_path / "run", "--test-fraction", 0.2, *QUICK)
    assert f"--labels{tmp_path / 'l.npy'}" in "".join(outcome.out.split())


@pytest.mark.parametrize("validation", ["a part", "a file"])
def test_a_validation_set_takes_the_place_of_rows_held_out(run, data, tmp_path, validation):
    given = "test" if validation == "a part" else _file(tmp_path / "v.npz", n=10)
    outcome = run("train", data, "-o", tmp_path / "run", "--validation", given, *QUICK)
    assert outcome.code == 0, outcome.err
    train, judged = read_record(tmp_path / "run" / "run.json", "run")["data"]
    assert (train["role"], judged["role"], judged["rows"]) == ("train", "validation", 60)


def test_labels_come_from_a_file_too(run, tmp_path):
    X, y = rows()
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "animals.csv").write_text("\n".join(CLASSES[label] for label in y))
    outcome = run("train", tmp_path / "x.npy", "-o", tmp_path / "run", "--labels", tmp_path / "animals.csv", *QUICK)
    assert outcome.code == 0, outcome.err
    assert mc.load(tmp_path / "run").classes_.tolist() == sorted(CLASSES)


@pytest.mark.parametrize("name", ["step", "beta", "regularization"])
def test_what_is_tuned_is_on_record_and_no_worse_on_validation(run, data, tmp_path, name):
    outcome = run("train", data, "-o", tmp_path / "run", "--tune", name, "--max-epochs", 3, "--json")
    assert outcome.code == 0, outcome.err
    tried = json.loads(outcome.out)["tuning"]
    assert len(tried) >= 3
    assert {one["name"] for one in tried} == {name}
    assert len({one["value"] for one in tried}) == len(tried)
    chosen = mc.load(tmp_path / "run").get_params()[name]
    accuracy = next(one["accuracy"] for one in tried if one["value"] == (5.0 if chosen is None else chosen))
    assert accuracy >= tried[0]["accuracy"]


def test_a_tuned_value_that_chance_may_have_made_better_is_not_taken(run, data, tmp_path, monkeypatch):
    from manyclass.runs.grid_search import GridSearch

    accuracies = iter([0.900, 0.901, 0.5, 0.5, 0.5])

    def fitted(self, settings):
        found = {"step": 0.05, "beta": 3.0, "regularization": settings.get("regularization", 0.0)}
        return {"accuracy": next(accuracies), "found": found}

    monkeypatch.setattr(GridSearch, "_fit", fitted)
    run("train", data, "-o", tmp_path / "run", "--tune", "regularization", "--max-epochs", 2)
    assert mc.load(tmp_path / "run").regularization == 0.0


def test_a_tuned_value_with_which_a_fit_diverges_has_no_accuracy_and_is_not_taken(run, data, tmp_path, monkeypatch):
    fit = mc.StochasticClassifier.fit

    def diverging(self, *args, **kwargs):
        if self.regularization > 0 and not self.refit:
            raise FloatingPointError("weights grew without bound")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(mc.StochasticClassifier, "fit", diverging)
    outcome = run("train", data, "-o", tmp_path / "run", "--tune", "regularization", *QUICK)
    assert outcome.code == 0, outcome.err
    first, *others = read_record(tmp_path / "run" / "run.json", "run")["tuning"]
    assert first["accuracy"] > 0.5
    assert [one["accuracy"] for one in others] == [None] * 4
    assert all(one["value"] > 0 for one in others)
    assert mc.load(tmp_path / "run").regularization == 0.0
    assert run("info", tmp_path / "run").code == 0
    assert run("report", tmp_path / "run", "-o", tmp_path / "page.html").code == 0


def test_progress_goes_to_stderr_in_plain_lines_and_quiet_silences_it(run, data, tmp_path):
    err = run("train", data, "-o", tmp_path / "a", *QUICK).err
    assert "training: epoch" in err
    assert "training on everything: epoch" in err
    assert run("train", data, "-o", tmp_path / "b", "--quiet", *QUICK).err == ""


@pytest.mark.parametrize("options", [OBJECTIVES["trace"], OBJECTIVES["path"]], ids=["trace", "path"])
def test_batch_solvers_show_progress_too(run, data, tmp_path, options):
    err = run("train", data, "-o", tmp_path / "run", *options).err
    assert "training: step" in err or "training: pair 6 of 6" in err


def test_json_is_one_object_and_nothing_else(run, data, tmp_path):
    outcome = run("train", data, "-o", tmp_path / "run", "--json", *QUICK)
    result = json.loads(outcome.out)
    assert outcome.err == ""
    assert (result["path"], result["rows"], result["model"]["objective"]) == (str(tmp_path / "run"), 120, "ovr")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path / "missing.npy", "missing.npy"),
        (lambda path: (path / "empty").mkdir() or path / "empty", "empty must hold"),
        (
            lambda path: np.save(path / "x.npy", rows()[0]) or path / "x.npy",
            "must have labels; it has none; give a file",
        ),
        (lambda path: np.savez(path / "x.npz", X=np.ones((4, 2)), y=[1, 1, 1, 1]) or path / "x.npz", "two classes"),
        (
            lambda path: np.savez(path / "x.npz", X=np.full((4, 2), np.nan), y=[1, 2, 1, 2]) or path / "x.npz",
            "row 0 has",
        ),
    ],
    ids=["missing", "folder", "unlabeled", "one class", "nan"],
)
def test_data_that_cannot_be_used_are_one_sentence_and_exit_one(run, tmp_path, make, words):
    outcome = run("train", make(tmp_path), "-o", tmp_path / "run", "--quiet")
    assert outcome.code == 1
    assert words in outcome.err
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--part", "val"), "--part must be all or a part of"),
        (("--validation", "nothing"), "--validation must be a path or a part"),
        (("--loss", "zero"), "loss must be one of"),
        (("--step", -1), "step must be"),
        (("--step", 1e38), ""),
        (("--regularization", -1), "regularization must be a number, at least 0; got -1.0"),
        (("--labels", "missing.csv"), "no file of labels at missing.csv"),
        (("--objective", "trace", "--solver", "magic"), "solver must be one of"),
    ],
)
def test_settings_that_cannot_be_used_are_one_sentence_and_exit_one(run, data, tmp_path, options, words):
    outcome = run("train", data, "-o", tmp_path / "run", "--quiet", *options)
    assert outcome.code == 1
    assert words in outcome.err
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--objective", "best"),
        ("--tune", "everything"),
        ("--tune", "path"),
        ("--tune", "beta", "--objective", "warp"),
        ("--tune", "beta", "--beta", 3),
        ("--tune", "step", "--no-early-stopping"),
        ("--trace", 0.1),
        ("--beta", "many"),
        ("--beta", 3, "--objective", "trace"),
        ("--traces", "a,b", "--objective", "trace"),
        ("--validation", "x", "--objective", "trace"),
        ("--nothing",),
    ],
)
def test_wrong_usage_is_exit_two(run, data, tmp_path, options):
    outcome = run("train", data, "-o", tmp_path / "run", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert options[0] in outcome.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("make", [lambda out: out.write_text("mine"), lambda out: (out / "mine").mkdir(parents=True)])
def test_a_place_with_other_things_is_left_alone(run, data, tmp_path, make):
    make(tmp_path / "run")
    outcome = run("train", data, "-o", tmp_path / "run", "--overwrite", *QUICK)
    assert outcome.code == 1
    assert "choose another name" in outcome.err


def test_help_teaches(run):
    out = run("train", "--help").out
    for word in (
        "--objective",
        "--tune",
        "--resume",
        "--config",
        "--max-epochs",
        "--traces",
        "Example: manyclass train",
    ):
        assert word in out


def test_help_names_every_solver(run):
    words = run("train", "--help").out.replace(",", " ").split()
    assert set(solvers_of(mc.TraceNorm(1.0))) <= {word.strip(".") for word in words}


def _file(path, n=30, **more):
    X, y = rows(seed=1, n=n)
    np.savez(path, features=X, labels=np.array(CLASSES)[y], **more)
    return path


def test_validation_data_gives_its_validation_part(run, data, tmp_path):
    given = _file(tmp_path / "v.npz", split=np.array(["train", "val", "test"] * 60))
    assert run("train", data, "-o", tmp_path / "run", "--validation", given, *QUICK).code == 0
    judged = read_record(tmp_path / "run" / "run.json", "run")["data"][1]
    assert (judged["part"], judged["rows"]) == ("val", 60)


def test_a_test_part_is_never_chosen_by_itself_to_stop_by(run, data, tmp_path):
    given = _file(tmp_path / "v.npz", split=np.array(["train", "test"] * 90))
    outcome = run("train", data, "-o", tmp_path / "run", "--validation", given, *QUICK)
    assert outcome.code == 1
    assert "must have a part val, or no part test" in outcome.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("given", ["train", "x.store", "all"])
def test_rows_to_train_on_are_no_validation(run, tmp_path, given):
    data = _file(tmp_path / "x.npz", split=np.array(["train"] * 180))
    given = data if given == "x.store" else given
    outcome = run("train", data, "-o", tmp_path / "run", "--validation", given, *QUICK)
    assert outcome.code == 1
    assert "--validation must be other rows than those to train on" in outcome.err


@pytest.mark.parametrize("option", [("--loss", "logistic"), ("--beta", 3)], ids=str)
@pytest.mark.parametrize("objective", ["multiclass", "ranking", "warp", "softmax"])
def test_options_of_one_vs_rest_go_with_nothing_else(run, data, tmp_path, objective, option):
    outcome = run("train", data, "-o", tmp_path / "run", "--objective", objective, *option)
    assert outcome.code == 2
    assert f"{option[0]} does not go with --objective {objective}" in outcome.err


@pytest.mark.parametrize("option", [("--step", "nan"), ("--step", "inf"), ("--beta", "nan")], ids=str)
def test_a_number_that_is_not_finite_is_refused(run, data, tmp_path, option):
    outcome = run("train", data, "-o", tmp_path / "run", *option)
    assert outcome.code == 2
    assert f"{option[0]} must be a number or auto" in outcome.err


@pytest.mark.parametrize("word", ["none", "inf"])
def test_all_negatives_are_asked_for_by_none_or_infinity(run, data, tmp_path, word):
    assert run("train", data, "-o", tmp_path / "run", *QUICK, "--beta", word).code == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["settings"]["beta"] is record["model"]["beta"] is None


def test_no_loss_is_told_of_an_objective_that_has_none(run, data, tmp_path):
    outcome = run("train", data, "-o", tmp_path / "run", *OBJECTIVES["softmax"])
    assert "softmax" in outcome.out
    assert "hinge" not in outcome.out


@pytest.mark.parametrize(("folder", "way_out"), [("pictures", "manyclass features"), ("run", "it holds a run")])
def test_a_folder_of_something_else_is_told_for_what_it_is(run, data, tmp_path, folder, way_out):
    (tmp_path / "pictures" / "cat").mkdir(parents=True)
    (tmp_path / "pictures" / "cat" / "1.jpg").touch()
    run("train", data, "-o", tmp_path / "run", *QUICK)
    commands = ("train",) if folder == "run" else ("train", "compress")  # a run is compressed to a head
    for command in commands:
        outcome = run(command, tmp_path / folder, "-o", tmp_path / "new")
        assert outcome.code == 1
        assert way_out in outcome.err


def test_a_cluster_that_is_not_there_is_a_sentence(run, data, tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    found = run("train", data, "-o", tmp_path / "run", "--ray", "127.0.0.1:1")
    assert found.code == 1
    # Other tests of this process may have begun a cluster.
    words = ("manyclass: no Ray cluster answers at 127.0.0.1:1", "manyclass: this process belongs to a Ray cluster")
    assert found.err.startswith(words)
    assert not (tmp_path / "run").exists()


def test_a_prior_is_kept_with_the_run(run, tmp_path):
    data = store(tmp_path / "x.store")
    outcome = run("train", data, "-o", tmp_path / "run", *QUICK, "--prior", "uniform")
    assert outcome.code == 0
    np.testing.assert_allclose(mc.load(tmp_path / "run").prior_, 1 / 6)


def test_a_center_is_read_and_named_in_the_record(run, tmp_path):
    data = store(tmp_path / "x.store")
    np.save(tmp_path / "text.npy", np.random.default_rng(0).normal(size=(6, 8)))
    words = ("--objective", "square", "--center", tmp_path / "text.npy")
    assert run("train", data, "-o", tmp_path / "run", *words).code == 0
    assert mc.load(tmp_path / "run").center.shape == (6, 8)
    outcome = run("train", data, "-o", tmp_path / "other", "--center", tmp_path / "text.npy")
    assert outcome.code != 0
    assert "--center goes with --objective square" in outcome.err
