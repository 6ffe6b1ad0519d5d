"""What every command prints, and where."""

import json
import sys

import pytest
from cli.gallery_data import SMALL, write_album
from cli.runs import QUICK, store

from manyclass.cli._app import app
from manyclass.cli.demo.demo_runs import CLASSIFIERS
from manyclass.cli.main import main

# {made} is a folder with a store, pictures, a run and a gallery; {out} is one to write to.
COMMANDS = {
    "features": ("{made}/photos", "-o", "{out}/a.store", "--kind", "bow", *SMALL),
    "compress": ("{made}/x.store", "-o", "{out}/b.store", "--kind", "scalar"),
    "train": ("{made}/x.store", "-o", "{out}/run", *QUICK),
    "learn": ("{made}/photos", "-o", "{out}/learned", "--kind", "{made}/photos.store", "--objective", "square"),
    "audit": ("{made}/x.store", "-o", "{out}/audit"),
    "classes": ("{made}/run",),
    "probe": ("{made}/x.store", "--methods", "means,closed"),
    "calibrate": ("{made}/calibrated", "{made}/x.store"),
    "export": ("{made}/run", "-o", "{out}/c.onnx"),
    "evaluate": ("{made}/run", "{made}/x.store", "-o", "{out}/e.json"),
    "predict": ("{made}/run", "{made}/x.store"),
    "encode": ("{made}/x.store", "-o", "{out}/gallery", "--method", "slem,none", "--evaluate"),
    "search": ("{made}/gallery", "{made}/x.store", "-k", 2),
    "join": ("{out}/photos.store", "{made}/part.store"),
    "report": ("{made}/run", "{made}/gallery", "-o", "{out}/page.html"),
    "info": ("{made}/x.store",),
    "verify": ("{made}/x.store",),
    "demo": ("-o", "{out}/demo", "--classes", 12, "--per-class", 8),
}
# Continuous integrations ask for colors by these.
FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE", "NO_COLOR")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    store(folder / "x.store")
    write_album(folder / "photos")
    with pytest.MonkeyPatch.context() as patch:
        for words in (
            ("train", folder / "x.store", "-o", folder / "run", "--quiet", *QUICK),
            ("train", folder / "x.store", "-o", folder / "calibrated", "--quiet", *QUICK),
            ("features", folder / "photos", "-o", folder / "photos.store", "--kind", "bow", "--quiet", *SMALL),
            (
                "features",
                folder / "photos",
                "-o",
                folder / "part.store",
                "--shard",
                "1/1",
                "--kind",
                folder / "photos.store",
                "--quiet",
            ),
            ("encode", folder / "x.store", "-o", folder / "gallery", "--method", "none", "--evaluate", "--quiet"),
        ):
            patch.setattr(sys, "argv", ["manyclass", *map(str, words)])
            with pytest.raises(SystemExit):
                main()
    return folder


@pytest.fixture
def said(made, tmp_path, monkeypatch, capfd):
    """said(command, *more): what `manyclass command` prints to stdout and to stderr, to the byte."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(made / "cache"))
    monkeypatch.setattr("manyclass.cli.demo.demo_runs.CLASSIFIERS", CLASSIFIERS[1:2])
    monkeypatch.setattr("manyclass.cli.demo.findings.findings", lambda result: ["short"])
    for name in FORCED:
        monkeypatch.delenv(name, raising=False)

    def call(command, *more):
        words = [str(word).format(made=made, out=tmp_path) for word in (*COMMANDS[command], *more)]
        monkeypatch.setattr(sys, "argv", ["manyclass", command, *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        streams = capfd.readouterr()
        assert not end.value.code, streams.err
        return streams

    return call


def test_every_command_is_among_them():
    # The server goes on until it is ended; see tests/server/test_listening.py.
    names = {command.callback.__name__ for command in app.registered_commands}
    assert names - {"serve"} == COMMANDS.keys()


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"predict"}))
def test_json_is_one_line_with_one_object_and_nothing_beside_it(said, command):
    out, err = said(command, "--json")
    assert isinstance(json.loads(out), dict)
    assert out.count("\n") == 1
    assert out.endswith("\n")
    assert err == ""


def test_json_of_predictions_is_one_line_for_each_row(said):
    out, err = said("predict", "--json")
    assert [sorted(json.loads(line)) for line in out.splitlines()] == [
        ["classes", "name", "probabilities", "scores", "unsure"]
    ] * 180
    assert err == ""


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_off_a_terminal_nothing_has_escape_codes(said, command):
    out, err = said(command)
    assert out
    assert "\x1b" not in out + err


@pytest.mark.parametrize("no_color", ["", "1"], ids=["asked for nothing", "NO_COLOR"])
@pytest.mark.parametrize("command", ["info", "search"])
def test_on_a_terminal_tables_have_colors_unless_nobody_wants_them(said, monkeypatch, command, no_color):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were one
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_color)
    out = said(command).out
    assert "\x1b[" in out
    assert ("\x1b[36m" in out) == (not no_color)
