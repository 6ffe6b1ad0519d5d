"""Help of a command in words: what an option takes is a word for people, and never a type of Python."""

import types
from enum import Enum
from inspect import Signature
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

_WORDS: dict[Any, str] = {bool: "", int: "N", float: "X", Path: "PATH", str: "TEXT"}


class PlainHelpCommand(TyperCommand):
    """A command whose help has nothing beside the names of arguments, whose sentences say what they are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # type: ignore[attr-defined]
            elif parameter.name == "help":
                parameter.metavar = ""
            parameter._get_number_range_help_str = lambda: None  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


class PlainHelpGroup(TyperGroup):
    """The program itself, whose options are all switches and take nothing."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for parameter in self.get_params(ctx):
            parameter.metavar = ""
        super().format_help(ctx, formatter)


def name_values(signature: Signature) -> None:
    """Say what every option of a command takes, by the annotation of its parameter, unless its author did.

    Names to choose from stand in the help, where lines can be broken.
    """
    for parameter in signature.parameters.values():
        annotation, *notes = get_args(parameter.annotation) or (parameter.annotation,)
        kind = value_kind(annotation)
        names = [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
        for note in notes:
            if isinstance(note, OptionInfo | ArgumentInfo) and names:
                note.show_choices = False
                if not all(name in (note.help or "") for name in names):
                    note.help = f"{(note.help or '').rstrip('.')}: {', '.join(names)}.".lstrip(": ")
            if isinstance(note, OptionInfo) and note.metavar is None:
                note.metavar = value_words(kind, note.min, note.max)


def value_kind(annotation: Any) -> Any:
    """The type of one value, without the list or the None that an option may be instead.

    >>> value_kind(list[Path] | None), value_kind(int)
    (<class 'pathlib.Path'>, <class 'int'>)
    """
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    return get_args(annotation)[0] if get_origin(annotation) is list else annotation


def value_words(kind: Any, low: float | None = None, high: float | None = None) -> str:
    """What a value is called, from its type, and the range that it must lie in if that has two ends.

    >>> value_words(Path), value_words(int, 1), value_words(float, 0, 0.5), value_words(int, 1, 10**6)
    ('PATH', 'N', '0 to 0.5', '1 to 1,000,000')
    """
    if low is not None and high is not None:
        return " to ".join(f"{end:,.0f}" if end == int(end) else f"{end:g}" for end in (low, high))
    return _WORDS.get(kind, "NAME")
