"""Building a gallery, as `manyclass encode` asks for it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass.cli.encoding_methods import Method
from manyclass.cli.examples import ALL, whole_part
from manyclass.cli.fitted_methods import Fitted, fitted
from manyclass.cli.gallery_folder import check_free
from manyclass.cli.gallery_rows import add_rows, ids_of, words_of
from manyclass.cli.labeled_rows import LabeledRows, dealt_out, other_rows
from manyclass.cli.negatives import Negatives, chosen_negatives
from manyclass.cli.origins import encoder_file, picture_folder, pictures_of
from manyclass.cli.progress import progress
from manyclass.cli.reading import read_source
from manyclass.cli.retrieval_record import NAME, retrieval_record
from manyclass.cli.retrieval_trial import Trial, tried
from manyclass.report.records import write_record

if TYPE_CHECKING:
    from manyclass.datasets import Features
    from manyclass.retrieval.gallery import Gallery

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What a gallery is to be made of, and how."""

    data: Path
    out: Path
    world: Path | None
    methods: list[Method]
    sample: int | None
    false_match: float
    labels: str | None
    encoder: Path | None
    pictures: Path | None
    seed: int

    @cached_property
    def features(self) -> "Features":
        return read_source(self.data, self.labels)

    @cached_property
    def ids(self) -> list[Any]:
        return ids_of(self.features, self.data)

    @cached_property
    def negatives(self) -> Negatives:
        gram = any(method.holds_gram_matrix for method in self.methods)
        return chosen_negatives(self.data, self.features, self.world, self.sample, gram, self.seed)

    @cached_property
    def folder(self) -> Path | None:
        """Where the pictures are."""
        return picture_folder(self.data) if self.pictures is None else self.pictures.resolve()

    @property
    def where(self) -> dict[str, str] | None:
        """The same for a report, which can do with an array of pictures too."""
        return pictures_of(self.data) if self.folder is None else {"folder": str(self.folder)}


def built(plan: Plan, tune: bool, evaluate: bool, overwrite: bool, tell: Tell, quiet: bool) -> dict[str, Any]:
    """Make the gallery and save it; gives what there is to tell."""
    check_free(plan.out, overwrite)
    d, ids, image_encoder = plan.features.X.shape[1], plan.ids, _image_encoder(plan, tell)
    tuning, judging = _rows_apart(plan, tune, evaluate, tell)
    tell(f"negatives: {plan.negatives.about}")
    machines = []
    for method in plan.methods:
        if method.name != "none":
            tell(f"learning {method.name} from {len(plan.negatives):,} negatives of {d:,} numbers")
        machines.append(fitted(method, plan.negatives, tuning))
    record = None if judging is None else _compared(plan, machines, judging, quiet)
    gallery = _gallery(plan, machines[0], image_encoder)
    with progress("encoding", "images", quiet) as report:
        add_rows(gallery, plan.features, ids, report)
    _save(plan, gallery, record, overwrite)
    return _result(plan, gallery, machines[0], record)


def _rows_apart(plan: Plan, tune: bool, evaluate: bool, tell: Tell) -> tuple[LabeledRows | None, LabeledRows | None]:
    """The rows to choose settings by, and the rows to judge methods by."""
    words = words_of(plan.features)
    if evaluate and words is None:
        raise ValueError(f"--evaluate needs labels, and {plan.data} has none; give them with --labels")
    if not tune and not evaluate:
        return None, None
    rows = other_rows(plan.data, plan.features, words, plan.negatives.own)
    if tune and evaluate:
        return dealt_out(rows, plan.seed)
    if tune and words is None:
        tell(f"{plan.data} has no labels: settings are chosen by how well rows are found by damaged copies of them")
    return (rows, None) if tune else (None, rows)


def _compared(plan: Plan, machines: list[Fitted], rows: LabeledRows, quiet: bool) -> dict[str, Any]:
    trial, outcomes = Trial.of(rows, plan.seed), []
    for machine in machines:
        with progress(f"evaluating {machine.name}", "queries", quiet) as report:
            outcomes.append(tried(trial, machine, report))
    data = [whole_part(plan.features, plan.data, ALL).data("gallery"), plan.negatives.record()]
    return retrieval_record(trial, outcomes, plan.ids, data, plan.where)


def _gallery(plan: Plan, kept: Fitted, image_encoder: Any) -> "Gallery":
    """The gallery without images."""
    import manyclass as mc

    provenance = {
        "made by": "manyclass encode",
        "source": str(plan.data),
        "negatives": plan.negatives.about.partition(";")[0],
        "method": kept.name,
        "seed": plan.seed,
        "pictures": [] if plan.folder is None else [str(plan.folder)],
    }
    common: dict[str, Any] = {"false_match": plan.false_match, "provenance": provenance}
    gallery: Gallery = mc.Gallery(kept.encoder, background=kept.background, features=image_encoder, **common)
    return gallery


def _image_encoder(plan: Plan, tell: Tell) -> Any:
    """What turns pictures into rows like those of the data; None if it is not known."""
    import manyclass as mc

    path = plan.encoder or encoder_file(plan.data)
    if path is None:
        return None
    encoder, d = mc.load(path), plan.features.X.shape[1]
    width = getattr(encoder, "n_features_out_", None)
    if not hasattr(encoder, "encode") or width != d:
        words = f"{path} must be an encoder of pictures that gives {d} numbers, as {plan.data} has"
        if plan.encoder is not None:
            raise ValueError(f"{words}; it is a {type(encoder).__name__} that gives {width}")
        tell(f"{words}; it is left out, so the gallery cannot be searched by pictures")
        return None
    return encoder


def _save(plan: Plan, gallery: "Gallery", record: dict[str, Any] | None, overwrite: bool) -> None:
    """The record first: once the gallery is there, all of it is."""
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / NAME).unlink(missing_ok=True)
    if record is not None:
        write_record(plan.out / NAME, "retrieval", record)
    gallery.save(plan.out, overwrite=overwrite)


def _result(plan: Plan, gallery: "Gallery", kept: Fitted, record: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "path": str(plan.out),
        "images": len(gallery),
        "columns": gallery.n_features_in_,
        "method": kept.name,
        "settings": kept.settings(),
        "codes": int(kept.space(plan.features.X.shape[1]).n_features_out_),
        "negatives": len(plan.negatives),
        "negatives_from": plan.negatives.about,
        "tuned": kept.tried,
        "search_by_pictures": gallery.features is not None,
        "pictures": None if plan.folder is None else str(plan.folder),
        "evaluation": None if record is None else {key: record[key] for key in ("protocol", "methods")},
        "record": None if record is None else str(plan.out / NAME),
    }
