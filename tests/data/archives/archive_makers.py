"""Tars and parquet files of small pictures, as others write them."""

import io
import json
import tarfile

import numpy as np
from PIL import Image


def picture(number, kind="PNG"):
    """The bytes of a small picture that no other number has."""
    file = io.BytesIO()
    pixels = np.random.default_rng(number).integers(0, 255, (12, 16, 3), np.uint8)
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def write_tar(path, members, **options):
    """A tar of these members: name to bytes, or to a TarInfo's settings."""
    with tarfile.open(path, "w", **options) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, dict):
                for key, value in content.items():
                    setattr(info, key, value)
                tar.addfile(info)
            else:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def write_hub_parquet(path, pictures, labels=None, names=None, row_group_size=3, **options):
    """A parquet file as `datasets` of Hugging Face writes it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {"image": {"_type": "Image"}}
    fields = [("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())]))]
    columns = {"image": [None if data is None else {"bytes": data, "path": None} for data in pictures]}
    if labels is not None:
        fields.append(("label", pa.int64()))
        columns["label"] = labels
        features["label"] = {"names": names, "_type": "ClassLabel"}
    schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})
    pq.write_table(pa.table(columns, schema=schema), path, row_group_size=row_group_size, **options)
    return path
