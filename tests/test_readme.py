"""What README.md shows runs, and what it quotes was measured."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names_left(tmp_path_factory):
    """What the blocks of Python leave behind, run one after the other as they are pasted."""
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("readme"))
        for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
            exec(code, given)
        given["saved"] = {path.name for path in Path.cwd().iterdir()}
    return given


def test_the_classifier_of_the_readme_learns_and_is_saved(names_left):
    assert names_left["clf"].score(names_left["X"], names_left["labels"]) > 0.9
    assert {"classifier.safetensors", "photos.gallery"} <= names_left["saved"]


def test_the_search_of_the_readme_tells_copies_from_strangers(names_left):
    strangers = np.random.default_rng(0).normal(size=(5, 64))
    strangers /= np.linalg.norm(strangers, axis=1, keepdims=True)
    assert names_left["hits"].ids[:, 0].tolist() == names_left["names"][:5]
    assert names_left["hits"].matched.tolist() == [True] * 5
    assert not names_left["g"].search(strangers).matched.any()


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) < 120


def measured_times() -> set[float]:
    """Seconds that stand on the pages of benchmarks."""
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    found = set()
    for path in (ROOT / "docs" / "benchmarks").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        found |= {float(t) * units[unit] for t, unit in re.findall(r"([\d.]+) (us|ms|s)\b", text)}
    return found


def test_the_rate_of_photographs_is_that_of_the_page_with_the_size_that_they_have_there():
    found = re.search(r"(\d+) photographs of (\d+ x \d+) pixels a second on two cores", " ".join(README.split()))
    page = (ROOT / "docs" / "benchmarks" / "feature_folder.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| fisher |"))
    assert row.split(" | ")[6] == found[1]
    assert f"photographs, {found[2]} pixels in the median" in page


def test_every_time_in_the_table_of_the_readme_was_measured():
    table = README.split("## How fast\n")[1].split("\n## ")[0]
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    quoted = re.findall(r"([\d.]+) (us|ms|s)\b", table)
    assert len(quoted) >= 20
    for digits, unit in quoted:
        time, places = float(digits) * units[unit], len(digits.split(".")[1]) if "." in digits else 0
        half = 0.5001 * 10**-places * units[unit]
        assert any(abs(time - measured) <= half for measured in measured_times()), f"{digits} {unit}"
