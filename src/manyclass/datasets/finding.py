"""What may say something of the rows, and how much of it is believed.

What is found with features must not keep anybody from the features. Names, classes and parts that are unusable are left
out with a notice, and so are labels that may well be another file's. Labels that can only be meant for these rows are
not left out so lightly: they are refused, and the complaint tells how to go on without them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from manyclass import _checks
from manyclass.data.matrix import Matrix
from manyclass.datasets.by_name import in_order_of
from manyclass.datasets.classes import misfit
from manyclass.datasets.labels import About

_ORDER = ("names", "split", "y", "classes")  # names tell the order of labels, and labels which classes there can be


@dataclass(frozen=True)
class Finding:
    """A file, a column or a member that may say something of the rows.

    `gives` is what it may hold, and first what it is for; `read` reads that, and gives nothing where nothing is there.
    It is `meant` for these rows unless it lies where it may belong to others.
    """

    gives: tuple[str, ...]
    source: object
    read: Callable[[], About]
    meant: bool = True

    def fitting(self, X: Matrix, path: Path, known: About) -> About:
        """What it says of the rows of X, which came from `path`, after all that is `known` of them already."""
        about = self.read()
        if "names" in about and "names" in known:
            about = in_order_of(known["names"], about, self.source)
        for key in about.keys() - {"classes"}:
            _checks.same_length(about[key], X, str(self.source), str(path))
        if "classes" in about and (problem := misfit(known["y"], about["classes"])):
            raise ValueError(f"{self.source} does not fit the labels: {problem}")
        return about


def gather(
    findings: Sequence[Finding], X: Matrix, path: Path, wanted: Collection[str]
) -> tuple[About, tuple[str, ...]]:
    """All that is wanted and usable, the first finding before later ones, and a notice of all that was left out."""
    about: About = {}
    notices: list[str] = []
    for finding in sorted(findings, key=lambda finding: _ORDER.index(finding.gives[0])):
        if _is_idle(finding, about, wanted):
            continue
        try:
            found = finding.fitting(X, path, about)
        except (ValueError, OSError, ImportError) as error:
            notices += _excuse(finding, error, wanted)
        else:
            about = {key: found[key] for key in found if key in wanted} | about
    return about, tuple(dict.fromkeys(notices))  # one broken file may be met for names and again for parts


def _is_idle(finding: Finding, about: About, wanted: Collection[str]) -> bool:
    main = finding.gives[0]
    return main in about or not set(finding.gives) & set(wanted) or (main == "classes" and "y" not in about)


def _excuse(finding: Finding, error: Exception, wanted: Collection[str]) -> list[str]:
    if finding.gives[0] not in wanted:
        return []  # somebody has set these labels aside, and need not hear what is wrong with them
    if finding.gives[0] == "y" and finding.meant:
        raise ValueError(f"{error}; labels=False (--labels none) leaves labels out") from error
    return [f"{error}; it is left out"]
