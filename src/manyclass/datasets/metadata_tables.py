"""Tables beside pictures that say something of each, as the folders of Hugging Face have them.

    metadata.csv, metadata.jsonl or metadata.parquet        file_name, label, and whatever else

`file_name` is a path from the folder of the table. A table may lie in any folder, such as train/ and test/, and is for
what is below it.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from manyclass.datasets.dataset import without_label
from manyclass.datasets.label_files import read_labels

METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


@dataclass
class PictureMetadata:
    """Labels and parts by the names of pictures, the tables that gave them, and a sentence for those that give none."""

    labels: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)

    def label(self, name: str) -> str:
        """The label of a picture; nothing for one that no table names."""
        return self.labels.get(name, "")


def read_metadata(source: Path, files: list[str]) -> PictureMetadata:
    """What the tables among files below a folder say of the others."""
    found = PictureMetadata()
    for name in files:
        if os.path.basename(name) not in METADATA:
            continue
        found.tables.add(name)
        try:
            about = read_labels(source / name)
            if "names" not in about:
                raise ValueError(f"{source / name} must have a column called file_name; it has none")
        except (ValueError, OSError, ImportError) as error:
            found.notices.append(f"{error}; it is left out")
            continue
        paths = [os.path.normpath(os.path.join(os.path.dirname(name), str(one))) for one in about["names"]]
        lacking = without_label(about["y"]).tolist()
        words = ("" if none else str(label) for label, none in zip(about["y"].tolist(), lacking, strict=True))
        found.labels |= dict(zip(paths, words, strict=True))
        if "split" in about:
            found.parts |= dict(zip(paths, map(str, about["split"].tolist()), strict=True))
    return found
