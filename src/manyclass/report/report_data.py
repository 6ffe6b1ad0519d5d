"""ReportData: the records that a page is made of, collected from the folders that hold them."""

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyclass._core.typing import Notify
from manyclass.runs.folder import EVALUATIONS, check_has_all_classes, is_run, read_run, read_whole_run, seen_rows
from manyclass.runs.records import (
    AUDIT,
    AUDIT_FILE,
    EVALUATION,
    PROBE,
    PROBE_FILE,
    RETRIEVAL,
    RETRIEVAL_FILE,
    RUN_FILE,
    kind_of,
    read_record,
)
from manyclass.runs.sources import retrieval_file

_DEPTH = 2  # folders of folders of runs, and no deeper


@dataclass(frozen=True)
class RunReport:
    """A run: its folder, its record, its evaluations by name, and its number on the page, which gives its color."""

    name: str
    folder: Path
    record: dict[str, Any]
    evaluations: dict[str, dict[str, Any]]
    number: int = 0


@dataclass(frozen=True)
class SearchReport:
    """A comparison of ways to search a gallery."""

    name: str
    folder: Path
    record: dict[str, Any]


@dataclass(frozen=True)
class AuditReport:
    """What was found wrong with data."""

    name: str
    folder: Path
    record: dict[str, Any]


@dataclass(frozen=True)
class ProbeReport:
    """How good embeddings are: the record of a probe."""

    name: str
    record: dict[str, Any]


@dataclass(frozen=True)
class ReportData:
    """What a page shows: runs, comparisons of galleries, probes, audits, and a folder of images that the user gave.

    `taken` are the folders and arrays that images on the page came from, which sections add to.
    """

    runs: Sequence[RunReport] = field(default_factory=list)
    searches: Sequence[SearchReport] = field(default_factory=list)
    probes: Sequence[ProbeReport] = field(default_factory=list)
    images: Path | None = None
    taken: set[Path] = field(default_factory=set)
    audits: Sequence[AuditReport] = field(default_factory=list)

    @property
    def evaluated_runs(self) -> list[tuple[RunReport, dict[str, Any]]]:
        """The runs with the evaluation on the same test that most have, the most accurate first.

        If there is a choice, it is one on rows that no run has seen, and then one of a test split.
        """
        return sorted(_on_one_test(self.runs), key=lambda pair: -pair[1]["top_1"])

    @property
    def runs_on_other_tests(self) -> list[tuple[RunReport, dict[str, Any]]]:
        """The other runs that have an evaluation, each with one of its own; these cannot be compared."""
        compared = {run.name for run, _ in self.evaluated_runs}
        return [pair for run in self.runs if run.name not in compared for pair in _on_one_test([run])]


def _on_one_test(runs: Iterable[RunReport]) -> list[tuple[RunReport, dict[str, Any]]]:
    """The runs that have an evaluation on the same test, of all tests the one that most runs have."""
    same: dict[tuple[Any, ...], dict[str, tuple[RunReport, dict[str, Any]]]] = {}
    for run in runs:
        for name, evaluation in sorted(run.evaluations.items(), key=lambda pair: pair[1]["prior"] is not None):
            # Of a run that was judged twice by the same examples, with other features, the first is as good; with
            # another prior than its own it is judged as something else.
            same.setdefault(_test(name, evaluation), {}).setdefault(run.name, (run, evaluation))
    chosen = min(same, key=lambda key: (*_preference(list(same[key].values())), key), default=None)
    return [] if chosen is None else list(same[chosen].values())


