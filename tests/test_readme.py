"""The search that README.md shows is one that runs."""

import re
from pathlib import Path

import numpy as np

import manyclass as mc

README = Path(__file__).parents[1] / "README.md"


def test_the_image_search_of_the_readme_runs_and_tells_copies_from_strangers(tmp_path, monkeypatch):
    section = README.read_text(encoding="utf-8").split("## Image search\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    rng = np.random.default_rng(0)
    world, photos, strangers = (rng.normal(size=(n, 32)) for n in (2000, 100, 5))
    given = {"names": [f"{i}.jpg" for i in range(100)], "years": (2000 + np.arange(100) % 20).tolist()}
    given |= {"mc": mc, "world": world, "photos": photos, "queries": np.vstack([photos[1:6], strangers])}
    monkeypatch.chdir(tmp_path)
    exec(code, given)
    assert given["hits"].ids[:5, 0].tolist() == given["names"][1:6]
    assert given["hits"].matched.tolist() == [True] * 5 + [False] * 5
    assert len(given["g"]) == 99
