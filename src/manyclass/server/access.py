"""Access: who may ask, how much may be sent and for how long, what every answer carries, and a line about each.

A page of somebody else's that is open in the same browser can send requests to this machine. Those are known by their
Host (a name that was made to lead here) or by their Origin, and are refused. Where the server listens on other
addresses than this machine's own, whoever asks must have its token: as a cookie, which the first visit of the printed
address leaves, or as `Authorization: Bearer`.
"""

import asyncio
import hmac
import json
import logging
import re
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyclass.server.app import ServerSettings

REQUESTS = logging.getLogger("manyclass.server.requests")

_LOG = logging.getLogger("manyclass.server")

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")

_OWN = re.compile(r"127(?:\.[0-9]{1,3}){3}")

UPLOADS = "/api/queries"  # the one address that takes other bodies than JSON

_MOST_JSON = 1_000_000  # bytes

_JSON_SECONDS = 15.0

_GONE = 499  # in the log alone: whoever asked did not wait for an answer

_CLOSE = {"Connection": "close"}  # what is left of a body that is refused is not read

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or _OWN.fullmatch(host) is not None


class Access:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings):
        self._app, self._settings = app, settings
        self._cookie = f"manyclass_token_{settings.port}"  # a browser gives cookies of one machine to all its ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            refused = self._refusal(scope)
            limited = _limited(receive, *self._limits(scope))
            await (refused(scope, receive, tell) if refused else self._app(scope, limited, tell))
        except ClientDisconnect:
            status = status or _GONE
        except Exception as error:
            _LOG.exception("%s %s", scope["method"], _shown(scope))
            if status:
                raise  # the answer has begun, and is broken off
            await _error(500, f"the server has a defect ({type(error).__name__}); its log has more")(
                scope, receive, tell
            )
        finally:
            line = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "method": scope["method"],
                "path": _shown(scope),
                "status": status,
                "ms": round(1000 * (time.perf_counter() - started), 1),
            }
            REQUESTS.info("%s", json.dumps(line))

    def _limits(self, scope: Scope) -> tuple[int, float]:
        """Bytes of a body, and seconds that it may take."""
        if scope["path"] == UPLOADS:
            return self._settings.max_upload_bytes, self._settings.upload_seconds
        return _MOST_JSON, _JSON_SECONDS

    def _refusal(self, scope: Scope) -> Response | None:
        """What to answer a request that goes no further."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if self._settings.token is None and not is_loopback(_without_port(host)):
            return _error(403, f"Host must be an address of this machine, such as localhost; got {host[:80]!r}")
        if (origin := headers.get("origin")) is not None and origin.split("://", 1)[-1] != host:
            return _error(403, f"Origin must be the page of this server; got {origin[:80]!r}")
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"].startswith("/api"):
            return _error(403, "pages of other servers may not ask here")
        if self._settings.token is not None and (answer := self._token_refusal(scope, headers)):
            return answer
        if method == "POST":  # no address takes another one with a body
            return _body_refusal(scope["path"], headers, self._limits(scope)[0])
        return None

    def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and given and self._is_token(given):
            answer = RedirectResponse("/", 303)  # so that the token is not left in the address
            answer.set_cookie(self._cookie, given, httponly=True, samesite="strict", path="/")
            return answer
        bearer = headers.get("authorization", "")
        if bearer.lower().startswith("bearer ") and self._is_token(bearer[7:].strip()):
            return None
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            cookie = None
        if cookie is not None and self._is_token(cookie.value):
            return None
        return _error(401, "a token is needed: open the whole address that the server printed, or send it as a Bearer")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), str(self._settings.token).encode())


def _body_refusal(path: str, headers: Headers, most: int) -> Response | None:
    """What to say of a body before it is read."""
    kind, length = headers.get("content-type", "").partition(";")[0].strip().lower(), headers.get("content-length")
    if path != UPLOADS and kind != "application/json":
        return _error(415, f"Content-Type must be application/json; got {kind[:80]!r}")
    if length is not None and length.isdigit() and int(length) > most:
        return _error(413, _too_large(most), _CLOSE)
    return None


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """The body of a request as it comes, as long as it is neither too long nor too slow."""
    received, whole, end = 0, False, time.monotonic() + seconds

    async def limited() -> Message:
        nonlocal received, whole
        if whole:
            return await receive()  # waits for who asked to go away
        try:
            message = await asyncio.wait_for(receive(), max(0.01, end - time.monotonic()))
        except TimeoutError:
            raise HTTPException(408, f"the body must be sent within {seconds:g} s", _CLOSE) from None
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if received > most:
                raise HTTPException(413, _too_large(most), _CLOSE)
        else:
            whole = True
        return message

    return limited


def _too_large(most: int) -> str:
    return f"the body must have at most {most:,} bytes"


def _error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status, headers)


def _without_port(host: str) -> str:
    return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.rpartition(":")[0] or host


def _shown(scope: Scope) -> str:
    """The path as it was sent, which has no line breaks; what is asked by it may be private."""
    return str(scope.get("raw_path") or scope["path"].encode("utf-8", "replace"), "latin-1")[:200]
