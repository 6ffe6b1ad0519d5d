"""Pictures over HTTP: those of the collection, those that are sent, and what is like them."""

import threading
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manyclass.server.answers import refusals
from manyclass.server.app import ApiError, ServerState
from manyclass.server.finding.marked_search import (
    MOST_HITS,
    MarkedPicture,
    MarkedQuery,
    MarkedSearch,
    as_command,
    as_python,
)
from manyclass.server.finding.picture_filter import Condition, Mask, SaidLabels
from manyclass.server.finding.query_pictures import QueryPictures
from manyclass.server.finding.search_shapes import (
    MOST_COUNT,
    MOST_WORD,
    CropRequest,
    PageAnswer,
    QueryAnswer,
    Ref,
    SearchAnswer,
    SearchRequest,
)
from manyclass.server.finding.worlds import ARCHIVE, NEGATIVES
from manyclass.server.pages import has_etag
from manyclass.server.picture_workers import EncodedPicture

if TYPE_CHECKING:
    from manyclass.server.collection import Collection

_SEED = 2**32 - 1

_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "the picture; gray where it is missing"},
    304: {"description": "whoever asks has it"},
}

Number = Annotated[int, Path(ge=0, le=2**53, description="The position of a picture in the collection.")]

Version = Annotated[str, Query(max_length=200, description="Any word; another one asks past what a browser keeps.")]

Token = Annotated[str, Path(max_length=200, description="The token of a picture that was sent.")]


class Finding:
    """What the routes of a collection share, made when it is ready."""

    def __init__(self, state: ServerState, collection: "Collection"):
        self.collection, self._state = collection, state
        self.queries = QueryPictures(collection, state.settings)
        self.searches = MarkedSearch(collection)
        self._said: tuple[Any, SaidLabels, int] | None = None
        self._lock = threading.Lock()

    def picture(self, number: int) -> dict[str, Any]:
        """A picture, with what people said of it."""
        desk = self._state.desk
        about = self.collection.picture(number) if desk is None else desk.picture(number)
        return about

    def mask(self, condition: Condition) -> tuple[Mask | None, int]:
        """Which pictures are wanted (None for all), and a number that changes when people say something."""
        said, version = self._labels()
        return (self.collection.filter.mask(condition, said) if condition else None), version

    def _labels(self) -> tuple[SaidLabels | None, int]:
        """What people said, as arrays that are made once for every change."""
        if self._state.desk is None:
            return None, 0
        labels = self._state.desk.said().labels
        with self._lock:
            if self._said is None or self._said[0] is not labels:
                known = {one: label for one, label in labels.items() if one in self.collection}
                numbers = [self.collection.number(one) for one in known]
                version = 1 if self._said is None else self._said[2] + 1
                self._said = labels, SaidLabels.of(numbers, list(known.values())), version
            return self._said[1], self._said[2]

    def mark(self, ref: Ref) -> MarkedPicture:
        """What a reference names."""
        if ref.query is not None:
            return self.queries.get(ref.query)
        try:
            return self.collection.number(str(ref.id))
        except ValueError as error:
            raise ApiError(404, str(error)) from None


def router(state: ServerState) -> APIRouter:
    """The routes of pictures and searches."""
    router, holder = APIRouter(prefix="/api"), dict[str, Finding]()

    def begin(collection: "Collection") -> None:
        holder["finding"] = Finding(state, collection)
        state.on_close(holder["finding"].queries.close)

    def ready() -> Finding:
        state.ready()
        return holder["finding"]

    state.when_ready(begin)
    _add_collection(router, state, ready)
    _add_pictures(router, ready)
    _add_queries(router, ready)
    _add_search(router, ready)
    return router


def _add_collection(router: APIRouter, state: ServerState, ready: Any) -> None:
    @router.get("/collection", responses=refusals(503))
    def collection() -> dict[str, Any]:
        """What is served: how many pictures, classes, folders, and what they can be compared with."""
        about = ready().collection
        worlds = [
            {"key": world.key, "name": world.name, "size": world.size, "default": world.key == about.default_world}
            for world in about.worlds.values()
        ]
        return {
            "name": about.name,
            "path": str(about.path),
            "images": len(about),
            "classes": len(about.filter.classes),
            "folders": about.filter.folders(),
            "worlds": worlds,
            "search_by_pictures": about.search_by_pictures,
            "encoder": about.encoder_words,
            "labels": any(about.filter.classes),
            "model": about.model is not None,
            "people_labels": 0 if state.desk is None else len(state.desk.said().labels),
            "notes": about.notes,
        }


