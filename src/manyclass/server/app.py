"""The application: what all routes share (ServerState), errors in one sentence, and create_app, which joins the rooms.

Whatever goes wrong is answered by {"error": "one sentence"}; what it was besides stands in the log alone.
"""

import logging
import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from manyclass import __version__
from manyclass._core.errors import StorageError
from manyclass.server.answers import ErrorAnswer, refusals
from manyclass.server.jobs import Events, Jobs

_LOG = logging.getLogger("manyclass.server")


class ApiError(Exception):
    """What a request cannot have: a status and one sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None):
        super().__init__(sentence)
        self.status, self.headers = status, headers


@dataclass(frozen=True)
class ServerSettings:
    """How a server listens, and what it allows."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None  # asked for if there is one
    max_upload_bytes: int = 20_000_000
    upload_seconds: float = 30.0
    max_queries: int = 256  # uploads that are remembered
    max_waiting: int = 32  # uploads that wait for their turn
    thumbnail_bytes: int = 256_000_000  # of thumbnails in memory
    n_workers: int = 2  # processes that decode pictures
    seed: int = 0

    @staticmethod
    def new_token() -> str:
        """A token that nobody guesses."""
        return secrets.token_urlsafe(24)


@dataclass
class ServerState:
    """What all routes share: the collection (None while it is being prepared), jobs, events, and the desks."""

    settings: ServerSettings
    events: Events = field(default_factory=Events)
    collection: Any = None
    desk: Any = None
    audits: Any = None
    error: str | None = None  # why there will be no collection

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.events)
        self._waiting: list[Callable[[Any], None]] = []
        self._closing: list[Callable[[], None]] = []

    def ready(self) -> Any:
        """The collection; 503 as long as there is none."""
        if self.collection is None:
            words = self.error or "the pictures are still being prepared; /api/status tells how far it is"
            raise ApiError(503, words, {"Retry-After": "2"})
        return self.collection

    def when_ready(self, act: Callable[[Any], None]) -> None:
        """Call `act(collection)` as soon as there is one, before any request sees it."""
        if self.collection is not None:
            act(self.collection)
        else:
            self._waiting.append(act)

    def set_ready(self, collection: Any) -> None:
        """From now on there is a collection."""
        for act in self._waiting:
            act(collection)
        self._waiting.clear()
        self.on_close(collection.close)
        self.collection = collection
        threading.Thread(target=_warm_up, args=(collection,), name="manyclass warm-up", daemon=True).start()
        self.events.publish("status", self.status())

    def fail(self, error: str) -> None:
        """There will be no collection."""
        self.error = error
        self.events.publish("status", self.status())

    def on_close(self, act: Callable[[], None]) -> None:
        """Call `act()` when the server ends."""
        self._closing.append(act)

    def status(self) -> dict[str, Any]:
        """As /api/status has it."""
        state = "ready" if self.collection is not None else "failed" if self.error else "preparing"
        return {"state": state, "error": self.error, "jobs": self.jobs.list(), "version": __version__}

    def close(self) -> None:
        """End streams, jobs and processes."""
        self.events.close()
        self.jobs.close()
        while self._closing:
            self._closing.pop()()


def _warm_up(collection: Any) -> None:
    """What the first search would have to wait for; whoever asks meanwhile waits as long."""
    try:
        collection.warm_up()
    except Exception as error:
        _LOG.warning("the first search will tell: %s", error)


def create_app(source: Any, settings: ServerSettings | None = None) -> FastAPI:
    """The application for a collection, or for a preparation (a function of the state) that makes one."""
    from manyclass.server import audit_api, export_api, find_api, label_api
    from manyclass.server.access import Access
    from manyclass.server.pages import page_router

    state = ServerState(settings or ServerSettings())
    app = FastAPI(
        title="manyclass",
        version=__version__,
        description='Find, label and audit the pictures of one collection. Every error is {"error": "one sentence"}.',
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},  # nobody is told
    )
    app.state.server = state
    _add_error_handlers(app)
    app.include_router(_status_router(state), tags=["status"])
    for name, room in (("find", find_api), ("label", label_api), ("audit", audit_api), ("export", export_api)):
        app.include_router(room.router(state), tags=[name])
    app.include_router(page_router())
    app.add_middleware(Access, settings=state.settings)
    if callable(source):
        source(state)
    else:
        state.set_ready(source)
    return app


