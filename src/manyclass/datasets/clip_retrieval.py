"""Names and labels in the folder that clip-retrieval writes.

img_emb/img_emb_N.npy              features, (n_N, d)
metadata/metadata_N.parquet        n_N rows: image_path, key or url, and whatever came with the images
"""

from collections.abc import Sequence
from pathlib import Path

from manyclass.data.npy import map_npy, npy_shards
from manyclass.data.parquet import count_rows, parquet_shards
from manyclass.datasets.beside import beside_folder
from manyclass.datasets.columns import in_parquet
from manyclass.datasets.finding import Finding
from manyclass.datasets.partners import partners


def in_clip_retrieval(folder: Path) -> list[Finding]:
    """What files beside img_emb say of every row, and then what the metadata say."""
    metadata = folder / "metadata"
    known = parquet_shards(metadata) if metadata.is_dir() else []
    inside = in_parquet(metadata, lambda: _paired(npy_shards(folder / "img_emb"), known)) if known else []
    return beside_folder(folder / "img_emb") + inside


def _paired(features: Sequence[Path], known: Sequence[Path]) -> list[Path]:
    paths = partners(features, known)
    for path, rows in zip(paths, features, strict=True):
        n, m = len(map_npy(rows)), count_rows(path)
        if n != m:
            raise ValueError(f"{path} must have {n} rows, as {rows.name} has; got {m}")
    return paths
