"""TrainedRun: a run that is done; a model that is there becomes one, with its record."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from manyclass._core.digest import sha256_digest
from manyclass._core.files import write_bytes
from manyclass._core.models import model_pieces, save_model
from manyclass._core.typing import Notify
from manyclass.datasets.dataset import Dataset
from manyclass.runs.folder import RunFolder, UnfinishedRun
from manyclass.runs.run_record import finish_record


@dataclass(frozen=True)
class TrainedRun:
    """A run that is done: a folder with a model and the record of how it was made.

    Parameters
    ----------
    path : Path
        The folder.
    record : dict
        Settings, data, history and results, as run.json has them.

    Attributes
    ----------
    model : estimator
        The classifier, which is read when it is first asked for.
    """

    path: Path
    record: dict[str, Any] = field(repr=False)

    @cached_property
    def model(self) -> Any:
        """The classifier."""
        from manyclass.runs.load_model import load_run_file

        return load_run_file(self.path, self.record, "model")


def write_run(
    folder: RunFolder,
    record: dict[str, Any],
    model: Any,
    outcome: dict[str, Any],
    encoder: tuple[Path | None, bytes | None],
    examples: Callable[[], Dataset | None],
    seconds: Callable[[], float],
    resume: bool,
    overwrite: bool,
    notify: Notify,
) -> dict[str, Any]:
    """Make a run of a model that is there, or find that it was made already; its record.

    A run of the same settings and data with the same files is the same; another is refused, or to be replaced.
    """
    digests = {
        "model": sha256_digest(model_pieces(model)),
        "encoder": None if encoder[1] is None else sha256_digest([encoder[1]]),
    }

    def finished() -> dict[str, Any] | None:
        there = folder.done is not None and not overwrite
        return folder.same_run(record, digests) if there else None

    if done := finished():
        folder.tidy_done(record)
        notify(f"{folder.path} is done already")
        return done
    with folder.locked(resume, overwrite):
        if done := finished():  # by another process, just now
            notify(f"{folder.path} is done already")
            return done
        run = folder.begin(record, resume and folder.done is None, overwrite)
        try:
            return keep_run(folder, run, record, model, outcome, examples(), encoder, seconds()).record
        except Exception:
            run.give_up()
            raise


def keep_run(
    folder: RunFolder,
    run: UnfinishedRun,
    record: dict[str, Any],
    model: Any,
    outcome: dict[str, Any],
    examples: Dataset | None,
    encoder: tuple[Path | None, bytes | None],
    seconds: float,
) -> TrainedRun:
    """Write the model, the encoder of the features if there is one, and the record.

    The encoder is what was read with the rows: the store may have been overwritten during the fit.
    """
    files, (source, content) = [run.model], encoder
    save_model(model, run.model)
    if content is not None:
        files.append(run.encoder)
        write_bytes(run.encoder, content)
    begun = {**record, "started": run.record["started"]}
    whole = finish_record(begun, model, outcome, examples, run.model.stat().st_size, source, seconds)
    return TrainedRun(folder.path, folder.finish(whole, files))
