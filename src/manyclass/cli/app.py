"""The sub-commands of `manyclass`, each of which is a file beside this one."""

from typing import Annotated

import typer

from manyclass import __version__
from manyclass.cli.compress import compress
from manyclass.cli.configuration import ConfiguredTyper
from manyclass.cli.demo import demo
from manyclass.cli.encode import encode
from manyclass.cli.evaluate import evaluate
from manyclass.cli.features import features
from manyclass.cli.info import info
from manyclass.cli.predict import predict
from manyclass.cli.report import report
from manyclass.cli.search import search
from manyclass.cli.train import train
from manyclass.cli.verify import verify

app = ConfiguredTyper(
    name="manyclass",
    help="Learning with very many classes on image features, and the files that it works on.",
    epilog="New here? `manyclass demo` needs no data and takes less than two minutes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command(epilog="Example: manyclass demo -o demo")(demo)
app.command(epilog="Example: manyclass features photos/ -o photos.store --kind fisher --n-words 64 --pyramid 1x1,3x1")(
    features
)
app.command(epilog="Example: manyclass compress features.npy --labels labels.csv -o small.store")(compress)
app.command(epilog="Example: manyclass train small.store -o run --objective ovr --tune beta")(train)
app.command(epilog="Example: manyclass evaluate run photos.store --part test")(evaluate)
app.command(epilog="Example: manyclass predict run new/1.jpg new/2.jpg")(predict)
app.command(
    epilog="Example: manyclass encode photos.store --negatives world.store -o gallery --method slem,lda --evaluate"
)(encode)
app.command(epilog="Example: manyclass search gallery photo.jpg -k 5 --where class=cat --sheet found.png")(search)
app.command(epilog="Example: manyclass report runs/ -o report.html")(report)
app.command(epilog="Example: manyclass info small.store")(info)
app.command(epilog="Example: manyclass verify small.store && echo all good")(verify)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"manyclass {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    pass
