"""A segment: some images of a saved gallery, their embeddings in .npy files and their labels in a sealed part."""

from pathlib import Path
from typing import Any

import numpy as np

from manyclass.data.store.array_file import write_array
from manyclass.data.store.blocks import BlockFile
from manyclass.data.store.errors import Damage, StoreCorruptedError
from manyclass.data.store.names import Names, encode_names
from manyclass.data.store.record import FileRecord
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.files import Content, as_numbers, read_part, write_part
from manyclass.retrieval.identifiers import Id
from manyclass.retrieval.metadata import as_columns
from manyclass.retrieval.pieces import Codes, Positions
from manyclass.retrieval.stage import Stage

ROLES = ("X", "codes")  # names of the file format: embeddings of the encoder, and of the reranker


def write_segment(folder: Path, serial: int, catalog: Catalog, stages: list[Stage], positions: Positions) -> Content:
    """Write the images at these positions, and give the segment for the manifest."""
    places = positions.tolist()
    files = [
        write_array(folder, f"{role}-{serial}.npy", stage.rows.rows(positions)).json()
        for role, stage in zip(ROLES, stages, strict=False)
    ]
    arrays: dict[str, Any] = {"numbers": as_numbers([catalog.numbers[i] for i in places])}
    ids = [catalog.ids[i] for i in places]
    if catalog.strings:
        arrays["id_bytes"], arrays["id_offsets"] = encode_names([str(key) for key in ids])
    else:
        arrays["ids"] = as_numbers(ids)
    columns = catalog.columns.kept(places).values
    labels = write_part(folder, f"labels-{serial}.safetensors", {"metadata": columns}, arrays)
    return {"rows": len(places), "first": int(arrays["numbers"][0]), "codes": files, "labels": labels}


def read_segment(
    folder: Path, segment: Content, widths: list[int]
) -> tuple[list[Id], dict[str, list[Any]], list[int], list[Codes]]:
    """(ids, columns, numbers, embeddings per stage), all of it checked; these are mapped."""
    content, arrays = read_part(folder, segment["labels"])
    numbers = arrays["numbers"].tolist()
    ids = list(Names(arrays["id_bytes"], arrays["id_offsets"])) if "id_bytes" in arrays else arrays["ids"].tolist()
    files = [BlockFile(folder, FileRecord.from_json(value)) for value in segment["codes"]]
    for file in files:
        file.check()
    shapes = [(len(numbers), d) for d in widths]
    if [file.array.shape for file in files] != shapes or {len(ids), len(numbers)} != {segment["rows"]}:
        raise StoreCorruptedError(folder, Damage(segment["labels"]["name"], None, "does not match its embeddings"))
    return ids, as_columns(len(ids), content["metadata"]), numbers, [_floats(file) for file in files]


def _floats(file: BlockFile) -> Codes:
    return np.ascontiguousarray(file.array, np.float32)