def _add_pictures(router: APIRouter, ready: Any) -> None:
    @router.get("/pictures", response_model=PageAnswer, responses=refusals(400, 503))
    def pictures(
        order: Annotated[
            Literal["typical", "gallery", "shuffled"],
            Query(description="Typical ones first, as they came, or by chance."),
        ] = "typical",
        seed: Annotated[int, Query(ge=0, le=_SEED, description="The same gives the same order.")] = 0,
        start: Annotated[int, Query(ge=0, le=2**40, description="How many to pass over.")] = 0,
        count: Annotated[int, Query(ge=1, le=MOST_COUNT, description="How many.")] = 60,
        class_: Annotated[
            str,
            Query(alias="class", max_length=MOST_WORD, description="Of this class: what people said, or came with."),
        ] = "",
        folder: Annotated[str, Query(max_length=MOST_WORD, description="In this folder or below.")] = "",
        text: Annotated[str, Query(max_length=MOST_WORD, description="With this in the id.")] = "",
        label: Annotated[str, Query(max_length=MOST_WORD, description="That people labeled so.")] = "",
        id_: Annotated[
            list[str] | None, Query(alias="id", max_length=MOST_COUNT, description="These pictures, in this order.")
        ] = None,
    ) -> dict[str, Any]:
        """Pictures in some order: typical ones of every group first, as they were added, or shuffled.

        With ids: exactly these as far as there are any, in this order, whatever else is asked.
        """
        finding = ready()
        if id_:
            known = [finding.picture(finding.collection.number(one)) for one in id_ if one in finding.collection]
            return {"total": len(known), "start": 0, "pictures": known}
        by = finding.collection.order
        numbers = by.gallery() if order == "gallery" else getattr(by, order)(seed)
        mask, _ = finding.mask(Condition(class_, folder, text, label))
        numbers = numbers if mask is None else numbers[mask[numbers]]
        shown = [finding.picture(number) for number in numbers[start : start + count].tolist()]
        return {"total": len(numbers), "start": start, "pictures": shown}

    @router.get("/pictures/{number}", responses=refusals(404, 503))
    def picture(number: Number) -> dict[str, Any]:
        """All that is known of one picture."""
        finding = ready()
        _check_number(finding, number)
        about, path = finding.collection.pictures.stat(number), finding.collection.pictures.path(number)
        known = {"path": None if path is None else str(path), "width": about.width, "height": about.height}
        return {**finding.picture(number), **known, "bytes": about.bytes}

    @router.get("/pictures/{number}/thumbnail", response_class=Response, responses={**_PICTURE, **refusals(404, 503)})
    def thumbnail(
        request: Request,
        number: Number,
        size: Annotated[int, Query(ge=16, le=640, description="Pixels of the longer side at most.")] = 224,
        v: Version = "",
    ) -> Response:
        """The picture, small."""
        return _shown(request, ready(), number, size, v)

    @router.get("/pictures/{number}/image", response_class=Response, responses={**_PICTURE, **refusals(404, 503)})
    def image(
        request: Request,
        number: Number,
        size: Annotated[int, Query(ge=16, le=2400, description="Pixels of the longer side at most.")] = 1200,
        v: Version = "",
    ) -> Response:
        """The picture, large."""
        return _shown(request, ready(), number, size, v)


def _check_number(finding: Finding, number: int) -> None:
    if number >= len(finding.collection):
        raise ApiError(404, f"number must be less than {len(finding.collection)}; got {number}")


