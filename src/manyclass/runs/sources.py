"""What a run works on, as users name it: rows with labels at a path, a subset of them, or something else there."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.reading import read_file
from manyclass._core.typing import Notify
from manyclass.runs.folder import is_run
from manyclass.runs.records import RETRIEVAL_FILE, RUN, RUN_FILE, kind_of

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset


@contextmanager
def passing_warnings(warn: Notify | None) -> Iterator[None]:
    """Pass what estimators warn of inside to `warn`, each sentence once, whatever comes of it."""
    if warn is None:
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        told: set[str] = set()
        try:
            yield
        finally:
            for one in caught:
                if issubclass(one.category, UserWarning) and (words := str(one.message)) not in told:
                    told.add(words)
                    warn(words)


def read_subset(
    source: Path,
    labels: str | None,
    subset: str | None,
    preferred: Sequence[str],
    test_fraction: float | None = None,
    seed: int = 0,
    warn: Notify | None = None,
    separator: str | None = None,
) -> "Dataset":
    """The rows of a subset that have a label; by default of the first `preferred` one that there is, or else all."""
    dataset = draw_test_subset(read_labeled(source, labels, warn, separator), test_fraction, seed)
    return labeled_subset(dataset, subset, preferred, warn)


def draw_sample(dataset: "Dataset", sample: int | None, seed: int) -> "Dataset":
    """So many rows, the same part of every class and at least one; all if there are no more, or None is given."""
    import numpy as np

    from manyclass._core.checks import check_count
    from manyclass._core.errors import SettingsError

    if sample is None or check_count(sample, "sample") >= len(dataset):
        return dataset
    strata = np.asarray(dataset.y) if _has_sorted_classes(dataset) else dataset.strata()
    numbers, counts = np.unique(strata, return_inverse=True, return_counts=True)[1:]
    if sample < len(counts):
        raise SettingsError(f"`sample` must be at least {len(counts)}, a row of every class; got {sample}")
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(numbers))
    by_class = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    rank = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Rows of a class stand at equal distances in (0, 1], from a random place on; the first of each comes before all.
    place = (rank + np.repeat(rng.random(len(counts)), counts)) / np.repeat(counts, counts)
    chosen = np.argsort(np.where(rank, place, -1.0), kind="stable")[:sample]
    return dataset.take(np.sort(by_class[chosen]), dataset.subset_name)


def _has_sorted_classes(dataset: "Dataset") -> bool:
    """Whether labels are numbers of classes whose words are in order, so that the numbers do as well as the words."""
    import numpy as np

    if dataset.separator is not None or dataset.classes is None or np.asarray(dataset.y).dtype.kind == "U":
        return False
    words = np.asarray(dataset.classes, np.str_)
    return bool((words[:-1] < words[1:]).all())


def read_validation(source: Path, warn: Notify | None = None, separator: str | None = None) -> "Dataset":
    """The subset val, or all rows of data without a test subset: what is kept for testing must choose nothing."""
    dataset = read_labeled(source, None, warn, separator)
    parts = dataset.split_names()
    if "test" in parts and "val" not in parts:
        raise ValueError(
            f"{source} must have a part val, or no part test, to choose by; it has the parts {', '.join(parts)}"
        )
    return labeled_subset(dataset, None, ("val",), warn)


def read_labeled(
    source: Path, labels: str | None, warn: Notify | None = None, separator: str | None = None
) -> "Dataset":
    """The rows at a path, which must have labels: one each, or any number with a separator between them."""
    dataset = read_source(source, labels, warn)
    if dataset.y is None:
        raise ValueError(f"{source} must have labels; it has none; give a file of them with `labels`")
    return dataset if separator is None else replace(dataset, separator=separator)


def read_source(source: Path, labels: str | None = None, warn: Notify | None = None) -> "Dataset":
    """The rows at a path, with labels from a file, or without any if that is called "none".

    Whatever the reader leaves out goes to `warn`, in a sentence each; to the warnings of Python if that is None.
    """
    from manyclass.datasets.dataset import read_features

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the notices say the same
        try:
            dataset = read_features(source, labels=False if labels == "none" else labels)
        except ValueError:
            if is_run(source):
                way_out = "give the data that it is to be used on"
                raise ValueError(f"{source} must hold features, and it holds a run; {way_out}") from None
            check_not_pictures(source)
            raise
    for notice in dataset.notices:
        (warn or warnings.warn)(notice)
    return dataset


def labels_words(dataset: "Dataset") -> str:
    """Where labels were found beside the rows, for the end of a sentence; nothing where they came with them."""
    return "" if dataset.labels_path is None else f", with the labels of {dataset.labels_path}"


def labeled_subset(
    dataset: "Dataset", subset: str | None, preferred: Sequence[str], warn: Notify | None = None
) -> "Dataset":
    """The rows of a subset that have a label; how many have none is told in a sentence."""
    import numpy as np

    from manyclass.datasets.dataset import ALL, NO_LABEL, without_label

    if subset is None:
        subset = next(filter(dataset.split_names().__contains__, preferred), ALL)
    chosen, y = dataset.subset(subset), np.asarray(dataset.y)
    index = np.arange(len(dataset)) if chosen.rows is None else chosen.rows
    named = dataset.classes is not None and y.dtype.kind != "U"
    words = np.asarray(dataset.classes, np.str_) if named else y  # of classes: those of all rows take much memory
    # A row of several labels may have none, and is then a negative of all.
    empty = without_label(words) if dataset.separator is None else np.zeros(len(words), np.bool_)
    lacking = empty[y[index]] if named else empty[index]
    n, word = int(np.count_nonzero(lacking)), "empty" if words.dtype.kind == "U" else NO_LABEL
    where = "" if subset == ALL else f" of the part {subset}"
    if n and n == len(index):
        raise ValueError(
            f"{dataset.path} must have labels; that of every row{where} is {word}; give a file of them with `labels`, "
            "or choose other rows with `subset`"
        )
    if n:
        rows, theirs = ("row", "its label is") if n == 1 else ("rows", "their label is")
        (warn or warnings.warn)(f"{n:,} {rows}{where} of {dataset.path} left out, as {theirs} {word}")
    return dataset.take(index[~lacking], subset) if n else chosen


def draw_test_subset(dataset: "Dataset", fraction: float | None, seed: int) -> "Dataset":
    """The same rows, with a split that is drawn if a fraction for testing is asked for."""
    y = dataset.y if dataset.separator is None else dataset.strata()
    split = splits_with_test(y, dataset.split, fraction, seed, dataset.path)
    return dataset if split is dataset.split else replace(dataset, split=split)


def splits_with_test(y: Any, split: Any, fraction: float | None, seed: int, source: Path | None) -> Any:
    """The split of rows with these labels: the one they have, or one that is drawn if a fraction is asked for."""
    from manyclass.datasets.splits import draw_splits

    if fraction is None:
        return split
    if not 0 < fraction < 1:
        raise ValueError(f"`test_fraction` must be between 0 and 1; got {fraction}")
    if split is not None:
        raise ValueError(f"`test_fraction` is for data without parts; {source} has a split already")
    if y is None:
        raise ValueError(f"`test_fraction` needs labels, as it keeps some of every class; {source} has none")
    return draw_splits(y, fraction, seed)


def check_not_pictures(data: Path) -> None:
    """Say how pictures become features, if that is what a folder holds that has no features."""
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.datasets.image_folders import PICTURES
    from manyclass.runs.pictures import holds_archives

    if data.exists() and holds_archives(data):
        way_out = f"make features of them first: manyclass features {data} -o {data.stem}.store"
        raise ValueError(f"{data} must hold features, and it holds pictures; {way_out}") from None
    if not data.is_dir():
        return
    try:
        layout_of(data)
    except ValueError:
        if any(name.lower().endswith(PICTURES) for _, _, names in os.walk(data) for name in names):
            way_out = f"make features of them first: manyclass features {data} -o {data.name}.store"
            raise ValueError(f"{data} must hold features, and it holds pictures; {way_out}") from None


def check_is_pictures(source: Path) -> None:
    """Say what a store, a gallery, a run, a model or a file of features is, and which command takes it."""
    what = _in_folder(source) if source.is_dir() else _in_file(source)
    if what is not None:
        raise ValueError(f"{source} must hold pictures, and it {what}")


def _in_folder(folder: Path) -> str | None:
    """By what the files say themselves: others have such names too, and pictures beside them."""
    from manyclass.data.store.journal import is_unfinished
    from manyclass.data.store.manifest import FORMAT, MANIFEST, unfinished_words
    from manyclass.retrieval.storage.segments import is_gallery

    if is_gallery(folder):
        return f"is a gallery; search it: manyclass search {folder} picture.jpg"
    if (folder / MANIFEST).is_file() and FORMAT.encode() in read_file(folder / MANIFEST, "manifest"):
        return f"is a store of features already; learn from it: manyclass train {folder} -o run"
    if is_unfinished(folder):
        return f"is a store of features already; {unfinished_words(folder)}"
    if (folder / RUN_FILE).is_file() and kind_of(folder / RUN_FILE) == RUN:
        return f"is a run of manyclass train; use it: manyclass predict {folder} picture.jpg"
    return None


def _in_file(file: Path) -> str | None:
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.runs.load_model import is_model
    from manyclass.runs.pictures import holds_archives

    if holds_archives(file):
        return None
    if is_model(file):
        return f"is a model; see what it is for: manyclass info {file}"
    try:
        layout_of(file)
    except (ValueError, FileNotFoundError):
        return None
    return f"is a file of features already; learn from it: manyclass train {file} -o run"


def retrieval_file(gallery: Path) -> Path | None:
    """The record of how well the images of a gallery find their class: the part of it that its manifest names.

    Galleries that name none, since they are older, have it beside their files.
    """
    from manyclass.retrieval.storage.segments import is_gallery, read_gallery_manifest, section_path

    content = read_gallery_manifest(gallery)[0] if is_gallery(gallery) else {}
    if "retrieval" in content:
        return section_path(gallery, content["retrieval"]) if content["retrieval"] else None
    beside = gallery / RETRIEVAL_FILE
    return beside if beside.is_file() else None
