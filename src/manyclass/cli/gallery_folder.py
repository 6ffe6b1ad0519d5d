"""The folder of a gallery that is to be written."""

from pathlib import Path


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse a place that cannot be written to before anything is learned for it."""
    from manyclass.retrieval.files import MANIFEST, is_gallery, only_ours

    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, and a gallery is a folder; choose another name")
    if is_gallery(out):
        if not overwrite:
            raise ValueError(f"{out} is there already; add --overwrite to replace it, or --add to add to it")
    elif out.is_dir() and ((out / MANIFEST).exists() or not only_ours(out)):
        raise ValueError(f"{out} is a folder with other content; choose another name")
