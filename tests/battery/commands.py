"""The table of commands that write: how to make the data of each, give it, give it again, and read what it wrote.

A new command joins the battery by one entry of `COMMANDS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.cli import runs
from tests.features.hostile import picture, saved

FISHER = "--n-words 2 --descriptors sift --n-samples 400 --n-components 4 --scales 1 --step 8 --quiet"
QUICK = "--max-epochs 2 --step 0.05 --beta 3 --quiet"
TRACE = "--objective trace --trace 0.05 --tolerance 0.05 --quiet"
PATH = "--objective trace --tune path --traces 2 --ridges 0.01 --tolerance 0.05 --quiet"
SLEM = "--n-background 20 --quiet"


@dataclass(frozen=True)
class Command:
    """A command that writes.

    Parameters
    ----------
    words : str
        Of the command, in a folder that holds `inputs`, copied from the world.
    before : tuple of str
        Commands that make what is there before.
    cut : int
        If not 0, the last of those is killed at this call of a rename, so that there is something to go on with.
    again : str
        What a user gives after a failure; by default the same.
    reads : tuple of str
        Commands that read what was written.
    thorough : bool
        Whether each of them is tried after every fault; by default the first is, and damage is shown to all.
    """

    words: str
    inputs: tuple[str, ...]
    reads: tuple[str, ...]
    before: tuple[str, ...] = ()
    cut: int = 0
    again: str = ""
    thorough: bool = False

    @property
    def judges(self) -> tuple[str, ...]:
        """The readers that are tried after every fault."""
        return self.reads if self.thorough else self.reads[:1]


def _overwrites(old: str, new: str, *inputs: str, reads: tuple[str, ...], thorough: bool = False) -> Command:
    return Command(f"{new} --overwrite", inputs, reads, before=(old,), thorough=thorough)


def _trains(options: str, *inputs: str) -> Command:
    inputs = inputs or ("x.store",)
    words = f"train {inputs[0]} -o out {options}"
    return Command(words, inputs, _RUN, again=f"{words} --resume")


def _retrains(options: str) -> Command:
    return _overwrites(
        f"train x.store -o out {options} --seed 1", f"train x.store -o out {options}", "x.store", reads=_RUN
    )


def _goes_on(options: str, cut: int) -> Command:
    words = f"train x.store -o out {options}"
    return Command(f"{words} --resume", ("x.store",), _RUN, before=(words,), cut=cut)


_VERIFY = "verify out --json"
_STORE = (_VERIFY, "info out --json")
_PHOTOS = (*_STORE, "encode out -o searched --json --n-background 5")
_REPORT = "report out -o page.html --json"
_PROBED = ("info out.json --json", "report out.json -o page.html --json")
_RUN = (
    "predict out x.store --json",
    "info out --json",
    "evaluate out x.store --json --quiet",
    _REPORT,
    "verify out --json",
)
_CHANGED = ("predict out x.store --json", "info out --json", _REPORT, "verify out --json")
_JUDGED = ("info run --json", "report run -o page.html --json")
_GALLERY = ("verify out --json", "search out --id owl/0.jpg --json")
_NUMBERED = ("verify out --json", "search out --id 0 --json")

_FEATURES = f"features album -o out {FISHER}"
_CLASSES = "train classes.npz --objective ovr --step 0.05 --beta 3 --max-epochs 1 --no-early-stopping --quiet"
_COMPRESS = "compress x.npy -o out --block 4 --n-centroids 8 --quiet"
_SCALAR = "compress x.npy -o out --kind scalar --quiet"
_ENCODE = f"encode x.store -o out {SLEM}"
_OLD_GALLERY = f"encode x.store -o out --method lda {SLEM}"
_PREDICT = "predict run x.npy -o out.csv"
_PROBE = "probe x.store -o out.json --methods means,closed --quiet"

COMMANDS: Mapping[str, Command] = {
    "features": Command(_FEATURES, ("album",), _PHOTOS),
    "features --codes": Command(f"{_FEATURES} --codes scalar", ("album",), _PHOTOS),
    "features --overwrite": _overwrites(
        f"features other -o out {FISHER} --seed 1", _FEATURES, "album", "other", reads=_PHOTOS, thorough=True
    ),
    "features --shard": Command(f"{_FEATURES} --shard 2/2", ("album",), _STORE),
    "join": Command("join out part2 part1 --quiet", ("part1", "part2"), _PHOTOS),
    "join --overwrite": _overwrites(
        "join out other1 other2 --quiet", "join out part1 part2 --quiet", "part1", "part2", "other1", "other2",
        reads=_STORE, thorough=True,
    ),
    "join of galleries": Command("join out half2 half1 --quiet", ("half1", "half2"), _NUMBERED),
    "join of runs": Command(
        "join out classes2 classes1 --quiet",
        ("classes1", "classes2", "classes.npz"),
        ("predict out classes.npz --json", "info out --json", _REPORT, _VERIFY),
    ),
    "compress": Command(_COMPRESS, ("x.npy",), _STORE),
    "compress --kind scalar": Command(_SCALAR, ("x.npy",), _STORE),
    "compress of photographs": Command(
        "compress photos.store -o out --kind scalar --quiet", ("photos.store",), _PHOTOS
    ),
    "compress --overwrite": _overwrites(_SCALAR, _COMPRESS, "x.npy", reads=_STORE),
    "train": _trains(QUICK),
    "train of photographs": _trains(QUICK, "photos.store"),
    "train --classes": Command(
        f"{_CLASSES} -o out --classes 2/2", ("classes.npz",), _STORE, again=f"{_CLASSES} -o out --classes 2/2 --resume"
    ),
    "train multiclass": _trains("--objective multiclass --max-epochs 2 --step 0.05 --quiet"),
    "train ranking": _trains("--objective ranking --max-epochs 2 --step 0.05 --quiet"),
    "train warp": _trains("--objective warp --max-epochs 2 --step 0.05 --quiet"),
    "train softmax": _trains("--objective softmax --max-epochs 2 --step 0.5 --quiet"),
    "train --tune": _trains("--max-epochs 1 --tune beta --step 0.05 --quiet"),
    "train trace": _trains(TRACE),
    "train --tune path": _trains(PATH),
    "train --overwrite": _retrains(QUICK),
    "train --tune path --overwrite": _retrains(PATH),
    "train --resume": _goes_on(QUICK, 4),
    "train --tune path --resume": _goes_on(PATH, 3),
    "encode": Command(_ENCODE, ("x.store",), _GALLERY),
    "encode --shard": Command(f"encode many.npy -o out --shard 2/2 {SLEM}", ("many.npy",), _STORE),
    "encode --evaluate": Command(f"{_ENCODE} --evaluate", ("x.store",), (*_GALLERY, _REPORT)),
    "encode --overwrite": _overwrites(_OLD_GALLERY, _ENCODE, "x.store", reads=_GALLERY),
    "encode --evaluate --overwrite": _overwrites(
        f"{_OLD_GALLERY} --evaluate", f"{_ENCODE} --evaluate", "x.store", reads=_GALLERY
    ),
    "encode --add": Command("encode more.store -o out --add --quiet", ("x.store", "more.store"), _GALLERY, (_ENCODE,)),
    # Names would be in their own way a second time; numbers count on, so that all would be there twice.
    "encode --add by numbers": Command(
        "encode x.npy -o out --add --quiet", ("x.npy",), _NUMBERED, (f"encode x.npy -o out {SLEM}",)
    ),
    "encode --add --remove": Command(
        "encode more.store -o out --add --remove owl/1.jpg --quiet", ("x.store", "more.store"), _GALLERY, (_ENCODE,)
    ),
    "encode --remove": Command("encode -o out --remove owl/1.jpg --quiet", ("x.store",), _GALLERY, (_ENCODE,)),
    "evaluate": Command("evaluate run x.store --quiet", ("run", "x.store"), _JUDGED),
    "evaluate again": Command(
        "evaluate run x.store --quiet --part test",
        ("run", "x.store"),
        _JUDGED,
        before=("evaluate run x.store --quiet --part train -o run/evaluations/x-test.json",),
    ),
    "calibrate": Command(
        "calibrate out x.store --quiet", ("x.store",), _RUN, before=(f"train x.store -o out {QUICK}",)
    ),
    "classes --add": Command("classes run --add new.npz -o out --quiet", ("run", "new.npz", "x.store"), _CHANGED),
    "classes --add --overwrite": _overwrites(
        "classes run --rename owl=eagle -o out --quiet", "classes run --add new.npz -o out --quiet",
        "run", "new.npz", "x.store", reads=_CHANGED,
    ),
    "classes --remove": Command(
        "classes run --remove owl -o out --quiet", ("run", "x.store"), _CHANGED
    ),
    "audit": Command("audit x.store -o out --quiet", ("x.store",), ("info out --json", _REPORT)),
    "compress of a run": Command(
        "compress run -o out --quiet", ("run", "x.store"), ("predict out x.store --json", "info out --json")
    ),
    "compress of a run again": Command(
        "compress run -o out --quiet",
        ("run", "x.store"),
        ("predict out x.store --json",),
        before=("compress run -o out --bits 16 --quiet",),
    ),
    "probe": Command(_PROBE, ("x.store",), _PROBED),
    "probe again": Command(_PROBE, ("x.store",), _PROBED, before=(f"{_PROBE} --seed 1 --shots 1",)),
    "export": Command("export run -o out.onnx", ("run",), ()),
    "export again": Command("export run -o out.onnx", ("run",), (), before=("export run -o out.onnx --top 2",)),
    "report": Command("report run -o out.html", ("run",), ()),
    "report again": Command("report run -o out.html", ("run",), (), before=("report run -o out.html --title old",)),
    "predict": Command(_PREDICT, ("run", "x.npy"), ()),
    "predict again": Command(_PREDICT, ("run", "x.npy"), (), before=(f"{_PREDICT} --top 2",)),
    "search": Command("search gallery --id owl/0.jpg -o out.csv", ("gallery",), ()),
    "search --sheet": Command(
        "search found album/class0/0.png --pictures album --sheet out.png",
        ("found", "album"),
        (),
        before=("search found album/class1/1.png --pictures album --sheet out.png",),
    ),
}  # fmt: skip


def make_world(folder: Path, run: Callable[[str], None]) -> None:
    """The data of all commands; `run` gives a command in the folder."""
    for name, seed in (("album", 0), ("other", 50)):
        for i in range(6):
            path = folder / name / f"class{i % 2}" / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(saved(picture(40, 44, seed=seed + i), "PNG"))
        (folder / name / "class0" / f"broken{seed}.png").write_bytes(b"no picture")
    X, _ = runs.rows(n=12)
    np.save(folder / "x.npy", X)
    np.save(folder / "many.npy", np.random.default_rng(0).standard_normal((1100, 4), np.float32))  # two blocks
    y = np.arange(260) % 130  # two blocks of classes
    np.savez(folder / "classes.npz", X=np.random.default_rng(0).standard_normal((130, 4), np.float32)[y], y=y)
    np.savez(folder / "new.npz", X=X[:5] + 3, y=np.repeat("zebra", 5))
    store_of(folder / "x.store", "")
    store_of(folder / "more.store", "new ")
    run(f"features album -o photos.store {FISHER}")
    run(f"train x.store -o run {QUICK}")
    run(f"encode x.store -o gallery {SLEM}")
    run("encode photos.store -o found --n-background 3 --quiet")
    for i in (1, 2):
        run(f"features album -o part{i} {FISHER} --shard {i}/2")
        run(f"features other -o other{i} {FISHER} --seed 1 --shard {i}/2")
        run(f"encode many.npy -o half{i} --shard {i}/2 {SLEM}")
        run(f"{_CLASSES} -o classes{i} --classes {i}/2")


def store_of(path: Path, prefix: str) -> None:
    """A store of six classes, a third of it to test on."""
    import manyclass as mc

    X, y = runs.rows(seed=len(prefix), n=12)
    split = np.where(np.arange(len(y)) % 3 == 2, "test", "train")
    names = [f"{runs.CLASSES[label]}/{prefix}{i}.jpg" for i, label in enumerate(y)]
    mc.write_store(path, X, y=y, classes=runs.CLASSES, split=split, names=names)
