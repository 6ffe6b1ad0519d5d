"""manyclass join: parts that --shard made, into the bytes of one command."""

import json

import numpy as np
import pytest
from cli.gallery_data import SMALL, write_album

import manyclass as mc
from tests.features.extraction.written import contents_of


@pytest.fixture
def album(tmp_path):
    """Four classes of four photographs, one of a class that is in one part alone, and two bad files."""
    folder = write_album(tmp_path / "photos")
    (folder / "zoo").mkdir()
    (folder / "class 0" / "00.png").rename(folder / "zoo" / "00.png")
    (folder / "class 1" / "bad.png").write_bytes(b"no picture")
    (folder / "zoo" / "bad.png").write_bytes(b"no picture")
    return folder


def make_parts(run, album, n, *options):
    parts = [album.parent / f"part{i}.store" for i in range(1, n + 1)]
    for i, part in enumerate(parts, 1):
        outcome = run("features", album, "-o", part, "--shard", f"{i}/{n}", "--quiet", *options)
        assert outcome.code == 0, outcome.err
    return parts


@pytest.mark.parametrize("options", [(), ("--codes", "product", "--block", 4), ("--test-fraction", 0.4)])
def test_features_of_parts_become_those_of_one_command(run, album, tmp_path, options):
    options = (*SMALL, *options)
    assert run("features", album, "-o", tmp_path / "whole.store", "--quiet", *options).code == 0
    parts = make_parts(run, album, 3, *options)
    outcome = run("join", tmp_path / "joined.store", *parts[::-1], "--json")
    result = json.loads(outcome.out)
    assert [result[key] for key in ("kind", "parts", "rows", "skipped")] == ["store", 3, 16, 2]
    assert contents_of(tmp_path / "joined.store") == contents_of(tmp_path / "whole.store")


def test_a_part_that_takes_the_encoder_of_another_is_as_good(run, album, tmp_path):
    assert run("features", album, "-o", tmp_path / "whole.store", "--quiet", *SMALL).code == 0
    second, first = tmp_path / "b.store", tmp_path / "a.store"
    run("features", album, "-o", second, "--shard", "2/2", "--quiet", *SMALL)
    assert run("features", album, "-o", first, "--shard", "1/2", "--kind", second, "--quiet").code == 0
    assert run("join", tmp_path / "joined.store", first, second).code == 0
    assert contents_of(tmp_path / "joined.store") == contents_of(tmp_path / "whole.store")


def test_a_part_says_how_many_images_it_has(run, album, tmp_path):
    outcome = run("features", album, "-o", tmp_path / "p.store", "--shard", "1/3", "--quiet", *SMALL)
    assert "6, part 1/3" in outcome.out
    result = json.loads(
        run("features", album, "-o", tmp_path / "q.store", "--shard", "1/3", "--json", "--quiet", *SMALL).out
    )
    assert (result["images"], result["rows"], result["shard"], len(result["skipped"])) == (6, 6, "1/3", 0)


def test_galleries_of_parts_become_that_of_one_command(run, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((2100, 8), np.float32))
    given = (tmp_path / "x.npy", "--n-background", 50, "--quiet")
    run("encode", *given, "-o", tmp_path / "whole")
    for i in (1, 2):
        assert run("encode", *given, "-o", tmp_path / f"part{i}", "--shard", f"{i}/2").code == 0
    outcome = run("join", tmp_path / "joined", tmp_path / "part1", tmp_path / "part2")
    assert outcome.code == 0
    assert "2,100 of 8 numbers" in outcome.out
    assert contents_of(tmp_path / "joined") == contents_of(tmp_path / "whole")


def test_what_is_wrong_is_one_sentence(run, album, tmp_path):
    parts = make_parts(run, album, 3, "--kind", "bow", *SMALL)
    outcome = run("join", tmp_path / "joined", *parts[::2])
    assert (outcome.code, outcome.err) == (1, "manyclass: part 2/3 is missing; make it, and give it with the others\n")
    mc.write_store(tmp_path / "whole", np.eye(2, dtype=np.float32))
    outcome = run("join", tmp_path / "joined", tmp_path / "whole")
    assert "whole is no part: it was made without --shard, and is whole as it is" in outcome.err
    assert not (tmp_path / "joined").exists()
    assert run("join", tmp_path / "joined", *parts).code == 0
    outcome = run("join", tmp_path / "joined", *parts)
    assert "is there already; add --overwrite to replace it" in outcome.err
    assert run("join", tmp_path / "joined", *parts, "--overwrite").code == 0


@pytest.mark.parametrize("command", ["features", "encode"])
def test_a_part_that_cannot_be_is_wrong_usage(run, album, tmp_path, command):
    outcome = run(command, album, "-o", tmp_path / "out", "--shard", "4/3")
    assert outcome.code == 2
    assert "--shard must be i/n with i from 1 to n, such as 3/16; got '4/3'" in " ".join(outcome.err.split())
    assert not (tmp_path / "out").exists()


def test_a_change_of_a_gallery_has_no_parts(run, tmp_path):
    outcome = run("encode", tmp_path / "x.npy", "-o", tmp_path / "g", "--add", "--shard", "1/2")
    assert outcome.code == 2
    assert "--shard does not go with --add" in outcome.err


def test_without_parts_it_says_so(run, tmp_path):
    assert run("join", tmp_path / "out").code == 2
