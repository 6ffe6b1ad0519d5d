"""A model of a saved gallery that is read when it is first needed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass.retrieval.files import Content, part_path


@dataclass(frozen=True)
class Unread:
    """A part of a gallery's folder, as its manifest records it."""

    folder: Path
    record: Content

    def read(self) -> Any:
        """The model, if its file is the one that was written."""
        from manyclass._models import load

        return load(part_path(self.folder, self.record))
