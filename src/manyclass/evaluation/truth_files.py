"""read_truth: the ground truth of Holidays, Oxford, Paris and their revisited forms, as their authors gave it out."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyclass.evaluation.holidays_list import read_holidays
from manyclass.evaluation.oxford_files import read_oxford
from manyclass.evaluation.plain_pickle import read_pickle
from manyclass.evaluation.records import truth_of
from manyclass.evaluation.truth import Truth


def read_truth(path: str | os.PathLike[str], names: Sequence[str] | None = None) -> Truth:
    """Read the ground truth of Holidays, Oxford, Paris and their revisited forms, as their authors published it.

    Formats are

    - .mat: imlist, qidx or qimlist, and gnd with ok (or easy and hard), junk and bbx, as for Holidays, Oxford5k,
    Paris6k
      and the revisited sets;
    - .pkl: the same record, read without executing anything that a pickle may ask for;
    - a folder of the text files of Oxford or Paris (x_query.txt, x_good.txt, x_ok.txt, x_junk.txt);
    - any other file: the list of images of Holidays.

    Parameters
    ----------
    path : path-like
        File or folder.
    names : sequence of str, default=None
        Images of the database in the order of the columns of scores, with or without folders and file extensions; those
        that the file lacks are distractors. With None the order is that of the file, which text files of Oxford lack.

    Returns
    -------
    Truth
        Ground truth.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    ValueError
        If it holds no ground truth.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        return read_oxford(path, names)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a file or folder of ground truth; {path} is not there")
    truth = _in_file(path)
    return truth if names is None else truth.reordered(names)


def _in_file(path: Path) -> Truth:
    if path.suffix not in (".mat", ".pkl", ".pickle"):
        return read_holidays(path)
    try:
        return truth_of(_read_mat(path), first=1) if path.suffix == ".mat" else truth_of(read_pickle(path), first=0)
    except ValueError as error:
        raise ValueError(f"{path} must hold ground truth: {error}") from error


def _read_mat(path: Path) -> Any:
    from scipy.io import loadmat

    try:
        return loadmat(path, simplify_cells=True)
    # A damaged file ends in whatever the parser happens to trip over.
    except Exception as error:
        raise ValueError(f"the .mat file cannot be read ({error})") from error
