"""manyclass compress, as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import manyclass as mc
from tests.cli.runs import rows


@pytest.mark.parametrize(
    ("options", "kind", "code_size"),
    [
        ((), "product", 2),
        (("--block", 4), "product", 4),
        (("--block", 4, "--rotation", "orthogonal"), "product", 4),
        (("--rotation", "permutation"), "product", 2),
        (("--kind", "scalar"), "scalar", 16),
        (("--kind", "scalar", "--bits", 4), "scalar", 8),
    ],
)
def test_the_store_holds_codes_of_the_asked_kind(run, features, tmp_path, options, kind, code_size):
    assert run("compress", features, "-o", tmp_path / "x.store", *options).code == 0
    store = mc.open_store(tmp_path / "x.store")
    assert (store.shape, store.quantizer.kind, store.quantizer.code_size) == ((300, 16), kind, code_size)


def test_centroids_and_sample_reach_the_quantizer(run, features, tmp_path):
    run("compress", features, "-o", tmp_path / "x.store", "--n-centroids", 7, "--sample", 50)
    assert mc.open_store(tmp_path / "x.store").quantizer.codebooks_.shape == (2, 7, 8)


def test_labels_from_a_file_become_classes(run, features, tmp_path):
    (tmp_path / "animals.csv").write_text("\n".join(["cat", "dog", "owl"] * 100))
    run("compress", features, "-o", tmp_path / "x.store", "--labels", tmp_path / "animals.csv")
    store = mc.open_store(tmp_path / "x.store")
    assert [store.classes[label] for label in store.y[:4]] == ["cat", "dog", "owl", "cat"]


def test_the_same_seed_gives_the_same_store_byte_for_byte(run, features, tmp_path):
    for name, n_threads in (("a", 1), ("b", 2)):
        run("compress", features, "-o", tmp_path / name, "--seed", 5, "--threads", n_threads)
    a, b = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in "ab")
    assert a == b


def test_json_is_one_object_and_nothing_else(run, features, tmp_path):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--kind", "scalar", "--json")
    result = json.loads(outcome.out)
    assert outcome.err == ""
    assert (result["rows"], result["dimensions"], result["bytes_before"]) == (300, 16, 300 * 16 * 4)
    assert result["bytes_after"] == sum(file.stat().st_size for file in (tmp_path / "x.store").iterdir())


def test_the_relative_error_is_that_of_rows_that_the_fit_has_not_seen(run, tmp_path):
    # Two rows that nothing resembles: one of them is held out, so the error cannot be zero as it is on fitted rows.
    np.save(tmp_path / "x.npy", np.diag(np.arange(1.0, 21)).astype(np.float32))
    result = json.loads(run("compress", tmp_path / "x.npy", "-o", tmp_path / "x.store", "--json").out)
    assert result["held_out"]
    assert result["error_rows"] == 2
    assert result["relative_error"] > 0.5


def test_the_table_says_what_was_saved(run, features, tmp_path):
    out = run("compress", features, "-o", tmp_path / "x.store").out
    for word in ("rows", "300", "size before", "19.2 kB", "ratio", "relative error", "held-out"):
        assert word in out


def test_progress_goes_to_stderr_and_quiet_silences_it(run, features, tmp_path):
    assert "learning from 300 of 300 rows of 16" in run("compress", features, "-o", tmp_path / "a.store").err
    assert run("compress", features, "-o", tmp_path / "b.store", "--quiet").err == ""


def test_a_store_that_is_there_is_kept_unless_overwriting_is_asked(run, features, tmp_path):
    run("compress", features, "-o", tmp_path / "x.store")
    before = (tmp_path / "x.store" / "manifest.json").read_bytes()
    for options in ((), ("--resume",), ("--restart",)):
        refused = run("compress", features, "-o", tmp_path / "x.store", "--kind", "scalar", *options)
        assert refused.code == 1
        # At once, before anything is learned from the rows.
        assert refused.err.startswith(f"manyclass: {tmp_path / 'x.store'} is there already; add --overwrite")
    assert (tmp_path / "x.store" / "manifest.json").read_bytes() == before
    assert run("compress", features, "-o", tmp_path / "x.store", "--kind", "scalar", "--overwrite").code == 0
    assert mc.open_store(tmp_path / "x.store").quantizer.kind == "scalar"


def _nan(path):
    X = np.ones((500, 8), np.float32)
    X[123, 4] = np.nan
    np.save(path / "x.npy", X)
    return "row 123 has NaN"


def _text(path):
    np.save(path / "x.npy", np.full((3, 3), "a"))
    return "dtype <U1"


def _complex(path):
    np.save(path / "x.npy", np.ones((3, 3), complex))
    return "dtype complex128"


def _missing(path):
    return "x.npy"


def _empty(path):
    np.save(path / "x.npy", np.ones((0, 3), np.float32))
    return "at least one row"


def _no_columns(path):
    np.save(path / "x.npy", np.ones((4, 0), np.float32))
    return "at least one row and one column"


def _too_large(path):
    np.save(path / "x.npy", np.full((300, 16), 1e300))
    return "finite numbers within float32; row "


def _cut_short(path):
    np.save(path / "x.npy", np.ones((500, 8), np.float32))
    os.truncate(path / "x.npy", 1000)
    return "x.npy"


@pytest.mark.parametrize("make", [_nan, _text, _complex, _missing, _empty, _no_columns, _too_large, _cut_short])
@pytest.mark.parametrize("options", [("--kind", "product"), ("--kind", "scalar", "--sample", 400)])
def test_a_source_that_cannot_be_used_is_one_sentence_and_exit_one(run, tmp_path, make, options):
    words = make(tmp_path)
    outcome = run("compress", tmp_path / "x.npy", "-o", tmp_path / "x.store", "--quiet", *options)
    assert outcome.code == 1
    assert words in outcome.err
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


@pytest.mark.parametrize(
    "options",
    [
        ("--kind", "other"),
        ("--rotation", "some"),
        ("--bits", 5),
        ("--n-centroids", 257),
        ("--block", 0),
        ("--threads", "many"),
        ("--nothing",),
    ],
)
def test_wrong_usage_is_exit_two(run, features, tmp_path, options):
    outcome = run("compress", features, "-o", tmp_path / "x.store", *options)
    assert outcome.code == 2
    assert options[0] in outcome.err
    assert not (tmp_path / "x.store").exists()


@pytest.mark.parametrize("sample", [(), ("--sample", 9)])
def test_after_a_refusal_the_store_that_was_there_still_opens(run, features, tmp_path, sample):
    np.save(tmp_path / "big.npy", np.full((300, 16), 1e39))
    run("compress", features, "-o", tmp_path / "x.store")
    command = ("compress", tmp_path / "big.npy", "-o", tmp_path / "x.store", "--kind", "scalar", "--overwrite")
    assert run(*command, *sample).code == 1
    assert mc.open_store(tmp_path / "x.store").quantizer.kind == "product"


@pytest.mark.parametrize("value", [1e30, 1e300])
@pytest.mark.parametrize("row", [3, 150, 299])
def test_a_number_that_is_too_large_is_named_by_its_row_in_the_source(run, tmp_path, value, row):
    X = np.random.default_rng(0).standard_normal((300, 16))
    X[row] = value
    np.save(tmp_path / "x.npy", X)
    outcome = run("compress", tmp_path / "x.npy", "-o", tmp_path / "x.store", "--sample", 20, "--quiet")
    assert outcome.code == 1
    assert f"row {row} has" in outcome.err


def test_a_block_wider_than_the_rows_is_refused(run, features, tmp_path):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--block", 1_000_000)
    assert outcome.code == 1
    assert outcome.err == f"manyclass: --block must be at most 16, the columns of {features}; got 1000000\n"
    assert not (tmp_path / "x.store").exists()


def test_rows_narrower_than_the_usual_block_are_one_block(run, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((50, 3)))
    assert run("compress", tmp_path / "x.npy", "-o", tmp_path / "x.store").code == 0
    assert mc.open_store(tmp_path / "x.store").quantizer.block == 3


def test_labels_can_be_left_out(run, tmp_path):
    np.savez(tmp_path / "x.npz", features=np.ones((9, 8)), labels=np.arange(9))
    for name, options in (("a.store", ()), ("b.store", ("--labels", "none"))):
        assert run("compress", tmp_path / "x.npz", "-o", tmp_path / name, *options).code == 0
    assert mc.open_store(tmp_path / "a.store").y.tolist() == list(range(9))
    assert mc.open_store(tmp_path / "b.store").y is None


def test_what_is_left_out_is_told_in_one_line(run, features, tmp_path):
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    for command in (("compress", features, "-o", tmp_path / "x.store", "--quiet"), ("info", features)):
        outcome = run(*command)
        assert outcome.code == 0
        assert outcome.err.startswith("manyclass: ")
        assert "labels.txt" in outcome.err
        assert outcome.err.count("\n") == 1


def test_a_tilde_is_the_home_folder_in_every_path(run, features, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "animals.csv").write_text("\n".join(["cat", "dog", "owl"] * 100))
    done = run("compress", "~/features.npy", "--out=~/s.store", "--labels", "~/animals.csv", "--json")
    assert done.code == 0
    assert json.loads(done.out)["path"] == str(tmp_path / "s.store")
    assert run("info", "~/s.store").code == run("info", "~/features.npy").code == run("verify", "~/s.store").code == 0


def test_the_home_of_nobody_is_wrong_usage(run, features):
    outcome = run("compress", features, "-o", "~no_such_user/x.store")
    assert outcome.code == 2
    assert "~no_such_user/x.store" in outcome.err


def a_file(out):
    out.write_bytes(b"mine")
    return f"{out} is a file, and a store is a folder; choose another name"


def other_things(out):
    out.mkdir()
    (out / "notes.txt").write_bytes(b"mine")
    return f"{out} is a folder with other content; choose another name"


@pytest.mark.parametrize("make", [a_file, other_things])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_learned(
    run, features, tmp_path, monkeypatch, make
):
    words = make(tmp_path / "x.store")
    monkeypatch.setattr(mc.ProductQuantizer, "fit", _must_not_be_called)
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--overwrite")
    assert (outcome.code, outcome.err) == (1, f"manyclass: {words}\n")


def _must_not_be_called(*_):
    raise AssertionError("nothing should be learned")


def interrupt_at_row(monkeypatch, row, quantizer=mc.ScalarQuantizer):
    encode = quantizer.encode_rows

    def encode_rows(self, rows, first=0):
        if first >= row:
            raise KeyboardInterrupt
        return encode(self, rows, first)

    monkeypatch.setattr(quantizer, "encode_rows", encode_rows)


@pytest.fixture
def long_features(tmp_path):
    """Enough rows for several pieces of work."""
    path = tmp_path / "long.npy"
    np.save(path, np.random.default_rng(0).standard_normal((40_000, 128)).astype(np.float32))
    return path


def test_an_interrupted_command_goes_on_to_the_same_bytes(run, long_features, tmp_path, monkeypatch):
    command = ("compress", long_features, "--kind", "scalar", "-o")
    run(*command, tmp_path / "whole.store")
    with monkeypatch.context() as patched:
        interrupt_at_row(patched, 16_000)
        stopped = run(*command, tmp_path / "x.store")
    assert stopped.code == 130
    assert "give the same command again to go on" in stopped.err
    done = run(*command, tmp_path / "x.store")
    assert done.code == 0
    assert "going on after 16,384 rows" in done.err
    whole, resumed = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole.store", "x.store")
    )
    assert whole == resumed


@pytest.mark.parametrize("kind", ["scalar", "product"])
def test_a_command_that_goes_on_keeps_what_it_had_learned(run, long_features, tmp_path, monkeypatch, kind):
    command = ("compress", long_features, "--kind", kind, "--sample", 100, "-o", tmp_path / "x.store", "--json")
    quantizer = mc.ScalarQuantizer if kind == "scalar" else mc.ProductQuantizer
    with monkeypatch.context() as patched:
        interrupt_at_row(patched, 16_000, quantizer)
        assert run(*command).code == 130
    monkeypatch.setattr(quantizer, "fit", _must_not_be_called)
    done = json.loads(run(*command).out)
    assert done["resumed_after"] == 16_384
    assert done["held_out"]
    assert done["relative_error"] > 0


def test_other_rows_do_not_go_on_with_an_unfinished_attempt(run, long_features, tmp_path, monkeypatch):
    command = ("compress", long_features, "-o", tmp_path / "x.store", "--kind", "scalar")
    with monkeypatch.context() as patched:
        interrupt_at_row(patched, 16_000)
        run(*command)
    monkeypatch.setattr(mc.ScalarQuantizer, "fit", _must_not_be_called)
    refused = run(*command, "--bits", 4)
    monkeypatch.undo()
    assert refused.code == 1
    assert "add --restart" in refused.err
    assert run(*command, "--bits", 4, "--restart").code == 0


@pytest.mark.slow
def test_a_real_ctrl_c_ends_with_130_and_the_way_to_go_on(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((200_000, 256)).astype(np.float32))
    # A shell that starts the tests in the background has them and their children ignore Ctrl-C.
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heeds}; from manyclass.cli.main import main; main()"
    command = [sys.executable, "-c", code, "compress", "x.npy", "-o", "x.store", "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "x.store" / "journal").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "give the same command again to go on" in err
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    X, y = rows()
    mc.StochasticClassifier(max_epochs=4, step=0.05, beta=3.0, random_state=0).fit(X, y).save(folder / "model")
    return folder / "model", X


@pytest.mark.parametrize("bits", [4, 8, 12, 16])
def test_a_classifier_becomes_a_head_of_few_bits(run, trained, tmp_path, bits):
    model, X = trained
    outcome = run("compress", model, "-o", tmp_path / "head", "--bits", bits, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    told = json.loads(outcome.out)
    assert (told["bits"], told["classes"], told["columns"]) == (bits, 6, 8)
    assert told["bytes"] == (tmp_path / "head").stat().st_size
    head = mc.load(tmp_path / "head")
    assert np.mean(head.predict(X) == mc.load(model).predict(X)) > 0.9
    assert "given weights" not in run("info", tmp_path / "head").out


def test_the_table_of_a_head_says_its_size(run, trained, tmp_path):
    outcome = run("compress", trained[0], "-o", tmp_path / "head")
    assert outcome.code == 0
    assert "of 8 bits a weight" in outcome.out


def test_sixteen_bits_are_for_classifiers_alone(run, features, tmp_path):
    outcome = run("compress", features, "-o", tmp_path / "out", "--kind", "scalar", "--bits", 16)
    assert outcome.code == 1
    assert "bits" in outcome.err


def test_a_head_has_no_head(run, trained, tmp_path):
    run("compress", trained[0], "-o", tmp_path / "head")
    outcome = run("compress", tmp_path / "head", "-o", tmp_path / "again")
    assert outcome.code == 1
    assert "got a head" in outcome.err
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("words", [("--kind", "scalar"), ("--sample", 3), ("--block", 4), ("--n-centroids", 16)])
def test_what_is_for_features_is_refused_of_a_classifier(run, trained, tmp_path, words):
    outcome = run("compress", trained[0], "-o", tmp_path / "head", *words)
    assert outcome.code == 2
    assert f"{words[0]} is for features" in outcome.err
    assert not (tmp_path / "head").exists()


def test_an_encoder_has_no_head(run, tmp_path):
    mc.SquareLossExemplar().fit(rows()[0]).save(tmp_path / "encoder")
    outcome = run("compress", tmp_path / "encoder", "-o", tmp_path / "head")
    assert outcome.code == 1
    assert "must hold a classifier" in outcome.err
    assert not (tmp_path / "head").exists()


def test_the_ratio_says_what_it_is_of(run, features, tmp_path):
    result = json.loads(run("compress", features, "-o", tmp_path / "a.store", "--json").out)
    code_size = mc.open_store(tmp_path / "a.store").quantizer.code_size
    assert result["code_ratio"] == result["bytes_before"] / (result["rows"] * code_size)
    out = run("compress", features, "-o", tmp_path / "a.store", "--overwrite").out
    words = f"{result['ratio']:.1f} of all files; {result['code_ratio']:.1f} of codes alone"
    assert words in " ".join(out.split())
