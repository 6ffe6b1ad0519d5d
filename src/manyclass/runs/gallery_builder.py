"""Building a gallery, as `manyclass encode` asks for it.

Rows of features as images of a gallery: their ids, and what is known of them.

The folder of a gallery that is to be written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.typing import Report
from manyclass.cli._console import progress
from manyclass.cli._errors import complain
from manyclass.runs.encoder_comparison import NAME, RetrievalTrial, retrieval_record, run_trial
from manyclass.runs.exemplar_methods import ExemplarMethod, FittedEncoder, fit_method
from manyclass.runs.negatives import LabeledRows, Negatives, choose_negatives, deal_out, other_rows
from manyclass.runs.provenance import encoder_file, picture_folder, pictures_of
from manyclass.runs.records import write_record
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import read_source

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset
    from manyclass.retrieval.gallery import Gallery

Tell = Callable[[str], None]


@dataclass(frozen=True)
class GalleryPlan:
    """What a gallery is to be made of, and how."""

    data: Path
    out: Path
    world: Path | None
    methods: list[ExemplarMethod]
    sample: int | None
    false_match: float
    labels: str | None
    encoder: Path | None
    pictures: Path | None
    seed: int

    @cached_property
    def features(self) -> "Dataset":
        return read_source(self.data, self.labels, complain)

    @cached_property
    def ids(self) -> list[Any]:
        return ids_of(self.features, self.data)

    @cached_property
    def negatives(self) -> Negatives:
        gram = any(method.holds_gram_matrix for method in self.methods)
        return choose_negatives(self.data, self.features, self.world, self.sample, gram, self.seed)

    @cached_property
    def folder(self) -> Path | None:
        """Where the pictures are."""
        return picture_folder(self.data) if self.pictures is None else self.pictures.resolve()

    @property
    def where(self) -> dict[str, str] | None:
        """The same for a report, which can do with an array of pictures too."""
        return pictures_of(self.data) if self.folder is None else {"folder": str(self.folder)}


def build_gallery(
    plan: GalleryPlan, tune: bool, evaluate: bool, overwrite: bool, tell: Tell, quiet: bool
) -> dict[str, Any]:
    """Make the gallery and save it; gives what there is to tell."""
    check_free(plan.out, overwrite)
    d, ids, image_encoder = plan.features.X.shape[1], plan.ids, _image_encoder(plan, tell)
    tuning, judging = _rows_apart(plan, tune, evaluate, tell)
    tell(f"negatives: {plan.negatives.about}")
    machines = []
    for method in plan.methods:
        if method.name != "none":
            tell(f"learning {method.name} from {len(plan.negatives):,} negatives of {d:,} numbers")
        machines.append(fit_method(method, plan.negatives, tuning))
    record = None if judging is None else _compared(plan, machines, judging, quiet)
    gallery = _gallery(plan, machines[0], image_encoder)
    with progress("encoding", "images", quiet) as report:
        add_rows(gallery, plan.features, ids, report)
    _save(plan, gallery, record, overwrite)
    return _result(plan, gallery, machines[0], record)


def _rows_apart(
    plan: GalleryPlan, tune: bool, evaluate: bool, tell: Tell
) -> tuple[LabeledRows | None, LabeledRows | None]:
    """The rows to choose settings by, and the rows to judge methods by."""
    words = words_of(plan.features)
    if evaluate and words is None:
        raise ValueError(f"--evaluate needs labels, and {plan.data} has none; give them with --labels")
    if not tune and not evaluate:
        return None, None
    rows = other_rows(plan.data, plan.features, words, plan.negatives.own)
    if tune and evaluate:
        return deal_out(rows, plan.seed)
    if tune and words is None:
        tell(f"{plan.data} has no labels: settings are chosen by how well rows are found by damaged copies of them")
    return (rows, None) if tune else (None, rows)


def _compared(plan: GalleryPlan, machines: list[FittedEncoder], rows: LabeledRows, quiet: bool) -> dict[str, Any]:
    trial, outcomes = RetrievalTrial.of(rows, plan.seed), []
    for machine in machines:
        with progress(f"evaluating {machine.name}", "queries", quiet) as report:
            outcomes.append(run_trial(trial, machine, report))
    data = [describe_data("gallery", plan.features), plan.negatives.record()]
    return retrieval_record(trial, outcomes, plan.ids, data, plan.where)


def _gallery(plan: GalleryPlan, kept: FittedEncoder, image_encoder: Any) -> "Gallery":
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


def _image_encoder(plan: GalleryPlan, tell: Tell) -> Any:
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


def _save(plan: GalleryPlan, gallery: "Gallery", record: dict[str, Any] | None, overwrite: bool) -> None:
    """The record first: once the gallery is there, all of it is."""
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / NAME).unlink(missing_ok=True)
    if record is not None:
        write_record(plan.out / NAME, "retrieval", record)
    gallery.save(plan.out, overwrite=overwrite)


def _result(
    plan: GalleryPlan, gallery: "Gallery", kept: FittedEncoder, record: dict[str, Any] | None
) -> dict[str, Any]:
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


_BLOCK = 1024  # the rows that encoders take at once, so that codes have the same bits as those of all rows together


def ids_of(features: "Dataset", data: Path) -> list[Any]:
    """The names of the rows, which must be distinct, or their numbers."""
    if features.names is None:
        return list(range(features.X.shape[0]))
    seen: set[str] = set()
    for name in (ids := [str(name) for name in features.names]):
        if name in seen:
            raise ValueError(f"{data} must name every row once, so that it is found by it; got {name!r} twice")
        seen.add(name)
    return ids


def words_of(features: "Dataset") -> list[str] | None:
    """The class of every row in words, or None."""
    if features.y is None:
        return None
    values = features.y.tolist()
    if features.classes is None or features.y.dtype.kind not in "iu":
        return [str(value) for value in values]
    return [str(features.classes[value]) for value in values]


def metadata_of(features: "Dataset") -> dict[str, list[str]]:
    """Columns of a gallery: class and split, where they are known."""
    split = None if features.split is None else features.split.astype(str).tolist()
    return {key: values for key, values in (("class", words_of(features)), ("split", split)) if values is not None}


def add_rows(gallery: "Gallery", features: "Dataset", ids: list[Any] | None, report: Report) -> None:
    """Add all rows, a block at a time; without ids they are numbers that count on."""
    n, metadata = features.X.shape[0], metadata_of(features)
    for start in range(0, n, _BLOCK):
        at = slice(start, min(n, start + _BLOCK))
        columns = {key: values[at] for key, values in metadata.items()}
        gallery.add(features.X.rows(at), ids=None if ids is None else ids[at], metadata=columns)
        report(at.stop, n)


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse a place that cannot be written to before anything is learned for it."""
    from manyclass.retrieval.storage.segments import GALLERY_MANIFEST, is_gallery, only_ours

    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, and a gallery is a folder; choose another name")
    if is_gallery(out):
        if not overwrite:
            raise ValueError(f"{out} is there already; add --overwrite to replace it, or --add to add to it")
    elif out.is_dir() and ((out / GALLERY_MANIFEST).exists() or not only_ours(out)):
        raise ValueError(f"{out} is a folder with other content; choose another name")
