"""Where features came from: the pictures, and the encoder that turned them into numbers, in a file beside them.

`EncoderKind` is the encoder that the options of `manyclass features` ask for.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass._core.errors import SettingsError, StorageError
from manyclass._core.files import write_bytes
from manyclass._core.lazy import find_public
from manyclass._core.models import load


def encoder_file(data: Path) -> Path | None:
    """The encoder of pictures that made a store: beside it, named by it, or that of the store that was compressed."""
    for store, provenance in _ancestry(data):
        if encoder_path(store).is_file():
            return encoder_path(store)
        named = _found(provenance.get("kind"), store)
        if named is not None and named.is_file():
            return named
    return None


def picture_folder(data: Path) -> Path | None:
    """The folder in which the names of a store's rows are paths of pictures, if it is still there."""
    for store, provenance in _ancestry(data):
        if provenance.get("made by") == "manyclass features":
            source = _found(provenance.get("source"), store)
            folder = source.parent if source is not None and source.is_file() else source
            return None if folder is None else folder.resolve()
    return None


def pictures_of(data: Path) -> dict[str, str] | None:
    """Where a report finds the pictures of a store's rows: a folder of files, or an array with a list of names."""
    folder = picture_folder(data)
    if folder is not None:
        return {"folder": str(folder)}
    for store, provenance in _ancestry(data):
        named = provenance.get("pictures")
        if isinstance(named, dict) and named.keys() == {"array", "names"}:
            return {key: str(store.resolve().parent / str(name)) for key, name in named.items()}
    return None


def _ancestry(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A store and its provenance, and so for the stores that it was compressed from."""
    seen: set[Path] = set()
    path: Path | None = data
    while path is not None and path.resolve() not in seen:
        seen.add(path.resolve())
        provenance = _provenance(path)
        yield path, provenance
        path = _found(provenance.get("source"), path) if provenance.get("made by") == "manyclass compress" else None


def _provenance(path: Path) -> dict[str, Any]:
    """What the manifest of a store says of it; nothing for what is no store, or one that is damaged."""
    from manyclass.data.store.manifest import MANIFEST, read_manifest

    if not (path / MANIFEST).is_file():
        return {}
    try:
        return dict(read_manifest(path).provenance)
    except StorageError:
        return {}


def _found(word: Any, store: Path) -> Path | None:
    """A path as it was typed once: from here, or from beside the store."""
    if not isinstance(word, str):
        return None
    paths = (Path(word).expanduser(), store.absolute().parent / word)
    return next((path for path in paths if path.exists()), None)


_LEARNED = {"fisher": "FisherVectors", "bow": "BagOfWords", "vlad": "Vlad"}

_OF_NETWORKS = ("layer", "pooling", "batch_size")

_OF_DESCRIPTORS = ("n_words", "descriptors", "n_components", "pyramid", "step", "scales", "patch", "n_samples")


@dataclass(frozen=True)
class EncoderKind:
    """A kind of encoder and its settings: learned from pictures, a network, or one that is in a file."""

    name: str
    settings: dict[str, Any]
    seed: int

    @property
    def is_learned(self) -> bool:
        return self.name in _LEARNED

    @property
    def is_saved(self) -> bool:
        return not self.is_learned and not self.name.lower().endswith(".onnx")

    def encoder(self) -> Any:
        """The encoder, which learned kinds have yet to fit."""
        if self.is_learned:
            return find_public(_LEARNED[self.name])(**self.settings, random_state=self.seed)
        path = Path(self.name).expanduser()
        return load(path) if self.is_saved else find_public("OnnxFeatures")(path, **self.settings).fit()


def choose_kind(name: str, seed: int, options: dict[str, Any]) -> EncoderKind:
    """The kind of a name, which is a word, a network or a file; options that are None are left to it."""
    given = {option: value for option, value in options.items() if value is not None}
    if name in _LEARNED:
        allowed: tuple[str, ...] = (*_OF_DESCRIPTORS, "max_pixels")
    elif name.lower().endswith(".onnx"):
        allowed = (*_OF_NETWORKS, "max_pixels")
    elif Path(name).expanduser().is_file():
        allowed = ()
    else:
        words = ", ".join(_LEARNED)
        raise SettingsError(f"`kind` must be one of {words}, an .onnx file, or a saved encoder; got {name}")
    for option in given:
        if option not in allowed:
            raise SettingsError(f"`{option}` does not go with `kind='{name}'`")
    return EncoderKind(name, {_argument(name, option): _value(option, value) for option, value in given.items()}, seed)


def _argument(name: str, option: str) -> str:
    # Users should not need to know that the words of Fisher vectors are Gaussians.
    return "n_gaussians" if name == "fisher" and option == "n_words" else option


def _value(option: str, value: Any) -> Any:
    if option == "pooling" and value == "none":
        return None
    return tuple(value.split(",")) if option in ("descriptors", "pyramid") else value


def encoder_path(store: Path) -> Path:
    """Where the encoder of a store is kept."""
    return store.with_name(store.name + ".encoder")


def about_encoder(kind: EncoderKind, images: Sequence[str]) -> bytes:
    """What tells an encoder from others: its settings, and the images that it learns from if it does."""
    from manyclass.features.extraction.write_features import images_digest

    about = {
        "made by": "manyclass features",
        "kind": kind.name,
        "settings": kind.settings,
        "seed": kind.seed,
        "images": images_digest(images) if kind.is_learned else "",
    }
    return json.dumps(about, indent=1, sort_keys=True).encode() + b"\n"


def kept_encoder(store: Path, about: bytes, restart: bool) -> Any:
    """The encoder that an earlier attempt with the same settings and images left; None if there is none.

    One that was made otherwise is refused, or is none if all begins anew.
    """
    path, beside = encoder_path(store), _about_path(store)
    if not path.exists():
        return None
    if beside.exists() and beside.read_bytes() == about:
        return load(path)
    if not restart:
        raise ValueError(
            f"{path} is an encoder that was made otherwise; name it with `kind` to use it, or pass resume=False"
        )
    return None


def keep_encoder(store: Path, about: bytes, encoder: Any) -> None:
    """Keep an encoder beside its store, and what it was learned from.

    This is written before it, and a file of it alone means nothing: after a crash at any moment the two agree, or there
    is no encoder.
    """
    path = encoder_path(store)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(_about_path(store), about)
    encoder.save(path)


def _about_path(store: Path) -> Path:
    return store.with_name(store.name + ".encoder.json")
