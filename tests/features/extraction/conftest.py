"""A folder of images of which some are bad."""

import pytest

from tests.features.hostile import picture, saved


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sixty files in two classes, every seventh of them bad."""
    root = tmp_path_factory.mktemp("images") / "photos"
    for i in range(60):
        path = root / f"class {i % 2}" / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"bad" if i % 7 == 3 else saved(picture(20, 30, seed=i), "PNG"))
    return root
