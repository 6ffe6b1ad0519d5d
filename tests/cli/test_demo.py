"""manyclass demo, in small."""

import errno
import json
import os
import re
import shutil

import numpy as np
import pytest
from PIL import Image

import manyclass as mc
from manyclass.cli._console import Console
from manyclass.cli.demo.demo_runs import CLASSIFIERS
from manyclass.cli.demo.findings import findings, standing
from manyclass.cli.demo.glyph_data import Kinds, spoken
from manyclass.report.page import make_sections
from manyclass.report.report_data import collect

SECTIONS = [
    "setup", "runs", "accuracy", "confusions", "examples", "curves", "tuning", "spectrum", "grid", "embedding",
    "retrieval", "cost",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """The folder of a demo that ended well, and what it said as JSON; tests leave it as it is."""
    from manyclass.cli.demo.command import run

    out = tmp_path_factory.mktemp("ended") / "demo"
    return out, run(out, 40, 8, 0, Console(quiet=True))


@pytest.fixture
def short(monkeypatch):
    """Every step of the demo, but one classifier, which is the last: for tests of what is around the steps."""
    monkeypatch.setattr("manyclass.cli.demo.demo_runs.CLASSIFIERS", CLASSIFIERS[1:2])
    monkeypatch.setattr("manyclass.cli.demo.findings.findings", lambda result: ["short"])


@pytest.fixture
def small(run, tmp_path):
    def call(*options):
        return run("demo", "-o", tmp_path / "demo", "--classes", 12, "--per-class", 8, *options)

    return call


def test_kinds_that_are_learned_searched_and_negative_have_nothing_in_common():
    kinds = Kinds.deal(40, seed=0)
    together = np.concatenate([kinds.learned, kinds.searched, kinds.negatives])
    assert (len(kinds.learned), len(kinds.searched), len(kinds.negatives)) == (40, 8, 8)
    assert sorted(together) == list(range(len(kinds)))


def test_stores_hold_these_kinds_and_no_others(once):
    out, _ = once
    classes = [set(mc.open_store(out / name).classes) for name in ("glyphs.store", "others.store", "world.store")]
    assert [len(names) for names in classes] == [40, 8, 8]
    assert not (classes[0] & classes[1] | classes[0] & classes[2] | classes[1] & classes[2])


def test_codes_stand_for_the_same_rows(once):
    whole, codes = (mc.open_store(once[0] / name) for name in ("glyphs.store", "small.store"))
    assert whole.shape == codes.shape == (320, 640)
    assert codes.X.nbytes == whole.X.nbytes / 32
    assert whole.y.tolist() == codes.y.tolist()
    assert list(whole.names) == list(codes.names)


def test_pictures_are_those_of_the_names(once):
    out, _ = once
    names = json.loads((out / "pictures.json").read_text())
    pictures = np.load(out / "pictures.npy")
    drawn = mc.datasets.glyphs(56, 8, random_state=0)
    row = names.index("Latin capital B/03")
    at = 8 * drawn.classes.index("LATIN CAPITAL LETTER B") + 3
    assert np.array_equal(pictures[row], drawn.images[at])
    with Image.open(out / "glyphs.png") as page:
        assert page.width > 27 * 32


def test_every_section_of_the_report_is_filled(once):
    out, _ = once
    assert [section.key for section in make_sections(collect([out]))] == SECTIONS


def test_the_report_shows_pictures_and_no_plates(once):
    text = (once[0] / "report.html").read_text()
    assert text.count("<img") > 60
    assert 'class="plate"' not in text


def test_the_flipped_bit_is_found(once):
    assert "codes-0.npy block 0" in once[1]["compression"]["found"]


def test_numbers_are_those_of_the_records(once):
    out, result = once
    report = collect([out])
    assert {run["name"]: run["top_1"] for run in result["runs"]} == {
        run.name: evaluation["top_1"] for run, evaluation in report.evaluated_runs
    }
    assert result["methods"] == report.searches[0].record["methods"]


def test_all_objectives_and_methods_are_there_and_learn(once):
    _, result = once
    assert [run["name"] for run in result["runs"]] == [one.name for one in CLASSIFIERS]
    assert min(run["top_1"] for run in result["runs"]) > 0.5
    assert {one["name"] for one in result["methods"]} == {"slem", "kernel-slem", "lda", "whitening", "none"}


def test_settings_of_searches_are_chosen_on_other_kinds_than_those_reported(once):
    out, result = once
    record = collect([out]).searches[0].record
    reported = {query["class"] for query in record["queries"]}
    reported |= {found["class"] for query in record["queries"] for found in query["results"]}
    assert len(reported) <= 4 < len(mc.open_store(out / "others.store").classes)
    assert all(one["tried"] for one in result["methods"] if one["name"] in ("slem", "kernel-slem", "whitening"))


@pytest.mark.parametrize("name", ["ovr-unweighted", "trace"])
def test_the_command_on_record_gives_the_same_model(once, run, tmp_path, name):
    out, result = once
    words = next(one["command"] for one in result["runs"] if one["name"] == name)
    assert words[2] == "-o"
    words[3] = str(tmp_path / "again")
    assert run(*words, "--quiet").code == 0
    models = [mc.load(folder / "model.safetensors") for folder in (out / "runs" / name, tmp_path / "again")]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


def test_other_commands_know_what_the_demo_left(once, run, tmp_path):
    out, _ = once
    assert run("evaluate", out / "runs" / "ovr", out / "glyphs.store", "-o", tmp_path / "e.json", "--quiet").code == 0
    again = json.loads((tmp_path / "e.json").read_text())
    assert again["pictures"]["array"] == str((out / "pictures.npy").resolve())
    assert run("report", out, "-o", tmp_path / "again.html").code == 0
    assert run("verify", out / "gallery").code == run("verify", out / "small.store").code == 0


@pytest.mark.usefixtures("short")
def test_json_is_one_object_and_nothing_else(small):
    outcome = small("--json")
    result = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert (result["compression"]["rows"], result["classes"]) == (96, 12)


@pytest.mark.usefixtures("short")
def test_the_table_and_the_words_tell_the_story(small, tmp_path):
    outcome = small()
    for words in ("learning 12 kinds", "ovr-unweighted", "finding 4 other kinds", "kernel-slem", "mAP", "short"):
        assert words in outcome.out
    assert (tmp_path / "demo" / "report.html").resolve().as_uri() in outcome.out.replace("\n", "")
    assert "drawing 28 x 8 characters" in outcome.err
    assert f"manyclass train {tmp_path}" in outcome.err


@pytest.mark.usefixtures("short")
def test_it_can_be_run_again_over_itself_with_other_options(small, tmp_path):
    small("--quiet")
    assert small("--quiet", "--seed", 3, "--per-class", 5).code == 0
    assert mc.open_store(tmp_path / "demo" / "small.store").shape == (60, 640)
    assert collect([tmp_path / "demo"]).runs[0].record["seed"] == 3


@pytest.mark.parametrize("name", ["glyphs.store", "world.store"])
@pytest.mark.parametrize("finished", [True, False])
def test_a_store_that_the_demo_did_not_make_is_not_touched(small, tmp_path, name, finished):
    path = tmp_path / "demo" / name
    with mc.StoreWriter(path, 2, identity={"whose": "mine"}) as writer:
        writer.append(np.ones((3, 2)))
        if finished:
            writer.commit()
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {path} was not made by the demo; choose another folder with --out\n"
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_folder_of_other_things_is_not_touched(small, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "glyphs.png").write_bytes(b"mine")
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {tmp_path / 'demo'} has other things in it; choose another folder with --out\n"
    assert [file.read_bytes() for file in (tmp_path / "demo").iterdir()] == [b"mine"]


def test_a_file_in_the_place_of_the_folder_is_one_sentence(small, tmp_path):
    (tmp_path / "demo").write_bytes(b"mine")
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err.endswith("demo is a file, and the demo writes a folder; choose another name with --out\n")


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("step", ["small.store", "training", "search"])
def test_an_interrupted_demo_says_one_sentence_and_starts_over(small, tmp_path, monkeypatch, step):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("manyclass.cli.demo.command._write_report", lambda out, console: None)
    commit = mc.StoreWriter.commit_columns
    with monkeypatch.context() as patched:
        if step.endswith(".store"):
            patched.setattr(
                mc.StoreWriter,
                "commit_columns",
                lambda writer, *rest: interrupt() if writer.path.name == step else commit(writer, *rest),
            )
        else:
            target = {
                "training": "manyclass.runs.training.fit_recipe",
                "search": "manyclass.runs.encoder_comparison.fit_method",
            }[step]
            patched.setattr(target, interrupt)
        outcome = small("--quiet")
    assert outcome.code == 130
    assert outcome.err == "manyclass: interrupted; give the same command again to start over\n"
    assert small("--quiet", "--seed", 3, "--per-class", 5).code == 0
    assert mc.open_store(tmp_path / "demo" / "small.store").shape == (60, 640)


def test_a_full_disk_for_temporary_files_is_one_sentence(small, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    outcome = small("--quiet")
    assert outcome.code == 1
    assert re.fullmatch(r"manyclass: \S*/copy\.store/\S+: no space left on device\n", outcome.err)


def test_too_many_classes_are_one_sentence(small, monkeypatch, tmp_path):
    from manyclass.datasets.glyph_images import alphabet

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(alphabet, "_candidates", lambda: list("abc"))
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == "manyclass: n_classes must be at most 3, all that the fonts here draw; got 28\n"


def test_short_names_are_distinct():
    names = mc.datasets.glyphs(300, 2).classes
    assert len({spoken(name) for name in names}) == 300


def measured(**changes):
    """A result of the demo with accuracies to be told of."""
    tuning = [
        {"value": value, "accuracy": share} for value, share in ((1.0, 0.7), (4.0, None), (16.0, 0.9), (499.0, 0.8))
    ]
    shares = {"ovr": 0.9, "ovr-unweighted": 0.8, "softmax": 0.85, "trace": 0.88, **changes}
    runs = [
        {"name": name, "top_1": share, "rows": 2500, "bytes": 1000, "beta": 16.0, "rank": 30, "tuning": tuning}
        for name, share in shares.items()
    ]
    methods = [
        {"name": "none", "map": 0.5, "low": 0.48, "high": 0.52},
        {"name": "slem", "map": 0.6, "low": 0.58, "high": 0.62},
        {"name": "kernel-slem", "map": 0.49, "low": 0.47, "high": 0.51},
    ]
    compression = {
        "rows": 10, "dimensions": 8, "ratio": 32.0, "relative_error": 0.1, "error_rows": 5, "found": None,
    }  # fmt: skip
    products = {"codes": 0.01, "numpy": 0.02, "columns": 10}
    return {"classes": 500, "runs": runs, "methods": methods, "compression": compression, "products": products}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"softmax": 0.895},
            "ovr is right most often, 90.0 % of the time; 2,500 pictures cannot tell it from softmax.",
        ),
        ({"ovr": 0.95}, "ovr is right most often, 95.0 % of the time, by more than chance explains"),
        ({}, "One-vs-rest with beta 16, chosen on validation, is 10.0 points ahead of one with all negatives"),
        ({"ovr": 0.79}, "beta 16, chosen on validation, is 1.0 points behind (within chance) one with"),
        ({"ovr": 0.8}, "beta 16, chosen on validation, is level with one with"),
        ({}, "of 3 values, the worst (beta 1) loses 20.0 points on validation"),
        ({}, "The trace norm, of rank 30 for 500 classes, is 2.0 points behind the best of the others, ovr"),
        ({"trace": 0.93}, "is 3.0 points ahead of the best of the others, ovr"),
        ({}, "slem is 10.0 points ahead of features as they are; their intervals are apart"),
        ({}, "kernel-slem is 1.0 points behind features as they are; their intervals overlap"),
        ({}, "a flipped bit was not found"),
        ({}, "2.0 times faster on the codes"),
    ],
)
def test_words_follow_what_was_measured(changes, words):
    assert words in " ".join(findings(measured(**changes)))


def test_all_negatives_may_be_chosen():
    result = measured()
    result["runs"][0]["beta"] = None
    assert "One-vs-rest is best with all negatives, by validation; of 3 values" in " ".join(findings(result))


@pytest.mark.parametrize(("difference", "words"), [(0.02, "ahead of"), (-0.02, "behind"), (0.0001, "level with")])
def test_a_difference_says_who_is_ahead(difference, words):
    assert words in standing(difference, 0.01)
    assert ("chance" in standing(difference, 0.05)) == (words != "level with")
