"""Which encoder the options of `manyclass features` ask for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

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
        import manyclass as mc

        if self.is_learned:
            return getattr(mc, _LEARNED[self.name])(**self.settings, random_state=self.seed)
        path = Path(self.name).expanduser()
        return mc.load(path) if self.is_saved else mc.OnnxFeatures(path, **self.settings).fit()


def chosen_kind(name: str, seed: int, options: dict[str, Any]) -> EncoderKind:
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
        raise typer.BadParameter(f"--kind must be one of {words}, an .onnx file, or a saved encoder; got {name}")
    for option in given:
        if option not in allowed:
            raise typer.BadParameter(f"--{option.replace('_', '-')} does not go with --kind {name}")
    return EncoderKind(name, {_argument(name, option): _value(option, value) for option, value in given.items()}, seed)


def _argument(name: str, option: str) -> str:
    # Users should not need to know that the words of Fisher vectors are Gaussians.
    return "n_gaussians" if name == "fisher" and option == "n_words" else option


def _value(option: str, value: Any) -> Any:
    if option == "pooling" and value == "none":
        return None
    return tuple(value.split(",")) if option in ("descriptors", "pyramid") else value
