"""Training in a run folder: a fit that goes on where it ended, and the record of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass.cli.examples import Examples
from manyclass.cli.recipe import Recipe
from manyclass.cli.run_folder import ENCODER, MODEL, RunFolder


@dataclass(frozen=True, eq=False)
class Job:
    """What to fit, on what, judged by what; what the user gave beside the recipe; and the words of the command."""

    recipe: Recipe
    examples: Examples
    judged: Examples | None
    given: dict[str, Any]
    arguments: list[str]

    def data(self) -> list[tuple[str, Examples]]:
        """Examples by their roles."""
        return [("train", self.examples)] + ([] if self.judged is None else [("validation", self.judged)])


def trained(folder: RunFolder, job: Job, overwrite: bool, quiet: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Fit in the folder, unless that is done already; the record."""
    from manyclass.cli.fitting import fit
    from manyclass.cli.run_record import begun_record
    from manyclass.data.store.lock import FolderLock

    started = time.perf_counter()
    record = begun_record(job)
    if folder.is_done and not overwrite:
        folder.refuse_another(record)
        tell(f"{folder.path} is done already")
        return dict(folder.record or {})
    folder.path.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder.path)
    try:
        record = folder.begin(record, overwrite)
        validation = None if job.judged is None else (job.judged.X, job.judged.y)
        fitted = fit(job.recipe, job.examples, validation, folder.checkpoint, quiet, tell)
        return _kept(folder, record, fitted, job.examples.source, started)
    except Exception:
        folder.give_up()
        raise
    finally:
        lock.release()
        _remove_if_empty(folder.path)


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()


def _kept(folder: RunFolder, record: dict[str, Any], fitted: Any, source: Path, started: float) -> dict[str, Any]:
    """Write the model, the encoder if there is one, and the record, which is given back."""
    from manyclass import _atomic
    from manyclass.cli.origins import encoder_file
    from manyclass.cli.run_record import finished_record

    fitted.model.save(folder.path / MODEL)
    encoder = encoder_file(source)
    if encoder is not None and encoder.suffix.lower() != ".onnx":
        _atomic.write_bytes(folder.path / ENCODER, encoder.read_bytes())
    size = (folder.path / MODEL).stat().st_size
    whole = finished_record(record, fitted, size, encoder, time.perf_counter() - started)
    folder.finish(whole)
    return {**whole, "status": "done"}
