"""The files of the page, by their names and nothing else: read and packed once, known by an ETag, asked for anew."""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from manyclass.server.app import ApiError

_STATIC = Path(__file__).parent / "static"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
}


@dataclass(frozen=True)
class StaticFile:
    """A file of the page as it was when the server began."""

    content: bytes
    packed: bytes
    media_type: str
    etag: str

    @classmethod
    def read(cls, path: Path) -> "StaticFile":
        """The file at a path."""
        content = path.read_bytes()
        packed = gzip.compress(content, mtime=0)  # a third of script and style
        return cls(content, packed, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"')

    def answer(self, request: Request) -> Response:
        """The file, or 304 where the browser has it."""
        headers = {"ETag": self.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if has_etag(request, self.etag):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, media_type=self.media_type, headers=headers | {"Content-Encoding": "gzip"})
        return Response(self.content, media_type=self.media_type, headers=headers)


def has_etag(request: Request, etag: str) -> bool:
    """Whether whoever asks has what this tag is of."""
    known = request.headers.get("if-none-match", "")
    return etag in (one.strip().removeprefix("W/") for one in known.split(","))


def static_files() -> dict[str, StaticFile]:
    """The files beside this one that belong to the page, by name."""
    return {path.name: StaticFile.read(path) for path in sorted(_STATIC.iterdir()) if path.suffix in _TYPES}


def page_router() -> APIRouter:
    """Routes of the page itself."""
    files, router = static_files(), APIRouter(include_in_schema=False)

    def answer(request: Request, name: str) -> Response:
        if name not in files:
            raise ApiError(404, "there is nothing at this address")
        return files[name].answer(request)

    @router.get("/")
    async def index(request: Request) -> Response:
        return answer(request, "index.html")

    @router.get("/api/docs")
    async def docs(request: Request) -> Response:
        return answer(request, "docs.html")

    @router.get("/favicon.ico")
    async def favicon(request: Request) -> Response:
        return answer(request, "icon.svg")

    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        return answer(request, name)

    return router
