"""`python -m benchmarks`: what is run, and what happens to what cannot be."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks.versions import versions

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """An empty folder to write to; benchmarks that copy their pages, and one of features that lacks its peer."""

    def fake(name):
        def run(**settings):
            if name.endswith("features"):
                raise SystemExit("this benchmark needs something")
            return SimpleNamespace(write=lambda folder: _copied(name.removeprefix("benchmarks."), folder))

        return SimpleNamespace(run=run)

    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "import_module", fake)
    return tmp_path


def _copied(name, folder):
    (folder / f"{name}.md").write_text((FOLDER / f"{name}.md").read_text(encoding="utf-8"), encoding="utf-8")
    return folder / f"{name}.md"


def test_index_runs_nothing_and_writes_the_overview(pages):
    command.main(["index"])
    assert [path.name for path in pages.iterdir()] == ["index.md"]


def test_a_benchmark_that_cannot_run_is_left_out_and_said_in_the_end(pages):
    with pytest.raises(SystemExit, match="features was left out: this benchmark needs something"):
        command.main(["features", "search"])
    assert "(search.md)" in (pages / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"), [(["speed"], "got 'speed'"), (["path", "search", "n=3"], "one benchmark at")]
)
def test_wrong_words_are_refused(pages, words, said):
    with pytest.raises(SystemExit, match=said):
        command.main(words)
    assert list(pages.iterdir()) == []


def test_versions_are_those_of_this_interpreter_and_of_that_of_the_peers(monkeypatch):
    monkeypatch.delenv("MANYCLASS_PEERS", raising=False)
    here = versions()
    assert here.startswith(f"numpy {np.__version__}, scikit-learn ")
    monkeypatch.setenv("MANYCLASS_PEERS", sys.executable)
    assert versions() == here