def _shown(request: Request, finding: Finding, number: int, side: int, version: str) -> Response:
    """A picture with what lets a browser keep it: for a while if its address tells this collection from others."""
    _check_number(finding, number)
    found = finding.collection.pictures.find(number)
    etag = None if found is None else f'"{finding.collection.key}-{number}-{side}-{found.version}"'
    if etag is not None and has_etag(request, etag):
        return Response(status_code=304, headers={"ETag": etag, "Cache-Control": _caching(finding, version)})
    shown, known = finding.collection.pictures.thumbnail(number, side)
    if known is None or etag is None:
        return Response(shown.content, media_type=shown.media_type, headers={"Cache-Control": "no-store"})
    return _picture_answer(shown, {"ETag": etag, "Cache-Control": _caching(finding, version)})


def _caching(finding: Finding, version: str) -> str:
    return "private, max-age=3600" if version == finding.collection.key else "private, no-cache"


def _picture_answer(shown: EncodedPicture, headers: dict[str, str]) -> Response:
    return Response(shown.content, media_type=shown.media_type, headers=headers)


def _add_queries(router: APIRouter, ready: Any) -> None:
    body = {"requestBody": {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}}

    @router.post("/queries", response_model=QueryAnswer, openapi_extra=body, responses=refusals(408, 409, 413, 503))
    async def upload(request: Request) -> dict[str, Any]:
        """Send a picture that asks: the body is its file. It is kept in memory alone, and forgotten in time."""
        finding = ready()
        async with finding.queries.received(request.stream()) as content:
            if not content:
                raise ApiError(422, "the body must be a picture; it is empty")
            return (await run_in_threadpool(finding.queries.add, content)).json()  # type: ignore[no-any-return]

    @router.post("/queries/crop", response_model=QueryAnswer, responses=refusals(404, 409, 503))
    def crop(asked: CropRequest) -> dict[str, Any]:
        """Cut a part of a picture, which then asks by itself."""
        finding = ready()
        return finding.queries.cut(finding.mark(asked.of), asked.box).json()  # type: ignore[no-any-return]

    @router.get("/queries/{token}/image", response_class=Response, responses={**_PICTURE, **refusals(404, 503)})
    def query_image(token: Token) -> Response:
        """The picture of a query."""
        return _picture_answer(ready().queries.get(token).shown, {"Cache-Control": "private, no-cache"})

    @router.delete("/queries/{token}", responses=refusals(404, 503))
    def forget(token: Token) -> dict[str, bool]:
        """Forget a query."""
        if not ready().queries.forget(token):
            raise ApiError(404, "query must be one that is still remembered")
        return {"forgotten": True}


def _add_search(router: APIRouter, ready: Any) -> None:
    @router.post("/search", response_model=SearchAnswer, responses=refusals(400, 404, 503))
    def search(wanted: SearchRequest) -> dict[str, Any]:
        """Find what is like some pictures, and unlike others."""
        started, finding = perf_counter(), ready()
        about, condition = finding.collection, wanted.where.condition()
        world = wanted.world or about.default_world
        if world not in about.worlds:
            raise ApiError(404, f"world must be one of {', '.join(about.worlds)}; got {world[:80]!r}")
        positives, negatives = (
            tuple(dict.fromkeys(map(finding.mark, some))) for some in (wanted.positives, wanted.negatives)
        )
        if not about.is_linear and (len(positives) > 1 or negatives) and world == NEGATIVES:
            world = ARCHIVE  # what the gallery knows of unrelated pictures is not in the space of its features
        asked = MarkedQuery(positives, negatives, world, condition, wanted.leave_out)
        mask, version = finding.mask(condition)
        stop = min(wanted.start + wanted.count, MOST_HITS)
        found = finding.searches.find(asked, mask, version, max(stop, 1))
        hits = [
            {
                **finding.picture(found.numbers[i]),
                "rank": i + 1,
                "score": found.scores[i],
                "percentile": None if found.percentiles is None else found.percentiles[i],
                "expected": None if found.expected is None else found.expected[i],
            }
            for i in range(wanted.start, min(stop, len(found.numbers)))
        ]
        ms = {**found.ms, "total": 1000 * (perf_counter() - started)}
        return {
            "hits": hits,
            "total": found.total,
            "start": wanted.start,
            "line": found.line,
            "matched": found.matched,
            "p_value": found.p_value,
            "words": found.words,
            "world": world,
            "ms": {name: round(value, 1) for name, value in ms.items()},
            "command": as_command(about, asked, wanted.count),
            "python": as_python(about, asked, wanted.count),
        }