def _test(name: str, evaluation: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a test from others: the names and labels of its examples.

    Where these are not known, the name of its file with the fingerprint of the rows, or how many each class has.
    """
    if evaluation["fingerprint"] is not None:
        return "", evaluation["fingerprint"], evaluation["rows"]
    if evaluation["data"]["fingerprint"] is not None:
        return name, evaluation["data"]["fingerprint"], evaluation["rows"]
    return name, json.dumps(sorted((one["class"], one["rows"]) for one in evaluation["per_class"])), evaluation["rows"]


def _preference(measured: list[tuple[RunReport, dict[str, Any]]]) -> tuple[int, bool, bool]:
    data = [(run.record, evaluation["data"]) for run, evaluation in measured]
    seen = any(seen_rows(*pair) for pair in data)
    return -len(measured), seen, all(evaluated["part"] != "test" for _, evaluated in data)


def collect(
    paths: Iterable[str | os.PathLike[str]], images: str | os.PathLike[str] | None = None, warn: Notify | None = None
) -> ReportData:
    """Collect the records that a page is made of.

    Parameters
    ----------
    paths : iterable of path-like
        Run folders, folders of them, gallery folders, audits, or records of galleries, probes and audits.
    images : path-like, default=None
        Folder in which the images of rows are looked for first.
    warn : callable, default=None
        Called with a sentence on what is left out; None for Python's warnings.

    Returns
    -------
    ReportData
        Runs, comparisons of galleries, probes and audits, each once.

    Raises
    ------
    ValueError
        If a path holds no record, or a run that is unfinished.
    """
    found: dict[Path, _Found] = {}
    for path in map(Path, paths):
        here = list(_records_at(path, warn or warnings.warn))
        if not here:
            rule = f"must hold {RUN_FILE}, {RETRIEVAL_FILE}, {PROBE_FILE} or {AUDIT_FILE}, or folders that do"
            raise ValueError(f"{path} {rule}; give what `manyclass train -o` wrote")
        # The same file by two ways is one.
        found.update((file.resolve(), one) for file, one in here)
    if images is not None and not Path(images).is_dir():
        raise ValueError(f"images must be a folder; got {images}")
    runs = [one for one in found.values() if isinstance(one, RunReport)]
    searches = [one for one in found.values() if isinstance(one, SearchReport)]
    audits = [one for one in found.values() if isinstance(one, AuditReport)]
    probes = [one for one in found.values() if isinstance(one, ProbeReport)]
    return ReportData(_number_runs(runs), searches, probes, None if images is None else Path(images), audits=audits)


_Found = RunReport | SearchReport | ProbeReport | AuditReport


def _records_at(path: Path, warn: Notify) -> Iterator[tuple[Path, _Found]]:
    if path.is_dir():
        if is_run(path):
            check_has_all_classes(path, read_run(path))  # which refuses one that is unfinished
        return _records_in(path, _DEPTH, warn)
    if path.name == RUN_FILE:
        return _records_in(path.parent, 0, warn)
    kind = kind_of(path)
    if kind == AUDIT:
        return iter([(path, _read_audit(path))])
    if kind == PROBE:
        return iter([(path, _read_probe(path))])
    if kind != RETRIEVAL:
        rule = f"must be a run folder, a {RETRIEVAL_FILE} or the record of a probe"
        raise ValueError(f"{path} {rule}; got {kind or 'something else'}")
    return iter([(path, _read_search(path))])


def _records_in(folder: Path, depth: int, warn: Notify) -> Iterator[tuple[Path, _Found]]:
    done = (folder / RUN_FILE).is_file()
    if done and read_run(folder)["shard"]:
        warn(f"{folder} is left out, as it has a part of the classes only; make it whole by manyclass join")
    elif done:
        yield folder / RUN_FILE, _read_run(folder, warn)
    elif is_run(folder):
        warn(f"{folder} is left out, as its run is unfinished; go on with it by manyclass train --resume")
    if (search := retrieval_file(folder)) is not None:
        yield search, _read_search(search)
    if (folder / AUDIT_FILE).is_file():
        yield folder / AUDIT_FILE, _read_audit(folder / AUDIT_FILE)
    if (folder / PROBE_FILE).is_file() and kind_of(folder / PROBE_FILE) == PROBE:
        yield folder / PROBE_FILE, _read_probe(folder / PROBE_FILE)
    if depth and not done:
        for child in sorted(child for child in folder.iterdir() if child.is_dir()):
            yield from _records_in(child, depth - 1, warn)


def _read_run(folder: Path, warn: Notify) -> RunReport:
    record, evaluations = read_whole_run(folder), {}
    for file in sorted((folder / EVALUATIONS).glob("*.json")):
        evaluation = read_record(file, EVALUATION)
        if evaluation["model"] == record["files"]["model"]["sha256"]:
            evaluations[file.stem] = evaluation
        else:
            warn(f"{file} is left out, as it is of another model than that of {folder}; evaluate again")
    return RunReport(_name(folder), folder, record, evaluations)


def _read_search(file: Path) -> SearchReport:
    return SearchReport(_name(file.parent), file.parent, read_record(file, RETRIEVAL))


def _read_audit(file: Path) -> AuditReport:
    return AuditReport(_name(file.parent), file.parent, read_record(file, AUDIT))


def _read_probe(file: Path) -> ProbeReport:
    return ProbeReport(file.stem, read_record(file, PROBE))


def _name(folder: Path) -> str:
    return folder.name or folder.resolve().name


def _number_runs(runs: list[RunReport]) -> list[RunReport]:
    """With numbers, and with the name of the parent where two runs have one name."""
    often = Counter(run.name for run in runs)
    names = [run.name if often[run.name] == 1 else f"{_name(run.folder.resolve().parent)}/{run.name}" for run in runs]
    return [
        RunReport(name, run.folder, run.record, run.evaluations, number)
        for number, (name, run) in enumerate(zip(names, runs, strict=True))
    ]
