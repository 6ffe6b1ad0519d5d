"""The same command twice gives the same bytes of every file but the records, which have the times."""

import hashlib

import pytest
from cli.gallery_data import SMALL, write_album
from cli.runs import OBJECTIVES, store

from manyclass._core.sealed import seal, unseal

RECORDS = {"run.json", "retrieval-0.json"}

TUNED = ("--max-epochs", 3, "--tune", "beta", "--step", 0.05)

TRAIN = {name: ("train", "DATA", *options) for name, options in OBJECTIVES.items()} | {
    "tune": ("train", "DATA", *TUNED)
}

COMPRESS = {
    "product": ("compress", "DATA", "--block", 2, "--n-centroids", 16),
    "rotation": ("compress", "DATA", "--block", 2, "--n-centroids", 16, "--rotation", "orthogonal"),
    "scalar": ("compress", "DATA", "--kind", "scalar"),
}

ENCODE = {name: ("encode", "DATA", "--method", name) for name in ("slem", "kernel-slem", "lda", "esvm", "whitening")}

FEATURES = {name: ("features", "ALBUM", "--kind", name, *SMALL) for name in ("fisher", "bow", "vlad")}

ENCODE["esvm"] += ("--n-steps", 50)

COMMANDS = TRAIN | COMPRESS | ENCODE | {"judged": (*ENCODE["lda"], "--evaluate", "--tune")} | FEATURES


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """What commands read."""
    folder = tmp_path_factory.mktemp("same")
    write_album(folder / "album")
    return {"DATA": store(folder / "x.store"), "ALBUM": folder / "album"}


def content(file):
    """The bytes of a file; of a manifest without the checksum of a record, and without its own."""
    if file.name != "manifest.json":
        return file.read_bytes()
    manifest = unseal(file.read_bytes())
    manifest.pop("retrieval", None)
    return seal(manifest)


def digests(folder):
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name not in RECORDS]
    return {str(file.relative_to(folder)): hashlib.sha256(content(file)).hexdigest() for file in files}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_the_same_command_gives_the_same_files(run, places, tmp_path, monkeypatch, words):
    found = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        outcome = run(*(places.get(word, word) for word in words), "-o", "out")
        assert outcome.code == 0, outcome.err
        found.append(digests(tmp_path / name))
    assert found[0] == found[1]
    assert found[0]
