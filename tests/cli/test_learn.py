import shutil

import numpy as np
import pytest

import manyclass as mc
from manyclass.features.extraction import write_features
from tests.cli.runs import bits
from tests.features import networks
from tests.features.hostile import saved


def painted(folder, n=10, parts=("",)):
    """Pictures of three colors, a class each; with noise, so that none is like another."""
    rng = np.random.default_rng(0)
    for part in parts:
        for label, name in enumerate(("blue", "green", "red")):
            for i in range(n):
                image = rng.integers(0, 60, (30, 34, 3), dtype=np.uint8)
                image[..., 2 - label] += 150
                path = folder / part / name / f"{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(saved(image, "PNG"))
    return folder


@pytest.fixture
def net(tmp_path):
    return networks.tiny(tmp_path / "net.onnx", beside={"mean": 0, "std": 1})


def test_one_command_leads_from_a_folder_to_a_page(run, tmp_path, net):
    photos, out = painted(tmp_path / "photos"), tmp_path / "out"
    outcome = run("learn", photos, "-o", out, "--kind", net)
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in out.iterdir()) == ["photos.store", "report.html", "run"]
    store = mc.open_store(out / "photos.store")
    assert np.unique(store.split, return_counts=True)[1].tolist() == [6, 24]
    assert "top-1           100.00%" in outcome.out
    assert "manyclass predict" in outcome.out
    assert outcome.out.count("what next") == 1
    assert "manyclass evaluate" not in outcome.out  # as it is done already
    assert "known to ±" in outcome.out.split("what next")[1]
    assert "manyclass report" not in outcome.out  # as it is written already
    assert "<html" in (out / "report.html").read_text()
    predicted = run("predict", out / "run", photos / "red" / "0.png", "--json")
    assert '"classes": ["red"' in predicted.out


def test_the_parts_that_are_there_are_used(run, tmp_path, net):
    photos = painted(tmp_path / "photos", 5, ("train", "test"))
    outcome = run("learn", photos, "-o", tmp_path / "out", "--kind", net, "--objective", "square", "--quiet")
    assert outcome.code == 0, outcome.err
    store = mc.open_store(tmp_path / "out" / "photos.store")
    assert np.unique(store.split, return_counts=True)[1].tolist() == [15, 15]


def test_the_same_command_again_does_nothing_twice_and_goes_on_after_each_step(run, tmp_path, net, monkeypatch):
    photos, out = painted(tmp_path / "photos"), tmp_path / "out"
    words = ("learn", photos, "-o", out, "--kind", net, "--objective", "square")
    assert run(*words).code == 0
    first, model = (out / "report.html").stat().st_mtime_ns, bits(out / "run")

    def refuse(*_, **__):
        raise AssertionError("a step that was done is done again")

    monkeypatch.setattr(write_features, "write_features", refuse)
    again = run(*words)
    assert again.code == 0, again.err
    assert "photos.store is done already" in again.err
    assert "run is done already" in again.err
    assert (out / "report.html").stat().st_mtime_ns > first
    shutil.rmtree(out / "run")
    assert run(*words).code == 0
    assert bits(out / "run") == model


def test_another_folder_or_kind_is_refused_unless_it_may_replace(run, tmp_path, net):
    photos, out = painted(tmp_path / "photos"), tmp_path / "out"
    words = ("--kind", net, "--objective", "square", "--quiet")
    assert run("learn", photos, "-o", out, *words).code == 0
    before = bits(out / "run")
    outcome = run("learn", photos, "-o", out, *words, "--seed", 1)
    assert outcome.code == 1
    assert "photos.store was made with seed 0, not 1; add --overwrite" in outcome.err
    assert bits(out / "run") == before
    assert run("learn", photos, "-o", out, *words, "--seed", 1, "--overwrite").code == 0


def test_pictures_without_classes_are_told_of(run, tmp_path, net):
    painted(tmp_path / "all")
    flat = tmp_path / "flat"
    flat.mkdir()
    for i, path in enumerate(sorted((tmp_path / "all").glob("*/*.png"))):
        shutil.copy(path, flat / f"{i}.png")
    outcome = run("learn", flat, "-o", tmp_path / "out", "--kind", net)
    assert outcome.code == 1
    assert "must have classes to learn, such as a folder for each; it has pictures alone" in outcome.err
    assert not (tmp_path / "out").exists()


def test_how_long_many_pictures_take_is_told_before(run, tmp_path, net):
    outcome = run(
        "learn", painted(tmp_path / "photos", 40), "-o", tmp_path / "out", "--kind", net, "--objective", "square"
    )
    assert "120 pictures will take about " in outcome.err


def test_other_pictures_than_before_are_not_passed_over(run, tmp_path, net):
    photos, out = painted(tmp_path / "photos"), tmp_path / "out"
    words = ("-o", out, "--kind", net, "--objective", "square", "--quiet")
    assert run("learn", photos, *words).code == 0
    assert run("learn", photos / ".." / "photos", *words).code == 0
    shutil.copytree(photos / "red", photos / "rouge")
    outcome = run("learn", photos, *words)
    assert outcome.code == 1
    assert "has other pictures by now than" in outcome.err
    assert run("learn", photos, *words, "--overwrite").code == 0
    assert len(mc.load(out / "run").classes_) == 4
