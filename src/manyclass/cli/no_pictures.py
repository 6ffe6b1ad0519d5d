"""What is given where pictures are needed, and is something else that a command made."""

from pathlib import Path


def refuse_made(source: Path) -> None:
    """Say what a store, a gallery, a run, a model or a file of features is, and which command takes it."""
    what = _in_folder(source) if source.is_dir() else _in_file(source)
    if what is not None:
        raise ValueError(f"{source} must hold pictures, and it {what}")


def _in_folder(folder: Path) -> str | None:
    """By what the files say themselves: others have a manifest.json too, and pictures beside it."""
    from manyclass.data.store.layout import MANIFEST
    from manyclass.data.store.manifest import FORMAT
    from manyclass.report.records import RUN, kind_of
    from manyclass.retrieval.files import is_gallery

    if is_gallery(folder):
        return f"is a gallery; search it: manyclass search {folder} picture.jpg"
    if (folder / MANIFEST).is_file() and FORMAT.encode() in (folder / MANIFEST).read_bytes():
        return f"is a store of features already; learn from it: manyclass train {folder} -o run"
    if (folder / "run.json").is_file() and kind_of(folder / "run.json") == RUN:
        return f"is a run of manyclass train; use it: manyclass predict {folder} picture.jpg"
    return None


def _in_file(file: Path) -> str | None:
    from manyclass.cli.models import is_model
    from manyclass.data.layouts import layout_of

    if is_model(file):
        return f"is a model; see what it is for: manyclass info {file}"
    try:
        layout_of(file)
    except (ValueError, FileNotFoundError):
        return None
    return f"is a file of features already; learn from it: manyclass train {file} -o run"
