"""The versions of formats on the page are those of the code."""

import re
from pathlib import Path

from manyclass._core import models
from manyclass.data.store import manifest
from manyclass.retrieval.storage import segments
from manyclass.runs import records
from manyclass.solvers.sgd import saved_weights

PAGE = (Path(__file__).parents[2] / "docs" / "deprecation.md").read_text(encoding="utf-8")


def test_the_page_says_the_versions_of_files():
    said = {row[0].split()[0]: int(row[1]) for row in re.findall(r"^\| (.+?) \| (\d+) \|", PAGE, re.MULTILINE)}
    assert said == {
        "store": manifest.VERSION,
        "model": models.FORMAT.version,
        "gallery": segments.GALLERY_VERSION,
        "records": records.VERSION,
        "checkpoint": saved_weights.FORMAT.version,
    }
