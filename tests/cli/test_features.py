import errno
import itertools
import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass.runs.provenance import encoder_file
from tests.features import networks
from tests.features.hostile import picture, saved

SMALL = ("--n-words", 4, "--descriptors", "sift", "--n-samples", 2000, "--n-components", 8, "--scales", 2)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Two classes of eight photographs, and a file that is none."""
    root = tmp_path_factory.mktemp("cli") / "photos"
    for i in range(16):
        path = root / f"class {i % 2}" / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(i).integers(0, 40, (60, 70, 3), np.uint8)
        path.write_bytes(saved(picture(60, 70, seed=i) // 2 + noise, "PNG"))
    (root / "class 1" / "notes.txt").write_text("not a picture")
    return root


def contents_of(path):
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


@pytest.mark.parametrize(("kind", "d"), [("fisher", 2 * 4 * 8), ("bow", 4), ("vlad", 4 * 8)])
def test_a_folder_becomes_a_store_with_labels_and_names(run, photos, tmp_path, kind, d):
    outcome = run("features", photos, "-o", tmp_path / "a.store", "--kind", kind, *SMALL, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["images"], result["rows"], result["dimensions"], result["classes"]) == (17, 16, d, 2)
    assert result["skipped"] == [
        {
            "name": "class 1/notes.txt",
            "reason": "is not an image in a supported format (JPEG, PNG, WEBP, GIF, BMP, TIFF)",
        }
    ]
    store = mc.open_store(tmp_path / "a.store")
    assert store.classes == ["class 0", "class 1"]
    assert list(store.names[:2]) == ["class 0/00.png", "class 0/02.png"]


def test_a_store_among_its_own_pictures_may_be_written_again(run, photos, tmp_path):
    folder = tmp_path / "photos"
    shutil.copytree(photos, folder)
    for more in ((), ("--overwrite",)):
        outcome = run("features", folder, "-o", folder / "a.store", *SMALL, "--json", *more)
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["images"] == 17


def test_the_store_is_what_the_library_makes_of_the_same_settings(run, photos, tmp_path):
    run("features", photos, "-o", tmp_path / "a.store", *SMALL, "--pyramid", "1x1,2x2", "--patch", 16, "--seed", 5)
    settings = {"n_components": 8, "n_samples": 2000, "scales": 2, "patch": 16, "random_state": 5}
    encoder = mc.FisherVectors(n_gaussians=4, descriptors=("sift",), pyramid=("1x1", "2x2"), **settings)
    paths = mc.datasets.read_images(photos).paths
    encoder.fit(paths)
    assert_array_equal(mc.open_store(tmp_path / "a.store").X.toarray(), encoder.transform(paths[:-1]))


def test_a_table_shows_what_was_done_and_what_was_skipped(run, photos, tmp_path):
    outcome = run("features", photos, "-o", tmp_path / "a.store", *SMALL, "--quiet")
    assert outcome.code == 0
    assert "16 of 64 numbers" in outcome.out
    assert "images/s" in outcome.out
    assert "'class 1/notes.txt'" in outcome.out
    assert outcome.err == ""


def test_the_encoder_is_kept_and_encodes_other_pictures_alike(run, photos, tmp_path):
    assert run("features", photos, "-o", tmp_path / "a.store", *SMALL).code == 0
    again = run("features", photos, "-o", tmp_path / "b.store", "--kind", tmp_path / "a.store")
    assert again.code == 0, again.err
    a, b = (mc.open_store(tmp_path / name) for name in ("a.store", "b.store"))
    assert_array_equal(a.X.toarray(), b.X.toarray())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.store", "b.store"]


def test_it_learns_from_the_training_part_alone(run, photos, tmp_path):
    for part, taken in (("train", slice(0, 6)), ("test", slice(6, 9))):
        for path in sorted((photos / "class 0").iterdir())[taken]:
            (tmp_path / "p" / part / "a").mkdir(parents=True, exist_ok=True)
            (tmp_path / "p" / part / "a" / path.name).write_bytes(path.read_bytes())
    assert run("features", tmp_path / "p", "-o", tmp_path / "a.store", *SMALL).code == 0
    assert run("features", tmp_path / "p" / "train", "-o", tmp_path / "b.store", *SMALL).code == 0
    a, b = (mc.load(encoder_file(tmp_path / f"{name}.store")) for name in "ab")
    assert_array_equal(a.encode(picture(50, 60)), b.encode(picture(50, 60)))
    assert sorted(set(mc.open_store(tmp_path / "a.store").split.tolist())) == ["test", "train"]


def test_a_network_is_a_kind_too(run, photos, tmp_path):
    net = networks.tiny(tmp_path / "net.onnx")
    outcome = run("features", photos, "-o", tmp_path / "a.store", "--kind", net, "--pooling", "max", "--batch-size", 3)
    assert outcome.code == 0, outcome.err
    expected = mc.OnnxFeatures(net, pooling="max").encode(mc.read_image(photos / "class 0" / "00.png"))
    np.testing.assert_allclose(mc.open_store(tmp_path / "a.store").X.rows(0), expected, rtol=1e-5)
    raw = run("features", photos, "-o", tmp_path / "b.store", "--kind", net, "--pooling", "none", "--json")
    assert json.loads(raw.out)["dimensions"] == 2


def test_rows_that_pixels_of_a_wrong_range_make_nearly_alike_are_warned_of(run, tmp_path):
    for i, color in enumerate(((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0), (0, 255, 255), (255, 0, 255))):
        path = tmp_path / "colors" / f"{i}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(saved(np.full((40, 40, 3), color, np.uint8), "PNG"))
    net = networks.tiny(tmp_path / "net.onnx")
    command = ("features", path.parent, "-o", tmp_path / "a.store", "--kind", net, "--overwrite", "--quiet")
    assert run(*command).err == ""
    far = run(*command, "--mean", "100,100,100")
    assert far.code == 0
    assert "rows are nearly all alike (a median cosine of 1.000)" in far.err
    assert "try another --preset" in far.err
    assert mc.open_store(tmp_path / "a.store").shape[0] == 6


def test_the_time_of_both_passes_is_told_and_the_rate_is_that_of_encoding(run, photos, tmp_path):
    command = ("features", photos, "-o", tmp_path / "a.store", "--overwrite", *SMALL)
    result = json.loads(run(*command, "--json").out)
    learning, encoding = result["learning_seconds"], result["encoding_seconds"]
    assert 0 < learning < result["seconds"]
    assert 0 < encoding < result["seconds"]
    assert learning + encoding <= result["seconds"]
    assert result["images_per_second"] == pytest.approx(17 / encoding)
    words = [line.split()[0] for line in run(*command, "--quiet").out.splitlines()]
    assert words.index("learning") + 1 == words.index("encoding")
    alike = ("features", photos, "-o", tmp_path / "b.store", "--kind", tmp_path / "a.store", "--json")
    assert "learning_seconds" not in json.loads(run(*alike).out)


@pytest.mark.parametrize(("codes", "n_bytes"), [("product", 8), ("scalar", 64)])
def test_codes_are_written_instead_of_numbers(run, photos, tmp_path, codes, n_bytes):
    outcome = run("features", photos, "-o", tmp_path / "a.store", *SMALL, "--codes", codes, "--block", 8)
    assert outcome.code == 0, outcome.err
    store = mc.open_store(tmp_path / "a.store")
    assert store.shape == (16, 64)
    assert store.quantizer.code_size == n_bytes


def test_a_store_that_is_there_is_kept_unless_it_may_be_replaced(run, photos, tmp_path):
    arguments = ("features", photos, "-o", tmp_path / "a.store", *SMALL)
    assert run(*arguments).code == 0
    before = contents_of(tmp_path / "a.store")
    refused = run(*arguments)
    assert refused.code == 1
    assert "a.store is there already; add --overwrite" in refused.err
    assert contents_of(tmp_path / "a.store") == before
    assert run(*arguments, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "sift"), "--kind must be one of"),
        (("--kind", "vlad", "--layer", "x"), "--layer does not go with --kind vlad"),
        (("--kind", "net.onnx", "--n-words", 5), "--n-words does not go with --kind net.onnx"),
        (("--n-words", 0), "--n-words"),
        (("--codes", "zip"), "--codes"),
    ],
)
def test_wrong_usage_is_two(run, photos, tmp_path, arguments, words):
    outcome = run("features", photos, "-o", tmp_path / "a.store", *arguments)
    assert outcome.code == 2
    assert words in outcome.err


@pytest.mark.parametrize("source", ["nothing", "empty", "bad"])
def test_a_source_without_pictures_is_one_sentence(run, tmp_path, source):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.jpg").write_bytes(b"bad")
    outcome = run("features", tmp_path / source, "-o", tmp_path / "a.store", *SMALL, "--quiet")
    assert outcome.code == 1
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1


def _store(path):
    mc.write_store(path, np.ones((4, 3), np.float32), y=np.arange(4) % 2)


def _gallery(path):
    gallery = mc.Gallery(mc.WhitenedPCA(2).fit(np.random.default_rng(0).standard_normal((9, 3))))
    gallery.save(path)


def _run(path):
    from report.synthetic import write_run

    write_run(path)


def _model(path):
    mc.WhitenedPCA(2).fit(np.random.default_rng(0).standard_normal((9, 3))).save(path)


def _array(path):
    np.save(path, np.ones((4, 3)))


MADE = {
    "a.store": (_store, "is a store of features already; learn from it: manyclass train"),
    "gallery": (_gallery, "is a gallery; search it: manyclass search"),
    "run": (_run, "is a run of manyclass train; use it: manyclass predict"),
    "model": (_model, "is a model; see what it is for: manyclass info"),
    "x.npy": (_array, "is a file of features already; learn from it: manyclass train"),
}


@pytest.mark.parametrize("name", MADE)
def test_what_other_commands_take_is_told_for_what_it_is(run, tmp_path, name):
    make, words = MADE[name]
    make(tmp_path / name)
    outcome = run("features", tmp_path / name, "-o", tmp_path / "out.store", *SMALL)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"manyclass: {tmp_path / name} must hold pictures, and it {words}")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out.store").exists()


@pytest.mark.parametrize("name", ["manifest.json", "run.json", "journal"])
def test_a_file_of_another_program_does_not_make_a_folder_of_pictures_ours(run, photos, tmp_path, name):
    shutil.copytree(photos, tmp_path / "photos")
    (tmp_path / "photos" / name).write_text('{"format": "of another program"}')
    assert run("features", tmp_path / "photos", "-o", tmp_path / "a.store", "--kind", "bow", *SMALL).code == 0


def test_help_teaches(run):
    outcome = run("features", "--help")
    assert outcome.code == 0
    for word in ("--kind", "fisher", "--resume", "--restart", "--json", "skipped", "Example: manyclass features"):
        assert word in outcome.out


def test_an_overwrite_that_fails_at_the_last_moment_leaves_a_store_whose_pictures_find_themselves(
    run, photos, tmp_path, monkeypatch
):
    arguments, replace = ("features", photos, "-o", tmp_path / "a.store", *SMALL), os.replace

    def refuse(source, target):
        if Path(target).name == "manifest.json":
            raise OSError(errno.EIO, "Input/output error", str(source))
        replace(source, target)

    assert run(*arguments).code == 0
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        refused = run(*arguments, "--seed", 1, "--overwrite")
        assert (refused.code, refused.err.count("manyclass: ")) == (1, 1)
    assert run("encode", tmp_path / "a.store", "-o", tmp_path / "g", "--method", "none").code == 0
    found = run("search", tmp_path / "g", photos / "class 0" / "04.png", "-k", 1, "--json")
    assert found.code == 0, found.err
    hit = json.loads(found.out)["queries"][0]["hits"][0]
    assert (hit["id"], round(hit["score"], 4)) == ("class 0/04.png", 1.0)
    assert run("verify", tmp_path / "a.store").code == 0
    assert run(*arguments, "--seed", 1, "--overwrite").code == 0
    assert mc.load(encoder_file(tmp_path / "a.store")).random_state == 1


@pytest.fixture
def stop_at(monkeypatch):
    """stop_at("encoding", 5) interrupts the command when it tells of progress for the fifth time."""

    def arrange(step, done):
        @contextmanager
        def progress(console, what, unit):
            calls = itertools.count(1)

            def report(n, total):
                if what == step and next(calls) >= done:
                    raise KeyboardInterrupt

            yield report

        monkeypatch.setattr("manyclass.cli.terminal.console.Console.progress", progress)

    return arrange


def test_an_interrupted_command_goes_on_to_the_same_store_and_does_not_learn_again(
    run, photos, tmp_path, stop_at, monkeypatch
):
    whole = ("features", photos, "-o", tmp_path / "whole.store", *SMALL, "--codes", "product")
    cut = ("features", photos, "-o", tmp_path / "cut.store", *SMALL, "--codes", "product", "--json")
    assert run(*whole).code == 0
    stop_at("encoding", 17 + 1 + 5)  # the quantizer sees all files, writing begins, and five are written
    stopped = run(*cut)
    assert stopped.code == 130
    assert "give the same command again to go on" in stopped.err
    stop_at("nothing", 1)
    monkeypatch.setattr(mc.FisherVectors, "fit", None)
    result = run(*cut, "--resume")
    assert json.loads(result.out)["resumed_after"] == 5
    assert contents_of(tmp_path / "cut.store") == contents_of(tmp_path / "whole.store")


def test_a_command_that_is_interrupted_while_it_learns_leaves_nothing_in_the_way(run, photos, tmp_path, stop_at):
    arguments = ("features", photos, "-o", tmp_path / "a.store", *SMALL)
    stop_at("learning", 1)
    assert run(*arguments).code == 130
    stop_at("nothing", 1)
    assert run(*arguments).code == 0


def test_other_settings_are_refused_until_the_unfinished_attempt_is_dropped(run, photos, tmp_path, stop_at):
    arguments = ("features", photos, "-o", tmp_path / "a.store", *SMALL)
    stop_at("encoding", 5)
    assert run(*arguments).code == 130
    stop_at("nothing", 1)
    refused = run(*arguments, "--seed", 1)
    assert refused.code == 1
    assert "add --restart" in refused.err
    assert run(*arguments, "--seed", 1, "--restart").code == 0
    assert run("features", photos, "-o", tmp_path / "b.store", *SMALL, "--seed", 1).code == 0
    assert contents_of(tmp_path / "a.store") == contents_of(tmp_path / "b.store")


def test_the_summary_counts_the_parts_of_the_split(run, photos, tmp_path):
    command = ("features", photos, "-o", tmp_path / "a.store", "--test-fraction", 0.4, "--overwrite", *SMALL)
    counts = json.loads(run(*command, "--json").out)["split"]
    split = mc.open_store(tmp_path / "a.store").split.tolist()
    assert counts == {"test": split.count("test"), "train": split.count("train")}
    assert f"test {counts['test']}, train {counts['train']}" in run(*command).out


def test_an_unfinished_store_is_called_so_where_a_kind_or_pictures_are_wanted(run, photos, tmp_path):
    with mc.data.store.StoreWriter(tmp_path / "x.store", 8, identity={"of": "a test"}) as writer:
        writer.append(np.ones((3, 8), np.float32))
    for command in (("--kind", tmp_path / "x.store", photos), (tmp_path / "x.store",)):
        outcome = run("features", *command, "-o", tmp_path / "y.store")
        assert outcome.code != 0
        assert "is unfinished" in " ".join(outcome.err.replace("│", " ").split())
