"""manyclass search: what in a gallery is like this?"""

from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.failures import reported
from manyclass.cli.output import print_json
from manyclass.cli.paths import all_expanded, expanded, maybe_expanded


@reported("nothing was changed")
def search(
    gallery: Annotated[Path, typer.Argument(callback=expanded, help="A gallery that manyclass encode wrote.")],
    queries: Annotated[
        list[Path] | None,
        typer.Argument(callback=all_expanded, help="Pictures; or features, such as .npy, of which each row asks."),
    ] = None,
    id: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Ask by an image of the gallery; may be repeated.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many images to find for each query.")] = 10,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only images such as class=cat; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", callback=maybe_expanded, help="Write what is found to a CSV file.")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(callback=maybe_expanded, help="Draw queries and what they find, a row each, to a picture."),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(callback=maybe_expanded, help="Where the pictures are now; by default where they were."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the images of a gallery that are most like a query, best first.

    The percentile says how many of the unrelated images that the gallery knows are less like the query than the image
    is. A query is matched if its best image is more like it than chance explains.
    """
    import manyclass as mc
    from manyclass.cli.search_queries import check_queries, found
    from manyclass.cli.search_results import print_results, write_results
    from manyclass.cli.search_sheet import draw_sheet
    from manyclass.cli.search_where import conditions

    check_queries(queries or [], id or [])
    with mc.threads(threads):
        opened = mc.Gallery.open(gallery)
        results = found(opened, gallery, queries or [], id or [], k, conditions(opened, where or []))
    if out is not None:
        write_results(out, results)
    if sheet is not None:
        draw_sheet(sheet, results, _folders(opened.provenance, pictures), gallery)
    if json:
        print_json({"gallery": str(gallery), "images": len(opened), "queries": [one.json() for one in results]})
    else:
        print_results(results)


def _folders(provenance: dict[str, object], pictures: Path | None) -> list[Path]:
    if pictures is not None:
        return [pictures]
    known = provenance.get("pictures")
    return [Path(str(folder)) for folder in known] if isinstance(known, list) else []
