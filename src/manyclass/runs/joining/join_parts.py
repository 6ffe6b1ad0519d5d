"""join: the parts of one piece of work become what one process would have made, byte for byte."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from manyclass._core.errors import StorageError
from manyclass._core.files import expand_home
from manyclass._core.typing import Notify, ProgressFactory, no_progress


def join(
    out: str | os.PathLike[str],
    parts: Sequence[str | os.PathLike[str]],
    *,
    overwrite: bool = False,
    resume: bool = True,
    notify: Notify | None = None,
    warn: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Join parts of features, galleries or classes into what one process would have made, byte for byte.

    Parts come from `shard` of `write_features` and `build_gallery`, or `classes` of `train`. Of a run it is the model
    that has the same bytes; its record tells of the parts' time and memory.

    Parts say themselves which they are, so their order and names do not matter. They stay as they are. What is joined
    is there at one instant, whole or not at all.

    Parameters
    ----------
    out : path-like
        The store, gallery or run to write.
    parts : sequence of path-like
        All parts: stores, galleries, or runs.
    overwrite : bool, default=False
        Replace what is there.
    resume : bool, default=True
        Go on with what an interrupted call was joining, and leave a run of the same parts that is done as it is; False
        drops what was done of a store.
    notify : callable, default=None
        Called with a sentence if a run is done already.
    warn : callable, default=None
        Called with a sentence about what is doubtful in the result; None for warnings of Python.
    progress : callable, default=None
        Called as ``with progress("joining", "rows") as report:``, and then ``report(done, total)``.

    Returns
    -------
    dict
        What was joined (`kind`), of how many `parts`, and what it holds.

    Raises
    ------
    StorageError
        If a part is missing, there twice, unfinished, changed, or of other data, settings or versions.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> X = np.random.default_rng(0).standard_normal((3000, 8), dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), X)
    ...     for shard in ("1/2", "2/2"):
    ...         part = Path(folder, shard.replace("/", "of"))
    ...         _ = mc.runs.build_gallery(Path(folder, "x.npy"), part, method="lda", shard=shard)
    ...     result = mc.runs.join(Path(folder, "all"), [Path(folder, "2of2"), Path(folder, "1of2")])
    >>> result["kind"], result["parts"], result["images"]
    ('gallery', 2, 3000)
    """
    target, folders = expand_home(out), [expand_home(part) for part in parts]
    if not folders:
        raise ValueError("parts must name at least one part; got none")
    places = [folder.resolve() for folder in folders]
    for i, place in enumerate(places):
        if place == target.resolve():
            raise StorageError(f"{target} is one of the parts; choose another name for what they become")
        if place in target.resolve().parents:
            raise StorageError(f"{target} lies in the part {folders[i]}; choose another name for what they become")
        if place in places[:i]:
            raise StorageError(f"{folders[i]} is given twice; leave one of them out")
    kinds = [_kind_of(folder) for folder in folders]
    for folder, kind in zip(folders, kinds, strict=True):
        if kind != kinds[0]:
            _check_is_any(folders[0], folder)
            raise StorageError(f"{folders[0]} is a {kinds[0]} and {folder} is a {kind}; give parts of one kind")
    with (progress or no_progress)("joining", "rows") as report:
        found = _JOIN[kinds[0]](target, folders, overwrite, resume, notify, warn, report)
    return {"path": str(target), "kind": kinds[0], "parts": len(folders), **found}


def _check_is_any(*folders: Path) -> None:
    """Say of a folder that is nothing at all what is wrong with it, rather than that it is of another kind."""
    from manyclass.data.store.manifest import read_manifest

    for folder in folders:
        if _kind_of(folder) == "store":
            read_manifest(folder)


def _stores(
    target: Path, folders: list[Path], overwrite: bool, resume: bool, notify: Any, warn: Any, report: Any
) -> dict[str, Any]:
    from manyclass.runs.joining.join_stores import join_stores

    return join_stores(target, folders, overwrite, resume, report)


def _galleries(
    target: Path, folders: list[Path], overwrite: bool, resume: bool, notify: Any, warn: Any, report: Any
) -> dict[str, Any]:
    from manyclass.runs.joining.join_galleries import join_galleries

    return join_galleries(target, folders, overwrite, warn, report)


def _runs(
    target: Path, folders: list[Path], overwrite: bool, resume: bool, notify: Any, warn: Any, report: Any
) -> dict[str, Any]:
    from manyclass.runs.joining.join_runs import join_runs

    return join_runs(target, folders, overwrite, resume, notify, warn)


# What joins parts of a kind: (out, parts, overwrite, resume, notify, warn, report) to what the result holds.
_JOIN: dict[str, Callable[..., dict[str, Any]]] = {"store": _stores, "gallery": _galleries, "run": _runs}


def _kind_of(folder: Path) -> str:
    """What a part is; a folder that is none is refused when it is read as a store."""
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.runs.folder import is_run

    if is_run(folder):
        return "run"
    return "gallery" if is_gallery(folder) else "store"
