"""Pixels of files that a test writes."""

import pytest

from manyclass.features.images.decoding import read_image


@pytest.fixture
def read(tmp_path):
    """read(bytes) gives the pixels of a file of these bytes."""

    def call(data, **settings):
        (tmp_path / "x").write_bytes(data)
        return read_image(tmp_path / "x", **settings)

    return call
