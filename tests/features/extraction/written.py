"""Images to write features of, and the bytes of what was written."""

from pathlib import Path

from tests.features.hostile import picture


def many_images(n=40):
    return [picture(20 + i % 7, 30, seed=i) for i in range(n)]


def contents_of(path):
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


def skip_file(path):
    """The list of skipped images in the folder of a store."""
    (file,) = Path(path).glob("skipped-*.jsonl")
    return file
