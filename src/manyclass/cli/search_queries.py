"""The queries of `manyclass search`: pictures, rows of features, and images of the gallery."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manyclass.cli.gallery_ids import wanted_ids
from manyclass.cli.reading import read_source
from manyclass.cli.search_results import Result, results_of

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery

_FEATURES = (".npy", ".npz", ".parquet", ".pq")


def check_queries(paths: list[Path], ids: list[str]) -> None:
    """Refuse a search for nothing."""
    if not paths and not ids:
        raise typer.BadParameter("a query is missing: a picture, a file of features, or --id")


def found(
    gallery: "Gallery", path: Path, queries: list[Path], ids: list[str], k: int, where: dict[str, Any] | None
) -> list[Result]:
    """The results of all queries, files in their order and then ids."""
    results = []
    for group in _groups(queries):
        if _is_features(group[0]):
            results += _by_features(gallery, path, group[0], k, where)
        else:
            results += _by_pictures(gallery, path, group, k, where)
    if ids:
        known = wanted_ids(gallery, ids, path)
        hits = gallery.search_ids(known, k, where)
        results += results_of(gallery, [str(key) for key in known], [None] * len(known), hits, known)
    return results


def _groups(queries: list[Path]) -> Iterator[list[Path]]:
    """Pictures that follow each other together, as they are encoded in parallel; files of features one by one."""
    pictures: list[Path] = []
    for query in queries:
        if not _is_features(query):
            pictures.append(query)
            continue
        if pictures:
            yield pictures
        yield [query]
        pictures = []
    if pictures:
        yield pictures


def _is_features(path: Path) -> bool:
    return path.suffix.lower() in _FEATURES or path.is_dir()


def _by_pictures(gallery: "Gallery", path: Path, files: list[Path], k: int, where: Any) -> list[Result]:
    missing = next((file for file in files if not file.exists()), None)
    if missing is not None:
        raise FileNotFoundError(2, "No such file or directory", str(missing))
    if gallery.features is None:
        raise ValueError(
            f"{path} cannot be searched by pictures such as {files[0]}, as it does not know what encoded its own; "
            "give features, or make it anew with --encoder"
        )
    return results_of(gallery, [str(file) for file in files], files, gallery.search_images(files, k, where))


def _by_features(gallery: "Gallery", path: Path, file: Path, k: int, where: Any) -> list[Result]:
    X, names = _rows(file)
    if gallery.n_features_in_ not in (None, X.shape[1]):
        raise ValueError(f"{file} must have {gallery.n_features_in_} columns, as {path} has; got {X.shape[1]}")
    return results_of(gallery, names, [None] * len(names), gallery.search(X, k, where))


def _rows(file: Path) -> tuple[Any, list[str]]:
    """Rows that ask, and names for them; a file of one vector is one row."""
    import numpy as np

    if file.suffix.lower() == ".npy" and file.exists():
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        if array.ndim == 1:
            return array[None], [str(file)]
    features = read_source(file)
    if features.names is not None:
        return features.X, [str(name) for name in features.names]
    n = features.X.shape[0]
    return features.X, [f"{file} row {i}" for i in range(n)] if n > 1 else [str(file)]