def _status_router(state: ServerState) -> APIRouter:
    router = APIRouter()

    @router.get("/api/status")
    async def status() -> dict[str, Any]:
        """Whether the pictures are ready, and what is being worked on."""
        return state.status()

    @router.get("/healthz")
    async def health() -> dict[str, str]:
        """The server lives."""
        return {"state": state.status()["state"]}

    @router.get("/readyz", responses={503: {"model": ErrorAnswer, "description": "not yet, or never"}})
    async def readiness() -> dict[str, str]:
        """Searches are answered; 503 before."""
        state.ready()
        return {"state": "ready"}

    @router.get("/api/events", response_class=StreamingResponse, responses=refusals(503))
    async def events() -> StreamingResponse:
        """Server-sent events: `status`, `job` and `labeling`, as they happen."""
        if state.events.is_full:
            raise ApiError(503, "too many pages listen already; close some", {"Retry-After": "10"})
        stream = state.events.stream(lambda: [("status", state.status())])
        return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    return router


def _add_error_handlers(app: FastAPI) -> None:
    def answer(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": sentence}, status, headers)

    @app.exception_handler(ApiError)
    async def refused(request: Request, error: ApiError) -> JSONResponse:
        return answer(error.status, str(error), error.headers)

    @app.exception_handler(HTTPException)
    async def unknown_route(request: Request, error: HTTPException) -> JSONResponse:
        words = {404: "there is nothing at this address", 405: "this address does not take that method"}
        if error.status_code == 400 and error.detail == "There was an error parsing the body":
            return answer(400, "the body must be JSON in UTF-8; it is not")
        headers = {**(error.headers or {}), **(_allowed(app, request) if error.status_code == 405 else {})}
        return answer(error.status_code, words.get(error.status_code, str(error.detail)), headers)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        return answer(422, validation_sentence(error.errors()))

    @app.exception_handler(StorageError)
    async def unreadable(request: Request, error: StorageError) -> JSONResponse:
        _LOG.warning("%s: %s", request.url.path, error)
        return answer(503, str(error), {"Retry-After": "10"})

    @app.exception_handler(ValueError)
    async def wrong_value(request: Request, error: ValueError) -> JSONResponse:
        return answer(400, str(error))

    @app.exception_handler(MemoryError)
    async def too_much(request: Request, error: MemoryError) -> JSONResponse:
        return answer(503, "there is not enough memory for this now", {"Retry-After": "10"})


def _allowed(app: FastAPI, request: Request) -> dict[str, str]:
    """The methods that an address takes, by whichever routes."""
    path, paths = request.url.path, app.openapi()["paths"]
    for pattern, methods in paths.items():
        if re.fullmatch(
            re.sub(r"\{[^}]+\}", "[^/]+", re.escape(pattern).replace(r"\{", "{").replace(r"\}", "}")), path
        ):
            return {"Allow": ", ".join(method.upper() for method in methods)}
    return {}


def validation_sentence(errors: Any) -> str:
    """The argument, the rule and the value of the first thing that is wrong with a request.

    >>> validation_sentence([{"loc": ("query", "count"), "msg": "Input should be less than 3", "input": "9"}])
    "`count` must be less than 3; got '9'"
    """
    first = errors[0]
    place = [str(part) for part in first["loc"][1:]] or ["body"]
    rule = str(first["msg"]).replace("Input should be", "must be").replace("Value error, ", "must hold: ")
    if first.get("type") == "missing":
        return f"`{'.'.join(place)}` must be given; it is missing"
    if first.get("type") == "json_invalid":
        return f"the body must be JSON; {first.get('ctx', {}).get('error', 'it is not')}"
    rule = rule if rule.startswith("must") else f"must be right: {rule[:1].lower()}{rule[1:]}"
    return f"`{'.'.join(place)}` {rule}; got {repr(first.get('input'))[:80]}"
