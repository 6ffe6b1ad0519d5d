"""Spectrum and rank of the weights."""

from itertools import accumulate

from manyclass.report.figures_lines import Axis, Line, draw_lines, is_wide
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import joined
from manyclass.report.parts import Section, captioned, legend
from manyclass.report.words import number_of, percent, whole

_NOTHING = 1e-4  # of the largest singular value: what is below would stretch the axis and show nothing


def spectrum(material: Material) -> Section | None:
    """The section "Spectrum and rank"; None if no run has singular values."""
    found = {run.number: (run, values) for run in material.runs if (values := _values(run))}
    if not found:
        return None
    runs = [run for run, _ in found.values()]
    numbers = {run.number: list(range(1, len(values) + 1)) for run, values in found.values()}
    spectra = [Line(run.name, run.number, numbers[run.number], s) for run, s in found.values()]
    shares = [Line(run.name, run.number, numbers[run.number], _shares(s)) for run, s in found.values()]
    wide = is_wide([value for line in spectra for value in line.y])
    drawings = [
        draw_lines(
            "spectrum", "singular values, the largest first", spectra, Axis("number"), Axis("singular value", log=wide)
        ),
        draw_lines(
            "spectrum-share", "share of their sum in the first", shares, Axis("number"), Axis("share of the sum, %")
        ),
    ]
    ranked = sorted(found.values(), key=lambda pair: _rank(*pair))
    ends = [ranked[0], ranked[-1]] if len(ranked) > 1 else ranked
    words = " ".join(_words(run, s) for run, s in ends)
    return Section("spectrum", "Spectrum and rank", joined(captioned(drawings, words, legend(runs))))


def _values(run: Run) -> list[float]:
    """Singular values, the largest first, without those next to nothing."""
    values = sorted(run.record["spectrum"] or [], reverse=True)
    return [value for value in values if value > _NOTHING * values[0]]


def _shares(values: list[float]) -> list[float]:
    total = sum(values)
    return [100 * part / total for part in accumulate(values)]


def _rank(run: Run, values: list[float]) -> int:
    return len(values) if run.record["rank"] is None else int(run.record["rank"])


def _words(run: Run, values: list[float]) -> str:
    model = run.record["model"] or {}
    sides = [side for side in (number_of(model, "columns"), number_of(model, "classes")) if side is not None]
    rank = whole(_rank(run, values)) + (f" of at most {whole(min(sides))}" if sides else "")
    most_of_it = next(i for i, share in enumerate(_shares(values), 1) if share >= 80 - 1e-9)
    share = percent(_shares(values)[most_of_it - 1] / 100, 0)
    return f"{run.name} has rank {rank}; the first {whole(most_of_it)} carry {share} of the sum."
