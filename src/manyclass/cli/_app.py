"""The application: the commands, each of which is a file beside this one, and --config, which all of them have.

That names a TOML file whose keys are the names of options; the command line wins. Keys at the top of the file count for
every command, those in a table that is called like a command for that one:

    seed = 1
    [train]
    objective = "warp"
    max-epochs = 20
"""

import functools
import inspect
import tomllib
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from manyclass import __version__
from manyclass._core.files import expand_home
from manyclass._core.reading import check_depth, read_text
from manyclass.cli.terminal.command_errors import FAILED, USAGE, print_error, sentence
from manyclass.cli.terminal.command_help import PlainHelpCommand, PlainHelpGroup, name_values

_MOST_DOTS = 1000  # Python's reader takes 20 s for a key of 20,000 parts

_HELP = "A TOML file of options, such as seed = 1; the command line wins."


class ConfiguredTyper(typer.Typer):
    """A Typer whose commands have the option --config."""

    def command(self, *args: Any, **kwargs: Any) -> Any:
        """As that of Typer."""
        register = super().command(*args, cls=PlainHelpCommand, **kwargs)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            register(_with_config(function))
            return function

        return decorate


def _with_config(function: Callable[..., Any]) -> Callable[..., Any]:
    option = Annotated[
        Path | None, typer.Option("--config", metavar="FILE", is_eager=True, callback=_configure, help=_HELP)
    ]

    @functools.wraps(function)
    def command(*args: Any, config: Any = None, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    command.__doc__ = flowing(inspect.getdoc(function) or "")
    signature = inspect.signature(function, eval_str=True)
    name_values(signature)
    kind = inspect.Parameter.KEYWORD_ONLY
    added = inspect.Parameter("config", kind, default=None, annotation=option)
    command.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]
    command.__annotations__ = {**inspect.get_annotations(function, eval_str=True), "config": option}
    return command


