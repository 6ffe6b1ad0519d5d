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
    run("compress", features, "-o", tmp_path / "x.store", "--centroids", 7, "--sample", 50)
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
    for options in ((), ("--restart",)):
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


def _cut_short(path):
    np.save(path / "x.npy", np.ones((500, 8), np.float32))
    os.truncate(path / "x.npy", 1000)
    return "x.npy"


@pytest.mark.parametrize("make", [_nan, _text, _complex, _missing, _empty, _cut_short])
def test_a_source_that_cannot_be_used_is_one_sentence_and_exit_one(run, tmp_path, make):
    words = make(tmp_path)
    outcome = run("compress", tmp_path / "x.npy", "-o", tmp_path / "x.store", "--quiet")
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
        ("--centroids", 257),
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


def interrupt_at_row(monkeypatch, row):
    encode = mc.ScalarQuantizer.encode_rows

    def encode_rows(self, rows, first=0):
        if first >= row:
            raise KeyboardInterrupt
        return encode(self, rows, first)

    monkeypatch.setattr(mc.ScalarQuantizer, "encode_rows", encode_rows)


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


def test_other_rows_do_not_go_on_with_an_unfinished_attempt(run, long_features, tmp_path, monkeypatch):
    command = ("compress", long_features, "-o", tmp_path / "x.store", "--kind", "scalar")
    with monkeypatch.context() as patched:
        interrupt_at_row(patched, 16_000)
        run(*command)
    refused = run(*command, "--bits", 4)
    assert refused.code == 1
    assert "add --restart" in refused.err
    assert run(*command, "--bits", 4, "--restart").code == 0


@pytest.mark.slow
def test_a_real_ctrl_c_ends_with_130_and_the_way_to_go_on(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((200_000, 256)).astype(np.float32))
    code = "from manyclass.cli.main import main; main()"
    command = [sys.executable, "-c", code, "compress", "x.npy", "-o", "x.store", "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "x.store" / "journal").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "give the same command again to go on" in err
    assert "Traceback" not in err
