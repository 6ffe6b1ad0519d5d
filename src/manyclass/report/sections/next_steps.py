"""Next steps: what the numbers of the best run say, what would help, and the commands to try."""

from typing import Any

from manyclass._core.text import format_percent, format_points, join_names, pluralize
from manyclass.evaluation.proportions import difference_interval
from manyclass.report.advice import Advice, advise, sure_mistakes
from manyclass.report.commands import judge_run
from manyclass.report.components import Section, paragraph
from manyclass.report.html import Markup, element, join_markup
from manyclass.report.report_data import ReportData, RunReport
from manyclass.report.thumbnails import Thumbnails, mark_thumbnail
from manyclass.runs.folder import EVALUATIONS

_SHOWN = 16  # sure mistakes, with their pictures


def show_next_steps(report: ReportData) -> Section | None:
    """Show what the numbers of the best run say, and what to try next.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without a run.
    """
    if not report.evaluated_runs:
        items = [_item(one, None) for run in report.runs[:1] for one in _say_unjudged(run)]
        return Section("next", "What next", join_markup(items)) if items else None
    run, evaluation = report.evaluated_runs[0]
    found = [*advise(run.folder, run.record, evaluation), *_compare_objectives(report)]
    if not found:
        return None
    pictures = _mistake_strip(report, run, evaluation)
    items = [_item(one, pictures if one.key == "sure" else None) for one in found]
    return Section("next", "What next", join_markup(items))


def _say_unjudged(run: RunReport) -> list[Advice]:
    """That a run was never judged, and how it can be, if it is known how."""
    commands = judge_run(run.folder, run.record)
    words = f"{run.name} was never judged by rows that it has not seen, so that nobody knows how good it is."
    return [Advice("untested", "Not tested yet", words, commands=commands)] if commands else []


def _item(advice: Advice, pictures: Markup | None) -> Markup:
    lines = element("pre", "\n".join(advice.commands), tabindex="0") if advice.commands else None
    return join_markup(
        element("h3", advice.title), paragraph(f"{advice.finding} {advice.meaning}".strip()), pictures, lines
    )


def _mistake_strip(report: ReportData, run: RunReport, evaluation: dict[str, Any]) -> Markup:
    """The pictures of sure mistakes, with their labels and what they were taken for."""
    thumbnails = Thumbnails(evaluation["pictures"], run.folder / EVALUATIONS, report.images, report.taken)
    return element("div", [_mistake(one, thumbnails) for one in sure_mistakes(evaluation)[:_SHOWN]], class_="strip")


def _mistake(one: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    words = f"{one['name']}: labeled {one['class']}, taken for {one['predicted']}"
    return mark_thumbnail(thumbnails.show(one["name"], words), False, f"{one['class']} → {one['predicted']}")


def _compare_objectives(report: ReportData) -> list[Advice]:
    """Whether the objective of the best run is ahead of others on the same rows, as far as so many of them tell."""
    (best, a), *others = report.evaluated_runs
    behind, leads, rows = [], [], min(a["rows"], 10**12)
    for run, b in others:
        if _objective(best) == _objective(run) or not _same_rows(best, run):
            continue
        low, _ = difference_interval((round(a["top_1"] * rows), rows), (round(b["top_1"] * rows), rows))
        if low > 0:
            behind.append(_objective_with_share(run, b))
            leads.append(low)
    if not behind:
        return []
    words = (
        f"{_objective_with_share(best, a)} is ahead of {join_names(behind)} by at least {format_points(min(leads))} on "
        f"{pluralize(rows, 'row')} (95 % interval{'s' if len(leads) > 1 else ''})."
    )
    return [Advice("objective", "The objective matters", words)]


def _objective(run: RunReport) -> str:
    return str((run.record["model"] or {}).get("objective"))


def _objective_with_share(run: RunReport, evaluation: dict[str, Any]) -> str:
    """The objective with its accuracy, and the name of the run if that is another word."""
    name = "" if run.name == _objective(run) else f"{run.name}, "
    return f"{_objective(run)} ({name}{format_percent(evaluation['top_1'])})"


def _same_rows(first: RunReport, second: RunReport) -> bool:
    marks = [
        {data["fingerprint"] for data in run.record["data"] if data["role"] == "train"} - {None}
        for run in (first, second)
    ]
    return bool(marks[0]) and marks[0] == marks[1]