def flowing(text: str) -> str:
    """Text whose paragraphs are one line each, for terminals of any width; tables stay as they are.

    >>> flowing("one\\ntwo\\n\\na  first\\nb  second")
    'one two\\n\\na  first\\nb  second'
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(one if "  " in one else " ".join(one.split()) for one in paragraphs)


def _configure(ctx: typer.Context, path: Path | None) -> Path | None:
    """Give the options of a command the values of a file, as if these were their defaults."""
    if path is None or ctx.resilient_parsing:
        return path
    settings = chosen_table(_read(path), path, str(ctx.info_name), set(COMMANDS))
    options = {name: option for option in ctx.command.params for name in _names(option)}
    values: dict[str, Any] = {}
    for key, value in settings.items():
        option = options.get(key.replace("_", "-"))
        if option is None or option.name == "config":
            _refuse(f"{path} must hold options of manyclass {ctx.info_name}; got {key!r}; see --help for those it has")
        values[str(option.name)] = _value(option, key, value, path)
    ctx.default_map = values
    return path


def chosen_table(content: dict[str, Any], path: Path, command: str, commands: set[str]) -> dict[str, Any]:
    """The settings of one command: those at the top, and those of its table, which win.

    >>> chosen_table({"seed": 1, "train": {"seed": 2}, "demo": {}}, Path("x"), "train", {"train", "demo"})
    {'seed': 2}
    """
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    for name in tables:
        if name not in commands:
            _refuse(f"{path} must have tables that are called like commands; got [{name}]; see manyclass --help")
    top = {key: value for key, value in content.items() if key not in tables}
    return {**top, **tables.get(command, {})}


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_text(expand_home(path), "settings")
        if max(line.count(".") for line in text.split("\n")) > _MOST_DOTS:
            raise ValueError(f"{path} must have at most {_MOST_DOTS} dots in a line; its keys are nested too deeply")
        settings = tomllib.loads(text)
        check_depth(settings, str(path))
        return settings
    except RecursionError:
        print_error(f"{path} must be a TOML file of a few tables; it is nested too deeply")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        print_error(f"{path} must be a TOML file; {str(error)[:1].lower() + str(error)[1:]}")
    except (OSError, ValueError) as error:
        print_error(sentence(error))
    raise SystemExit(FAILED)


def _names(option: Any) -> list[str]:
    """What a parameter may be called in a file.

    An argument of a command is called as help calls it, in lower case.
    """
    words = [*option.opts, *option.secondary_opts]
    return [word.removeprefix("--") if word.startswith("--") else word.replace("_", "-") for word in words]


def _value(option: Any, key: str, value: Any, path: Path) -> Any:
    """The value as the option takes it: lists are given one by one, or with commas."""
    negated = f"--{key.replace('_', '-')}" in option.secondary_opts
    if getattr(option, "is_flag", False):
        if not isinstance(value, bool):
            _refuse(f"{path} must have true or false for {key}; got {value!r}")
        return value is not negated
    many = getattr(option, "multiple", False) or option.nargs != 1
    if isinstance(value, list):
        return [str(item) for item in value] if many else ",".join(str(item) for item in value)
    if isinstance(value, bool | dict):
        _refuse(f"{path} must have a word or a number for {key}; got {value!r}")
    return [str(value)] if many else str(value)


def _refuse(message: str) -> NoReturn:
    print_error(message)
    raise SystemExit(USAGE)


# Each command, in the order of --help: the module that has a function of its name, and an example.
COMMANDS = {
    "demo": (
        "manyclass.cli.demo.command",
        "Example: manyclass demo -o demo",
    ),
    "learn": (
        "manyclass.cli.learn",
        "Example: manyclass learn photos/ -o out",
    ),
    "probe": (
        "manyclass.cli.probe",
        "Example: manyclass probe clip.npz dino.npz -o probe.json",
    ),
    "features": (
        "manyclass.cli.features",
        "Example: manyclass features photos/ -o photos.store --kind fisher --n-words 64 --pyramid 1x1,3x1",
    ),
    "compress": (
        "manyclass.cli.compress",
        "Example: manyclass compress features.npy --labels labels.csv -o small.store",
    ),
    "train": (
        "manyclass.cli.train",
        "Example: manyclass train small.store -o run --objective ovr --tune beta",
    ),
    "evaluate": (
        "manyclass.cli.evaluate",
        "Example: manyclass evaluate run photos.store --part test",
    ),
    "predict": (
        "manyclass.cli.predict",
        "Example: manyclass predict run new/1.jpg new/2.jpg",
    ),
    "audit": (
        "manyclass.cli.audit",
        "Example: manyclass audit photos.store -o audit",
    ),
    "calibrate": (
        "manyclass.cli.calibrate",
        "Example: manyclass calibrate run photos.store --part val",
    ),
    "classes": (
        "manyclass.cli.classes",
        "Example: manyclass classes run --add photos/zebra -o run-with-zebra",
    ),
    "export": (
        "manyclass.cli.export",
        "Example: manyclass export run -o classifier.onnx",
    ),
    "encode": (
        "manyclass.cli.galleries.encode",
        "Example: manyclass encode photos.store --negatives world.store -o gallery --method slem,lda --evaluate",
    ),
    "search": (
        "manyclass.cli.galleries.search",
        "Example: manyclass search gallery photo.jpg -k 5 --where class=cat --sheet found.png",
    ),
    "serve": (
        "manyclass.cli.galleries.serve",
        "Example: manyclass serve photos/ --open",
    ),
    "join": (
        "manyclass.cli.join",
        "Example: manyclass join photos.store part1.store part2.store part3.store",
    ),
    "report": (
        "manyclass.cli.report",
        "Example: manyclass report runs/ -o report.html",
    ),
    "info": (
        "manyclass.cli.info",
        "Example: manyclass info small.store",
    ),
    "verify": (
        "manyclass.cli.verify",
        "Example: manyclass verify small.store && echo all good",
    ),
}


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The application with these commands; one alone takes a third less time to begin than all of them."""
    app = ConfiguredTyper(
        name="manyclass",
        cls=PlainHelpGroup,
        help="Learning with very many classes on embeddings, and the files that it works on.",
        epilog="New here? `manyclass demo` needs no data and takes three minutes.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in names:
        module, example = COMMANDS[name]
        app.command(epilog=example)(getattr(import_module(module), name))
    return app


def __getattr__(name: str) -> typer.Typer:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = whole = make_app()
    return whole


def _version(wanted: bool) -> None:
    if wanted:
        print(f"manyclass {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    pass
