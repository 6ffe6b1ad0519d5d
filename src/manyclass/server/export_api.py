"""What leaves the page over HTTP: labels, lists, models, and the same steps as a command and as Python."""

from collections.abc import Iterable
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from manyclass._core.models import is_savable
from manyclass._core.reading import read_file
from manyclass.server.answers import refusals
from manyclass.server.app import ApiError
from manyclass.server.audit_api import RuleName
from manyclass.server.desks.exported_tables import (
    data_ids,
    duplicates_table,
    labels_table,
    learned_model,
    model_bytes,
    paths_list,
    predict_command,
)
from manyclass.server.label_api import desk_of

if TYPE_CHECKING:
    from manyclass.server.app import ServerState
    from manyclass.server.desks.labeling_desk import LabelingDesk

TabName = Literal["find", "label", "audit"]


class StepsAnswer(BaseModel):
    """What was done in the page, without it."""

    command: str = Field(description="Commands for a shell.")
    python: str = Field(description="The same in Python.")


class ModelAnswer(BaseModel):
    """What is to be known of a model."""

    estimator: str = Field(description="The class of the classifier.")
    classes: int = Field(description="How many classes it tells apart.")
    columns: int = Field(description="Numbers of a row that it takes.")
    learned_on: Literal["features", "embeddings"] = Field(description="What its rows are.")
    data: str | None = Field(description="The features that it was learned on, if they are at hand.")
    labels: int = Field(description="Labels of people that there are.")
    encoder: bool = Field(description="Whether there is an encoder, by which it tells pictures.")
    words: str = Field(description="How to use it.")


_MODEL = "application/octet-stream"


def router(state: "ServerState") -> APIRouter:
    """The routes of what leaves the page."""
    routes = APIRouter()
    _add_tables(routes, state)
    _add_models(routes, state)

    @routes.get("/api/export/steps", summary="The same without the page", responses=refusals(503))
    def steps(
        tab: Annotated[TabName, Query(description="The tab whose steps are asked for.")] = "label",
    ) -> StepsAnswer:
        """What was done in a tab, as commands and as Python; files are those of /api/export."""
        return StepsAnswer(**steps_of(desk_of(state), tab))

    return routes


def _add_tables(routes: APIRouter, state: "ServerState") -> None:
    @routes.get("/api/export/labels.jsonl", summary="All that was said", **_file("application/jsonl", 503))
    def jsonl() -> StreamingResponse:
        """The log of labels as it is on disk: who said what of which pictures, when, and what was proposed."""
        desk = desk_of(state)
        path = desk.log.path
        data = read_file(path, "labels") if path.exists() else b""
        return _attached("labels.jsonl", "application/jsonl", [data[: data.rfind(b"\n") + 1]])

    @routes.get("/api/export/labels.csv", summary="Labels as a table", **_file("text/csv", 503))
    def table() -> StreamingResponse:
        """What each picture is now: path, label, who, time, and whether a person or the data said so.

        A cell that begins with =, +, - or @ has an apostrophe before it, so that no spreadsheet runs it; manyclass
        takes that away when it reads the table.
        """
        return _attached("labels.csv", "text/csv", labels_table(desk_of(state)))

    @routes.get("/api/export/paths.txt", summary="A list of pictures", **_file("text/plain", 409, 503))
    def paths(
        label: Annotated[str | None, Query(max_length=500, description="Those that people labeled so.")] = None,
        class_: Annotated[
            str | None, Query(alias="class", max_length=500, description="Those that people labeled so, or came so.")
        ] = None,
        set_aside: Annotated[bool, Query(description="Those that are set aside, and no others.")] = False,
        end: Annotated[Literal["line", "null"], Query(description="What comes after each.")] = "line",
    ) -> StreamingResponse:
        """Paths of pictures, one a line; without any filter those that people labeled."""
        found = paths_list(desk_of(state), label, class_, set_aside, "\n" if end == "line" else "\0")
        return _attached("paths.txt", "text/plain", found)

    @routes.get("/api/export/duplicates.csv", summary="Near-duplicates as a table", **_file("text/csv", 409, 503))
    def duplicates(
        rule: Annotated[RuleName, Query(description="Which one of a group to keep.")] = "largest",
        folder: Annotated[str, Query(max_length=4096, description="With first: this folder before all.")] = "",
    ) -> StreamingResponse:
        """Groups of near-duplicates, a line for each picture, which says whether to keep it."""
        desk_of(state)
        return _attached("duplicates.csv", "text/csv", duplicates_table(state.audits, rule, folder))


def _add_models(routes: APIRouter, state: "ServerState") -> None:
    @routes.get("/api/export/model.safetensors", summary="The classifier", **_file(_MODEL, 409, 503))
    def model() -> StreamingResponse:
        """The classifier that labels have taught, for `manyclass predict` and `mc.load`; model.json says more."""
        return _attached("model.safetensors", _MODEL, model_bytes(learned_model(desk_of(state))[0]))

    @routes.get("/api/export/model.json", summary="What the classifier is", responses=refusals(409, 503))
    def about_model() -> ModelAnswer:
        """What the classifier was learned on, and how it is used."""
        return ModelAnswer(**learned_model(desk_of(state))[1])

    @routes.get("/api/export/encoder.safetensors", summary="The encoder of pictures", **_file(_MODEL, 409, 503))
    def encoder() -> StreamingResponse:
        """What turns pictures into the features that the classifier takes."""
        found = desk_of(state).collection.gallery.features
        if found is None or not is_savable(found):
            raise ApiError(409, "the encoder of the pictures is not known; features that are made already can be used")
        return _attached("encoder.safetensors", _MODEL, model_bytes(found))


def _file(media_type: str, *errors: int) -> dict[str, Any]:
    """How a route that gives a file is described."""
    content = {200: {"description": "the file", "content": {media_type: {}}}}
    return {"response_class": StreamingResponse, "responses": {**content, **refusals(*errors)}}


def _attached(name: str, media_type: str, pieces: Iterable[bytes]) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(iter(pieces), media_type=media_type, headers=headers)


def steps_of(desk: "LabelingDesk", tab: str) -> dict[str, str]:
    """What was done in a tab, as commands and as Python."""
    about, python = desk.collection, "import manyclass as mc\n\n"
    if tab == "find":
        place = str(about.gallery_path)
        return {
            "command": f"manyclass search {quote(place)} picture.jpg",
            "python": f'{python}gallery = mc.Gallery.open({place!r})\nhits = gallery.search_images(["picture.jpg"])',
        }
    data = str(about.data) if data_ids(about) is not None else None
    if data is None:
        words = "the features that the gallery was made of are not at hand; make them of the pictures again first"
        command, python = f"# {words}\nmanyclass features PICTURES -o new.store\n", f"{python}# {words}\n"
        data = "new.store"
    else:
        command = ""
    if tab == "audit":
        return {
            "command": f"{command}manyclass audit {quote(data)} --labels labels.csv -o audit",
            "python": f'{python}found = mc.runs.audit({data!r}, "audit", labels="labels.csv")',
        }
    told = predict_command(about)
    predict = "" if told is None else f"\n{told}"
    return {
        "command": f"{command}manyclass train {quote(data)} --labels labels.csv -o run{predict}",
        "python": f'{python}run = mc.runs.train({data!r}, "run", labels="labels.csv")',
    }
