"""Record an upstream HTTP service once, and replay it in tests. Works for model providers too.

async with RecordedUpstream(Path("cassette.json"), "https://api.example.com") as upstream:   # records
    ...
async with RecordedUpstream(Path("cassette.json")) as upstream:                              # replays
    ...
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

import httpx2
from rapidfuzz import process
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from codemode.testing.served import Served

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

#: Recorded response headers. Request headers are not recorded, since they hold credentials.
_KEPT = ("content-type", "link", "location", "retry-after", "etag")

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response. With `binary`, a body that is not UTF-8 text is in base64."""

    method: str
    target: str
    request: str
    status: int
    headers: dict[str, str]
    body: str
    binary: bool = False

    @property
    def key(self) -> str:
        """What identifies equal requests: method, path with query, and body (normalized if it is JSON)."""
        return f"{self.method} {self.target} {self.request}"


class RecordedUpstream:
    """Forwards requests to `upstream` and records them in a file. Without `upstream`, replays the file.

    Equal requests are answered in recorded order. After the last recorded answer, that answer repeats.
    """

    def __init__(self, cassette: Path, upstream: str | None = None) -> None:
        self._cassette = cassette
        self._upstream = upstream
        self._exchanges: list[Exchange] = []
        self._given: dict[str, int] = {}
        app = Starlette(routes=[Route("/{path:path}", self._answer, methods=_METHODS)])
        self._served = Served(app)

    @property
    def base_url(self) -> str:
        """Base URL to use instead of the upstream's."""
        return self._served.url

    async def __aenter__(self) -> Self:
        if self._upstream is None:
            stored = json.loads(self._cassette.read_text(encoding="utf-8"))
            self._exchanges = [Exchange(**one) for one in stored]
        await self._served.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._served.__aexit__()
        if self._upstream is not None:
            text = json.dumps([asdict(one) for one in self._exchanges], indent=1, ensure_ascii=False)
            self._cassette.write_text(text + "\n", encoding="utf-8")

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        if self._upstream is None:
            return self._replayed(Exchange(request.method, target, _canonical(body), 0, {}, ""))
        return await self._recorded(request, target, body)

    def _replayed(self, asked: Exchange) -> Response:
        same = [one for one in self._exchanges if one.key == asked.key]
        if not same:
            near = [key[:300] for key, _, _ in process.extract(asked.key, [e.key for e in self._exchanges], limit=1)]
            message = f"nothing recorded for {asked.key[:300]}; closest: {near or 'the cassette is empty'}"
            return JSONResponse({"error": {"message": message}}, 501)
        at = self._given.get(asked.key, 0)
        self._given[asked.key] = at + 1
        return _response(same[min(at, len(same) - 1)])

    async def _recorded(self, request: Request, target: str, body: bytes) -> Response:
        async with httpx2.AsyncClient(timeout=None) as client:
            headers = [(k, v) for k, v in request.headers.items() if k not in ("host", "accept-encoding")]
            url = f"{(self._upstream or '').rstrip('/')}{target}"
            answer = await client.request(request.method, url, content=body, headers=headers)
        text, binary = _text(answer.content)
        kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        made = Exchange(request.method, target, _canonical(body), answer.status_code, kept, text, binary)
        self._exchanges.append(made)
        return _response(made)


def _response(exchange: Exchange) -> Response:
    content = base64.b64decode(exchange.body) if exchange.binary else exchange.body.encode()
    return Response(content, exchange.status, exchange.headers)


def _canonical(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return _text(body)[0]


def _text(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True
