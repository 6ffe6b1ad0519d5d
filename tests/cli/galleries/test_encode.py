"""manyclass encode, as a user meets it."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass.runs.records import read_record
from manyclass.runs.sources import retrieval_file
from tests.cli import encode_child
from tests.cli.gallery_data import CLASSES, SMALL, labeled, world, write_album, write_store


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "x.store").path


@pytest.fixture
def negatives(tmp_path):
    np.save(tmp_path / "world.npy", world())
    return tmp_path / "world.npy"


@pytest.fixture
def plain(tmp_path):
    np.save(tmp_path / "plain.npy", labeled()[0])
    return tmp_path / "plain.npy"


def contents_of(path):
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


ENCODERS = {
    "slem": lambda: mc.SquareLossExemplar(regularization=0.1, random_state=0),
    "kernel-slem": lambda: mc.KernelSquareLossExemplar(regularization=0.1, gamma=0.01, random_state=0),
    "lda": lambda: mc.ExemplarLDA(random_state=0),
    "esvm": lambda: mc.ExemplarSVM(regularization=0.1, n_steps=50, random_state=0),
    "whitening": lambda: mc.WhitenedPCA(n_components=5, random_state=0),
}
OPTIONS = {
    "slem": ("--regularization", 0.1),
    "kernel-slem": ("--regularization", 0.1, "--gamma", 0.01),
    "lda": ("--no-tune",),
    "esvm": ("--regularization", 0.1, "--n-steps", 50),
    "whitening": ("--n-components", 5),
}


@pytest.mark.parametrize("method", list(ENCODERS))
def test_the_gallery_is_what_the_library_makes_of_the_same_settings(run, store, negatives, tmp_path, method):
    outcome = run("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--method", method, *OPTIONS[method])
    assert outcome.code == 0, outcome.err
    expected = mc.Gallery(ENCODERS[method]().fit(world()))
    expected.add(labeled()[0], ids=list(mc.open_store(store).names))
    g = mc.Gallery.open(tmp_path / "g")
    assert g.ids.tolist() == expected.ids.tolist()
    assert_array_equal(g.codes(g.ids), expected.codes(expected.ids))
    assert g.metadata(g.ids[[0, 9]]) == [{"class": "class 0"}, {"class": "class 1"}]


def test_vectors_as_they_are_come_with_negatives_to_be_judged_by(run, store, negatives, tmp_path):
    assert run("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--method", "none").code == 0
    g = mc.Gallery.open(tmp_path / "g")
    assert g.encoder is None
    assert g.search(labeled()[0][:3], k=1).percentiles.tolist() == [[100.0]] * 3


def test_a_part_of_the_data_serves_as_negatives_and_this_is_said(run, plain, tmp_path):
    outcome = run("encode", plain, "-o", tmp_path / "g")
    assert outcome.code == 0
    assert "48 of the 96 rows of" in outcome.err
    assert "--negatives names others" in outcome.err
    assert mc.Gallery.open(tmp_path / "g").ids.tolist() == list(range(96))


def test_the_training_part_serves_as_negatives_where_there_is_one(run, tmp_path):
    split = np.array(["train", "test", "train"] * 32)
    store = write_store(tmp_path / "x.store", split=split.tolist()).path
    outcome = run("encode", store, "-o", tmp_path / "g", "--json")
    assert (json.loads(outcome.out)["negatives"], outcome.err) == (64, "")
    g = mc.Gallery.open(tmp_path / "g")
    np.testing.assert_allclose(g.encoder.mean_, labeled()[0][split == "train"].astype(float).mean(axis=0), rtol=1e-6)
    assert g.metadata(g.ids[1:2]) == [{"class": "class 1", "split": "test"}]


@pytest.mark.parametrize(("method", "n"), [("slem", 60), ("none", 60)])
def test_a_sample_bounds_the_negatives(run, store, negatives, tmp_path, method, n):
    result = run(
        "encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--sample", n, "--method", method, "--json"
    )
    assert json.loads(result.out)["negatives"] == n


def test_methods_are_compared_and_the_best_is_kept(run, store, negatives, tmp_path):
    methods = ("slem", "whitening", "none")
    common = ("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--evaluate")
    outcome = run(*common, "--method", ",".join(methods))
    assert outcome.code == 0, outcome.err
    record = read_record(retrieval_file(tmp_path / "g"), "retrieval")
    found = [method["map"] for method in record["methods"]]
    assert {method["name"] for method in record["methods"]} == set(methods)
    assert found == sorted(found, reverse=True)
    assert [data["role"] for data in record["data"]] == ["gallery", "negatives"]
    best = record["methods"][0]["name"]
    assert re.search(rf"kept\W+{best}", outcome.out)
    kinds = {"slem": mc.SquareLossExemplar, "whitening": mc.WhitenedPCA, "none": type(None)}
    assert isinstance(mc.Gallery.open(tmp_path / "g").encoder, kinds[best])
    assert run("verify", tmp_path / "g").code == 0
    for method in record["methods"]:
        assert method["low"] <= method["map"] <= method["high"]
        assert f"{100 * method['map']:.1f}" in outcome.out


def test_the_measure_is_leave_one_out_mean_average_precision(run, store, negatives, tmp_path):
    arguments = ("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--method", "whitening,none")
    methods = json.loads(run(*arguments, "--evaluate", "--json").out)["evaluation"]["methods"]
    X, y = labeled()
    truth = mc.evaluation.Truth.from_labels(y, y, rows=list(range(96)))
    Z = mc.WhitenedPCA(random_state=0).fit(world()).transform(X)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = [mc.evaluation.average_precisions(C @ C.T, truth, "holidays") for C in (Z, U)]
    names = ["whitening", "none"] if expected[0].mean() >= expected[1].mean() else ["none", "whitening"]
    assert [method["name"] for method in methods] == names
    expected = expected if names[0] == "whitening" else expected[::-1]
    assert [method["map"] for method in methods] == pytest.approx([a.mean() for a in expected], abs=1e-6)
    groups = np.array(CLASSES)[y]  # images of a class are drawn together
    paired = mc.evaluation.paired_bootstrap(expected[1], expected[0], random_state=0, groups=groups)
    assert methods[1]["against"] == pytest.approx({"method": names[0], **paired._asdict()}, abs=1e-6)


def test_negatives_of_the_data_are_neither_asked_for_nor_found(run, store, tmp_path):
    result = json.loads(run("encode", store, "-o", tmp_path / "g", "--evaluate", "--json").out)
    assert "queries against 48 images" in result["evaluation"]["protocol"]


def test_strips_show_queries_with_right_and_wrong_results(run, store, negatives, tmp_path):
    run("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--evaluate")
    record = read_record(retrieval_file(tmp_path / "g"), "retrieval")
    g = mc.Gallery.open(tmp_path / "g")
    for query in record["queries"]:
        found = g.search_ids(query["name"], k=8).ids[0].tolist()
        assert [result["name"] for result in query["results"]] == found
        assert all(result["right"] == (result["class"] == query["class"]) for result in query["results"])


def test_settings_are_tuned_by_labels(run, store, negatives, tmp_path):
    result = json.loads(run("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--tune", "--json").out)
    X, y = labeled()
    expected = mc.exemplar.calibrate(mc.SquareLossExemplar(random_state=0), world(), X, np.array(CLASSES)[y])
    assert result["tuned"] == expected.calibration_
    assert mc.Gallery.open(tmp_path / "g").encoder.regularization == expected.regularization


def test_what_has_nothing_to_tune_is_fitted_as_it_is(run, store, tmp_path):
    result = run("encode", store, "-o", tmp_path / "g", "--tune", "--method", "none", "--json")
    assert (result.code, json.loads(result.out)["tuned"]) == (0, [])


def test_classes_that_settings_are_chosen_by_do_not_judge_them(run, store, negatives, tmp_path):
    arguments = ("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--tune", "--evaluate", "--json")
    result = json.loads(run(*arguments).out)
    assert "48 queries against 48 images" in result["evaluation"]["protocol"]
    assert len({query["class"] for query in read_record(retrieval_file(tmp_path / "g"), "retrieval")["queries"]}) <= 4


def test_rows_are_added_and_removed_at_once_and_answer_as_a_gallery_made_afresh(run, store, negatives, tmp_path):
    write_store(tmp_path / "more.store", 16, seed=5, prefix="new ")
    run("encode", store, "--negatives", negatives, "-o", tmp_path / "g", "--method", "slem", "--no-tune")
    outcome = run(
        "encode", tmp_path / "more.store", "-o", tmp_path / "g", "--add", "--remove", "class 0/000.png", "--json"
    )
    assert {"added": 16, "removed": 1, "images": 111}.items() <= json.loads(outcome.out).items()
    g = mc.Gallery.open(tmp_path / "g")
    expected = mc.Gallery(mc.SquareLossExemplar(random_state=0).fit(world()))
    expected.add(np.vstack([labeled()[0][1:], labeled(16, seed=5)[0]]))
    assert_array_equal(g.codes(g.ids), expected.codes(expected.ids))
    assert g.metadata("class 3/new 003.png") == [{"class": "class 3"}]


def test_numbers_count_on(run, plain, tmp_path):
    run("encode", plain, "-o", tmp_path / "g")
    assert run("encode", "-o", tmp_path / "g", "--remove", 5, "--remove", 50).code == 0
    assert run("encode", plain, "-o", tmp_path / "g", "--add").code == 0
    assert sorted(mc.Gallery.open(tmp_path / "g").ids.tolist()) == sorted(set(range(192)) - {5, 50})


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """A folder of photographs, and the arguments that make its features."""
    folder = tmp_path_factory.mktemp("encode")
    return write_album(folder / "photos"), folder


def test_the_encoder_of_pictures_goes_into_the_gallery_also_by_way_of_a_compressed_store(run, album, tmp_path):
    photos, _ = album
    assert run("features", photos, "-o", tmp_path / "a.store", *SMALL).code == 0
    assert run("compress", tmp_path / "a.store", "-o", tmp_path / "small.store").code == 0
    for name in ("a.store", "small.store"):
        outcome = run("encode", tmp_path / name, "-o", tmp_path / f"{name}.g", "--json")
        result = json.loads(outcome.out)
        assert (result["search_by_pictures"], result["pictures"]) == (True, str(photos))
    shutil.rmtree(tmp_path / "a.store")
    g = mc.Gallery.open(tmp_path / "a.store.g")
    assert g.search_images([photos / "class 1" / "05.png"], k=1).ids.tolist() == [["class 1/05.png"]]


def test_the_gallery_is_the_same_for_any_number_of_threads(run, store, tmp_path):
    for threads in (1, 2):
        assert run("encode", store, "-o", tmp_path / f"{threads}", "--threads", threads).code == 0
    assert contents_of(tmp_path / "1") == contents_of(tmp_path / "2")


def test_a_gallery_that_is_there_is_kept_unless_it_may_be_replaced(run, store, tmp_path):
    arguments = ("encode", store, "-o", tmp_path / "g", "--evaluate")
    assert run(*arguments).code == 0
    before = contents_of(tmp_path / "g")
    refused = run(*arguments)
    assert refused.code == 1
    assert "is there already; add --overwrite to replace it, or --add to add to it" in refused.err
    assert contents_of(tmp_path / "g") == before
    assert run("encode", store, "-o", tmp_path / "g", "--overwrite").code == 0
    assert retrieval_file(tmp_path / "g") is None


def _no_labels(tmp_path):
    np.save(tmp_path / "a.npy", labeled()[0])
    return (tmp_path / "a.npy", "--evaluate"), "--evaluate needs labels"


def _other_columns(tmp_path):
    np.save(tmp_path / "b.npy", world(d=5))
    return (write_store(tmp_path / "b.store").path, "--negatives", tmp_path / "b.npy"), "must have 12 columns"


def _names_twice(tmp_path):
    mc.write_store(tmp_path / "c.store", labeled()[0], names=["same"] * 96)
    return (tmp_path / "c.store",), "got 'same' twice"


def _not_an_encoder(tmp_path):
    mc.ExemplarLDA().fit(world()).save(tmp_path / "lda")
    return (write_store(tmp_path / "d.store").path, "--encoder", tmp_path / "lda"), "must be an encoder of pictures"


def _singles(tmp_path):
    np.savez(tmp_path / "e.npz", X=labeled()[0], labels=np.arange(96))
    return (tmp_path / "e.npz", "--evaluate"), "two images of one class"


def _few_classes(tmp_path):
    np.savez(tmp_path / "f.npz", X=labeled()[0], labels=np.arange(96) % 2)
    return (tmp_path / "f.npz", "--evaluate", "--tune"), "needs at least 4 classes"


def _pictures(tmp_path):
    return (write_album(tmp_path / "photos"),), f"make features of them first: manyclass features {tmp_path}/photos"


BAD = [_pictures, _no_labels, _other_columns, _names_twice, _not_an_encoder, _singles, _few_classes]


@pytest.mark.parametrize("make", BAD)
def test_bad_data_is_one_sentence_and_leaves_nothing(run, tmp_path, make):
    arguments, words = make(tmp_path)
    outcome = run("encode", *arguments, "-o", tmp_path / "g", "--quiet")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1
    assert words in outcome.err
    assert not (tmp_path / "g").exists()


@pytest.mark.parametrize("source", ["missing", "folder", "notes.txt", "g"])
def test_what_holds_no_features_is_one_sentence(run, store, tmp_path, source):
    run("encode", store, "-o", tmp_path / "g")
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").touch()
    outcome = run("encode", tmp_path / source, "-o", tmp_path / "new")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert source in outcome.err


@pytest.mark.parametrize("place", ["file", "full"])
def test_a_place_that_is_taken_is_refused_before_anything_is_learned(run, store, tmp_path, place, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    monkeypatch.setattr(mc.SquareLossExemplar, "fit", None)
    outcome = run("encode", store, "-o", tmp_path / place, "--overwrite")
    assert outcome.code == 1
    assert "choose another name" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "slam"), "did you mean slem?"),
        (("--method", "slem,slem", "--evaluate"), "every method once"),
        (("--method", "slem,lda"), "--method must name one method; add --evaluate"),
        (("--gamma", 2), "--gamma does not go with --method slem"),
        (("--method", "kernel-slem", "--kernel", "sinus"), "--kernel"),
        (("--regularization", -1), "--regularization"),
        (("--add", "--method", "lda"), "--method does not go with --add"),
        (("--add", "--ray", "local"), "--ray makes a new gallery; without it this machine adds and removes images"),
        (("--shard", "1/2", "--ray", "local"), "--shard does not go with --ray, which makes parts of its own"),
        (("--workers", 2), "--workers is of a cluster; give --ray local for processes of this machine"),
        (("--remove", "x"), "--remove does not use"),
    ],
)
def test_wrong_usage_is_two(run, store, tmp_path, arguments, words):
    outcome = run("encode", store, "-o", tmp_path / "g", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.replace("│", " ").split())


@pytest.mark.parametrize("arguments", [(), ("--add",)])
def test_without_data_there_is_nothing_to_encode(run, tmp_path, arguments):
    outcome = run("encode", "-o", tmp_path / "g", *arguments)
    assert outcome.code == 2
    assert "DATA" in outcome.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--remove", "class 0/000.pgn"), "did you mean class 0/000.png?"),
        (("x.store", "--add"), "is in g already: remove it first with --remove"),
        (("plain.npy", "--add"), "must know its rows by names"),
        (("narrow.npy", "--add"), "must have 12 columns, as g has; got 5"),
    ],
)
def test_a_change_that_cannot_be_is_one_sentence_and_changes_nothing(
    run, store, plain, tmp_path, monkeypatch, words, said
):
    np.save(tmp_path / "narrow.npy", world(d=5))
    monkeypatch.chdir(tmp_path)
    run("encode", "x.store", "-o", "g")
    before = contents_of("g")
    outcome = run("encode", *words, "-o", "g")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert said in outcome.err
    assert contents_of("g") == before


def test_to_change_what_is_no_gallery_is_one_sentence(run, tmp_path):
    outcome = run("encode", "-o", tmp_path / "none", "--remove", "x")
    assert outcome.code == 1
    assert "is not a gallery" in outcome.err


def test_an_interrupted_change_leaves_the_gallery_as_it_was(run, store, tmp_path, monkeypatch):
    @contextmanager
    def progress(console, what, unit):
        def report(done, total):
            raise KeyboardInterrupt

        yield report

    run("encode", store, "-o", tmp_path / "g")
    before = contents_of(tmp_path / "g")
    write_store(tmp_path / "more.store", 16, seed=5, prefix="new ")
    monkeypatch.setattr("manyclass.cli.terminal.console.Console.progress", progress)
    outcome = run("encode", tmp_path / "more.store", "-o", tmp_path / "g", "--add")
    assert (outcome.code, outcome.err.count("\n")) == (130, 1)
    assert "give the same command again" in outcome.err
    assert contents_of(tmp_path / "g") == before


def test_killed_at_any_rename_the_same_command_again_gives_the_same_codes(run, store, tmp_path):
    words = ("encode", store, "-o", "gallery", "--method", "slem,none", "--evaluate", "--quiet")
    (tmp_path / "runs").mkdir()
    command = [sys.executable, "-B", encode_child.__file__, tmp_path / "runs", *words]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    *killed, whole = sorted((tmp_path / "runs").iterdir(), key=lambda path: int(path.name))
    assert len(killed) > 4
    expected = mc.Gallery.open(whole / "gallery")
    for folder in killed:
        assert not (folder / "gallery" / "manifest.json").exists()
        assert run("encode", store, "-o", folder / "gallery", *words[4:]).code == 0
        g = mc.Gallery.open(folder / "gallery")
        assert g.ids.tolist() == expected.ids.tolist()
        assert g.codes(g.ids).tobytes() == expected.codes(expected.ids).tobytes()
        assert read_record(retrieval_file(folder / "gallery"), "retrieval")["methods"]


def test_info_tells_of_a_gallery_and_verify_finds_a_flipped_bit(run, store, tmp_path):
    run("encode", store, "-o", tmp_path / "g")
    result = json.loads(run("info", tmp_path / "g", "--json").out)
    assert {"format": "manyclass gallery", "images": 96, "columns": 12, "classes": 8, "ids": "names"}.items() <= (
        result.items()
    )
    assert "SquareLossExemplar" in run("info", tmp_path / "g").out
    assert json.loads(run("verify", tmp_path / "g", "--json").out)["good"]
    codes = next((tmp_path / "g").glob("X-*.npy"))
    content = bytearray(codes.read_bytes())
    content[-1] ^= 1
    codes.write_bytes(content)
    outcome = run("verify", tmp_path / "g")
    assert outcome.code == 1
    assert codes.name in outcome.out
    assert "is damaged" in run("info", tmp_path / "g").err


def test_help_teaches(run):
    outcome = run("encode", "--help")
    assert outcome.code == 0
    for word in (
        "--negatives",
        "kernel-slem",
        "--evaluate",
        "--tune",
        "--add",
        "--remove",
        "Example: manyclass encode",
    ):
        assert word in outcome.out


def test_an_index_is_made_changed_and_dropped_and_info_tells_of_it(run, tmp_path):
    pytest.importorskip("faiss")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((1200, 8)))
    made = run("encode", tmp_path / "x.npy", "-o", tmp_path / "g", "--method", "none", "--index", "ivf", "--json")
    assert json.loads(made.out)["index"]["kind"] == "ivf"
    told = json.loads(run("info", tmp_path / "g", "--json").out)
    assert told["index"]["recall"] >= 0.95
    assert told["own_background"] is True
    changed = run("encode", "-o", tmp_path / "g", "--index", "hnsw")
    assert "finds" in changed.out
    assert mc.Gallery.open(tmp_path / "g").index == "hnsw"
    assert run("verify", tmp_path / "g").code == 0
    assert run("encode", "-o", tmp_path / "g", "--index", "exact").code == 0
    assert mc.Gallery.open(tmp_path / "g").index is None


def test_a_kind_of_index_that_is_none_is_told_before_anything_is_learned(run, plain, tmp_path):
    pytest.importorskip("faiss")
    outcome = run("encode", plain, "-o", tmp_path / "g", "--index", "tree")
    assert outcome.code == 1
    assert "index must be exact, hnsw, ivf, pq4" in " ".join(outcome.err.split())
    assert "learning" not in outcome.err
    assert not (tmp_path / "g").exists()


def test_the_index_of_a_part_is_refused(run, plain, tmp_path):
    pytest.importorskip("faiss")
    outcome = run("encode", plain, "-o", tmp_path / "g", "--index", "hnsw", "--shard", "1/2")
    assert outcome.code == 2
    assert "--index does not go with --shard" in " ".join(outcome.err.replace("│", " ").split())
