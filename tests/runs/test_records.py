"""Records on disk: what is written is read back, and what is not a record is refused in one sentence."""

import hashlib
import json
import math

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.records import kind_of, read_record, write_record

DIGEST = "0123456789abcdef" * 4

UNFINISHED = {
    "command": "train",
    "arguments": ["train", "x.store"],
    "settings": {"beta": 4.0},
    "versions": {"manyclass": "0.1.0"},
    "machine": {"cores": 2},
    "data": [{"role": "train", "path": "x.store", "rows": 10}],
    "status": "running",
}
FILE = {"name": "model-0.safetensors", "size": 9, "sha256": DIGEST}
MODEL = {"estimator": "LinearClassifier", "classes": 3, "columns": 4}
RUN = UNFINISHED | {"status": "done", "files": {"model": FILE}}
EVALUATION = {
    "model": DIGEST,
    "data": {"path": "x.store", "part": "test"},
    "rows": 4,
    "top_1": 0.5,
    "top_5": 1.0,
    "per_class": [{"class": "a", "rows": 4, "right": 2, "accuracy": 0.5}],
}
RETRIEVAL = {"data": [], "protocol": "holidays", "methods": [{"name": "slem", "map": 0.75}]}
AUDIT = {
    "data": {"path": "x.store", "part": "all", "rows": 9},
    "settings": {"threshold": 0.95},
    "versions": {},
    "machine": {},
    "counts": {"label_errors": 1},
    "label_errors": [{"row": 3, "name": "a.jpg", "given": "cat", "proposed": "dog", "probability": 0.9, "score": -2.5}],
    "duplicates": [],
    "outliers": [],
    "class_pairs": [],
    "class_splits": [],
    "notes": [],
}
SHARE = {"value": 0.5, "low": 0.25, "high": 0.75}
PROBE = {
    "arguments": ["probe", "x.npz"],
    "versions": {"manyclass": "0.1.0"},
    "machine": {"cores": 2},
    "data": [{"role": "train", "path": "x.npz", "rows": 10}],
    "protocol": "the split of the data",
    "rows": 10,
    "test_rows": 4,
    "classes": 2,
    "sampled": False,
    "embeddings": [
        {
            "name": "x",
            "columns": 3,
            "methods": [
                {
                    "name": "means",
                    "title": "class means",
                    "top_1": SHARE,
                    "top_5": SHARE,
                    "mean_per_class": SHARE,
                    "settings": {"metric": "cosine"},
                    "bytes": 24,
                    "fit_seconds": 0.5,
                    "predict_seconds": 0.25,
                }
            ],
            "shots": [{"shots": 1, "name": "means", "title": "class means", "top_1": SHARE}],
        }
    ],
    "comparison": [],
    "verdict": "class means: 50.0 %",
}
RECORDS = {
    "run": RUN,
    "unfinished run": UNFINISHED,
    "evaluation": EVALUATION,
    "retrieval": RETRIEVAL,
    "audit": AUDIT,
    "probe": PROBE,
}


