"""Names and labels in the folder that clip-retrieval writes.

img_emb/img_emb_N.npy              features, (n_N, d)
metadata/metadata_N.parquet        n_N rows: image_path, key or url, and whatever came with the images
"""

from pathlib import Path

from manyclass.data.npy import map_npy, npy_shards, numbers
from manyclass.data.parquet import count_rows, parquet_shards
from manyclass.datasets.beside import beside_file
from manyclass.datasets.columns import in_parquet
from manyclass.datasets.labels import About


def in_clip_retrieval(folder: Path) -> About:
    """What the metadata say of every row, and then what files beside img_emb say."""
    return _metadata(folder) | beside_file(folder / "img_emb")


def _metadata(folder: Path) -> About:
    if not (folder / "metadata").is_dir():
        return {}
    known = {numbers(path): path for path in parquet_shards(folder / "metadata")}
    return in_parquet([_partner(path, known, folder) for path in npy_shards(folder / "img_emb")])


def _partner(features: Path, known: dict[tuple[int, ...], Path], folder: Path) -> Path:
    path = known.get(numbers(features))
    if path is None:
        raise ValueError(f"{folder / 'metadata'} must have a parquet file for {features.name}; got none of its number")
    n, rows = len(map_npy(features)), count_rows(path)
    if n != rows:
        raise ValueError(f"{path} must have {n} rows, as {features.name} has; got {rows}")
    return path
