"""Images to write features of, and the bytes of what was written."""

from pathlib import Path

from manyclass.features.extraction.write_features import skip_log_path
from tests.features.hostile import picture


def many_images(n=40):
    return [picture(20 + i % 7, 30, seed=i) for i in range(n)]


def contents_of(path):
    files = [*Path(path).iterdir(), skip_log_path(path)]
    return {file.name.replace(path.name, "x"): file.read_bytes() for file in files if file.is_file()}