def _known(value):
    """Without the entries that are None."""
    if isinstance(value, list):
        return [_known(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _known(entry) for key, entry in value.items() if entry is not None}


@pytest.mark.parametrize("kind", RECORDS)
def test_what_is_written_is_read_back(tmp_path, kind):
    write_record(tmp_path / "x.json", kind, RECORDS[kind])
    read = read_record(tmp_path / "x.json", kind)
    assert _known(read) == {"format": f"manyclass {kind}", "version": 2} | RECORDS[kind]
    write_record(tmp_path / "y.json", kind, read)
    assert (tmp_path / "y.json").read_bytes() == (tmp_path / "x.json").read_bytes()


def test_what_a_record_may_leave_out_is_none(tmp_path):
    write_record(tmp_path / "x.json", "run", RUN)
    assert read_record(tmp_path / "x.json", "run")["embedding"] is None


def test_what_is_not_in_the_contract_is_kept(tmp_path):
    write_record(tmp_path / "x.json", "run", RUN | {"note": {"a": [1, None, "b"]}})
    assert read_record(tmp_path / "x.json", "run")["note"] == {"a": [1, None, "b"]}


def test_numbers_of_numpy_and_whole_numbers_for_names_are_taken(tmp_path):
    record = EVALUATION | {"top_1": np.float32(0.5), "per_class": [{"class": np.int64(7), "rows": 1, "right": 1}]}
    write_record(tmp_path / "x.json", "evaluation", record)
    read = read_record(tmp_path / "x.json", "evaluation")
    assert (read["top_1"], read["per_class"][0]["class"]) == (0.5, "7")


@pytest.mark.parametrize("value", [math.nan, math.inf, np.float32("nan")])
@pytest.mark.parametrize("make", [lambda v: {"seconds": v}, lambda v: {"history": [{"epoch": 1, "objective": v}]}])
def test_numbers_that_are_not_finite_are_refused_with_their_place(tmp_path, make, value):
    with pytest.raises(ValueError, match=r"the record of x.json\.(seconds|history\[0\]\.objective) must be a finite"):
        write_record(tmp_path / "x.json", "run", RUN | make(value))
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("run", {"settings": 3}, "settings must be an object; got 3"),
        ("run", {"data": {}}, "data must be a list; got dict"),
        ("run", {"status": None}, "status must be text"),
        ("run", {"format": "manyclass store"}, "must have the format 'manyclass run'; got 'manyclass store'"),
        ("run", {"version": 3}, "must have version 2; got 3; update manyclass"),
        ("run", {"model": {}}, r"model must have the entry 'estimator'; got None"),
        ("run", {"model": MODEL | {"estimator": ["a"]}}, r"model\.estimator must be text; got list"),
        ("run", {"model": MODEL | {"step": []}}, r"model\.step must be a number; got list"),
        ("run", {"model": MODEL | {"bytes": -1}}, r"model\.bytes must be a whole number"),
        ("run", {"history": [{"accuracy": "a"}]}, r"history\[0\]\.accuracy must be a number; got a"),
        ("run", {"encoder": 3}, r"encoder must be text; got 3"),
        ("run", {"settings": {"test_fraction": "a"}}, r"settings\.test_fraction must be a number; got a"),
        ("run", {"machine": {"memory_bytes": []}}, r"memory_bytes must be a number; got list"),
        ("run", {"files": {}}, r"files must have the entry 'model'; got None"),
        ("run", {"files": {"model": FILE | {"sha256": "a1"}}}, "sha256 must be a SHA-256 in 64 digits; got a1"),
        ("run", {"files": {"model": FILE | {"name": "../model-0.safetensors"}}}, "name must be the name of a model"),
        ("run", {"files": {"model": FILE | {"name": "run.json"}}}, "name must be the name of a model or an encoder"),
        ("run", {"embedding": {"classes": ["a"], "x": [1], "y": []}}, "different lengths"),
        ("run", {"note": object()}, "note must be what JSON can hold; got object"),
        ("evaluation", {"top_1": 50.0}, r"top_1 must be a share from 0 to 1; got 50.0"),
        ("evaluation", {"top_1": True}, "top_1 must be a number; got True"),
        ("evaluation", {"per_class": [{"class": "a", "rows": 1}]}, r"per_class\[0\] must have the entry 'right'"),
        ("retrieval", {"methods": [{"name": "a", "map": "x"}]}, r"methods\[0\].map must be a number; got x"),
        (
            "retrieval",
            {"queries": [{"name": "q", "results": [{"name": "r", "right": 1}]}]},
            r"results\[0\].right must be true or false; got 1",
        ),
        ("retrieval", {"methods": [{"name": "a", "map": 0.5, "columns": 1.5}]}, "columns must be a whole number"),
    ],
)
def test_a_wrong_entry_is_refused_by_writer_and_reader_in_one_sentence(tmp_path, kind, change, said):
    with pytest.raises(ValueError, match=said) as refused:
        write_record(tmp_path / "x.json", kind, RECORDS[kind] | change)
    assert "\n" not in str(refused.value)
    if not any(type(value) is object for value in change.values()):
        # Who can write a file can seal it.
        (tmp_path / "x.json").write_bytes(sealed(RECORDS[kind] | change, kind))
        with pytest.raises(ValueError, match=said):
            read_record(tmp_path / "x.json", kind)


def sealed(record, kind):
    """A record as the pages about formats say that it is written."""
    head = {"format": f"manyclass {kind}", "version": 2}
    text = json.dumps(head | record | {"sha256": "0" * 64}, indent=1) + "\n"
    return text.replace("0" * 64 + '"\n}\n', hashlib.sha256(text.encode()).hexdigest() + '"\n}\n').encode()


@pytest.mark.parametrize("kind", RECORDS)
def test_the_seal_is_what_the_pages_say(tmp_path, kind):
    whole = write_record(tmp_path / "x.json", kind, RECORDS[kind])
    assert (tmp_path / "x.json").read_bytes() == sealed(whole, kind)
    assert json.loads((tmp_path / "x.json").read_text())["format"] == f"manyclass {kind}"


@pytest.mark.parametrize("kind", RECORDS)
def test_a_flipped_bit_is_noticed_in_every_byte(tmp_path, kind):
    file = tmp_path / "x.json"
    write_record(file, kind, RECORDS[kind])
    good = file.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"x\.json (is damaged|must be a record)"):
            read_record(file, kind)


def test_every_cut_and_every_byte_too_many_is_noticed(tmp_path):
    file = tmp_path / "x.json"
    write_record(file, "run", RUN)
    good = file.read_bytes()
    for bad in [good[:end] for end in range(len(good))] + [good + b" ", b" " + good, good.replace(b"\n", b"\r\n")]:
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"x\.json (is damaged|must be a record)"):
            read_record(file, "run")


@pytest.mark.parametrize(
    ("kind", "way_out"),
    [
        ("run", "train it again with `overwrite=True`"),
        ("evaluation", "evaluate again"),
        ("retrieval", "build its gallery again"),
    ],
)
def test_a_record_of_an_earlier_version_says_what_to_do(tmp_path, kind, way_out):
    head = {"format": f"manyclass {kind}", "version": 1}
    (tmp_path / "x.json").write_text(json.dumps(head | RECORDS[kind], indent=1) + "\n")
    with pytest.raises(mc.StorageError, match=f"x.json is of an earlier version, which had no checksum; {way_out}$"):
        read_record(tmp_path / "x.json", kind)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1, 2", b"[" * 100_000, b"[]", b"{}", b'"manyclass run"'])
def test_a_file_that_is_no_record_is_one_sentence(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    assert kind_of(tmp_path / "x.json") is None
    with pytest.raises(ValueError, match=r"x\.json must"):
        read_record(tmp_path / "x.json", "run")


@pytest.mark.parametrize("kind", RECORDS)
def test_a_file_says_its_kind(tmp_path, kind):
    write_record(tmp_path / "x.json", kind, RECORDS[kind])
    assert kind_of(tmp_path / "x.json") == kind


def test_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"kind must be one of run, unfinished run, .*, probe; got 'model'"):
        write_record(tmp_path / "x.json", "model", {})
