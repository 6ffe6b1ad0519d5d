"""Setup: what was done, with what, on what: data, settings, versions, machine."""

import shlex
from typing import Any

from manyclass._core.text import (
    MISSING,
    format_bytes,
    format_count,
    format_number,
    format_seconds,
    join_names,
    pluralize,
)
from manyclass.report.components import Section, fold, paragraph
from manyclass.report.html import Markup, NumberCell, element, table
from manyclass.report.report_data import ProbeReport, ReportData, RunReport, SearchReport

_SHORT = 8  # rows of a table that is shown at once

_DATA_HEADS = ("data", "used for", "rows", "columns", "classes", "size", "fingerprint")


def show_setup(report: ReportData) -> Section | None:
    """Show what was done, and with what.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without records.
    """
    runs = report.runs
    data = _data_rows(report)
    if not runs and not data:
        return None
    content = [_describe_runs(report), table(_DATA_HEADS, data) if data else None]
    if runs:
        content += [_settings_tables(runs), _commands(runs), _environment_tables(runs)]
    return Section("setup", "What was done, and with what", element("div", content))


def _describe_runs(report: ReportData) -> Markup:
    words = []
    if report.runs:
        words.append(f"{pluralize(len(report.runs), 'run')}: {join_names([run.name for run in report.runs])}.")
    words += [f"Search {search.name}: {search.record['protocol']}." for search in report.searches]
    words += [f"Probe {probe.name}: {probe.record['protocol']}." for probe in report.probes]
    return paragraph(" ".join(words))


def _data_rows(report: ReportData) -> list[list[Any]]:
    """One row for each data set, however many records name it."""
    named: dict[tuple[Any, ...], tuple[dict[str, Any], list[str]]] = {}
    for data, role in _mentioned_data(report):
        key = (data["path"], data["fingerprint"], data["rows"])
        named.setdefault(key, (data, []))[1].append(role)
    return [_data_row(data, dict.fromkeys(role for role in roles if role)) for data, roles in named.values()]


def _mentioned_data(report: ReportData) -> list[tuple[dict[str, Any], str]]:
    records: list[RunReport | SearchReport | ProbeReport] = [*report.runs, *report.searches, *report.probes]
    found = [(data, data["role"] or "") for one in records for data in one.record["data"]]
    measured = [evaluation["data"] for run in report.runs for evaluation in run.evaluations.values()]
    return found + [(data, data["part"] or "evaluation") for data in measured]


def _data_row(data: dict[str, Any], roles: dict[str, None]) -> list[Any]:
    figures = [NumberCell(format_count(data[key]), data[key]) for key in ("rows", "columns", "classes")]
    n_bytes = NumberCell(MISSING if data["bytes"] is None else format_bytes(data["bytes"]), data["bytes"])
    mark = element("code", data["fingerprint"][:12], title=data["fingerprint"]) if data["fingerprint"] else MISSING
    return [data["path"] or MISSING, join_names(list(roles)) if roles else MISSING, *figures, n_bytes, mark]


def _settings_tables(runs: Any) -> Markup | None:
    """Settings in which runs differ as a table, folded away if it is long, and those that they share."""
    names = dict.fromkeys(name for run in runs for name in run.record["settings"])
    shared = [name for name in names if len({repr(run.record["settings"].get(name)) for run in runs}) == 1]
    apart = [name for name in names if name not in shared]
    rows = [[name, *(_setting(run, name) for run in runs)] for name in apart]
    common = [[name, _setting(runs[0], name)] for name in shared]
    differing = table(["settings that differ", *(run.name for run in runs)], rows) if rows else None
    return element(
        "div",
        differing if len(rows) <= _SHORT else fold(f"{len(rows)} settings in which runs differ", differing),
        fold(
            f"{pluralize(len(common), 'setting')} {'of every run' if len(runs) > 1 else 'of the run'}",
            table(["setting", "value"], common),
        )
        if common
        else None,
    )


def _setting(run: RunReport, name: str) -> str:
    value = run.record["settings"].get(name, MISSING)
    if isinstance(value, list):
        return join_names([format_number(one) for one in value]) if value else "none"
    return "none" if value is None else format_number(value) if not isinstance(value, dict) else str(value)


def _commands(runs: Any) -> Markup | None:
    lines = [f"manyclass {shlex.join(run.record['arguments'])}" for run in runs if run.record["arguments"]]
    return fold("Commands", element("pre", "\n".join(lines), tabindex="0")) if lines else None


def _environment_tables(runs: Any) -> Markup:
    """Versions, machine, seed, threads and time of each run; runs that agree share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        record = run.record
        machine = {
            key: format_bytes(value) if key == "memory_bytes" else value
            for key, value in record["machine"].items()
            if value
        }
        cells = (
            ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
            ", ".join(f"{key.removesuffix('_bytes')} {value}" for key, value in machine.items()),
            format_number(record["seed"]),
            format_number(record["threads"]),
        )
        rows.setdefault(cells, []).append(run.name)
    heads = ("runs", "versions", "machine", "seed", "threads")
    times = [[run.name, run.record["started"] or MISSING, _duration(run)] for run in runs]
    return fold(
        "Versions, machine, seeds and times",
        table(heads, [[join_names(names), *cells] for cells, names in rows.items()]),
        table(("run", "started", "took"), times),
    )


def _duration(run: RunReport) -> NumberCell:
    value = run.record["seconds"]
    return NumberCell(MISSING if value is None else format_seconds(value), value)
