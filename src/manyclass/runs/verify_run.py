"""Is every byte of a run what was written?"""

from pathlib import Path

from manyclass._core.errors import Damage
from manyclass._core.typing import Report
from manyclass.runs.folder import EVALUATIONS, file_damage, read_run
from manyclass.runs.records import EVALUATION, RUN_FILE, read_record


def verify_run(path: Path, report: Report) -> list[Damage]:
    """What is wrong with the record, the files and the evaluations of a run that is done."""
    try:
        run = read_run(path)
    except ValueError as error:
        if not (path / RUN_FILE).exists():
            raise
        return [Damage(RUN_FILE, None, _without(error, path / RUN_FILE))]
    files = [file for file in run["files"].values() if file is not None]
    found, done, total = [], 0, run_bytes(path)
    for file in files:
        found.append(file_damage(path, file))
        done += file["size"]
        report(done, total)
    found += [_evaluation_damage(file) for file in sorted((path / EVALUATIONS).glob("*.json"))]
    return [damage for damage in found if damage is not None]


def run_bytes(path: Path) -> int:
    """Bytes of the files of a run, its record among them, as that says."""
    sizes: list[int] = [file["size"] for file in read_run(path)["files"].values() if file is not None]
    return (path / RUN_FILE).stat().st_size + sum(sizes)


def _evaluation_damage(file: Path) -> Damage | None:
    try:
        read_record(file, EVALUATION)
    except ValueError as error:
        return Damage(f"{EVALUATIONS}/{file.name}", None, _without(error, file))
    return None


def _without(error: ValueError, file: Path) -> str:
    """What an error says of a file, without its name."""
    return str(error).removeprefix(f"{file} ")
