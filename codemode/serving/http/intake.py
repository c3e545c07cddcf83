"""ASGI middleware that reads request bodies within limits, and then waits for a turn, or for a place.

A request that runs a program needs a turn. Every other request of a caller takes a place of its key while it is
answered, so that nobody's lists, cards and pages delay those of others. `/mcp` has turns of its own.

A full server rejects requests before it reads the body, with a prebuilt answer, so that rejecting is cheap. The body
is read before a turn is taken, so that slow senders block nobody.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING

from codemode.serving.web.admission import Overloaded
from codemode.serving.web.outgoing import READS, READS_PER_KEY, WATCHERS, WATCHERS_PER_KEY, Places
from codemode.serving.web.paths import CONSOLE
from codemode.serving.web.problems import problem

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from codemode.observing.metrics import MetricsObserver
    from codemode.serving.web.admission import Admission


#: Smaller bodies cannot hold enough of such numbers.
_LEAST_BYTES = 1 << 16

#: The standard library takes a microsecond to read a number with a three-digit exponent, and half a millisecond to
#: write an integer of 4,300 digits. Digits of integers are counted in blocks.
MOST_EXPONENTS, MOST_BLOCKS, _BLOCK = 2_000, 1_000, b"0" * 100

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SHAPES = bytes(48 if chr(code) in "0123456789+-" else 101 if chr(code) in "eE" else 32 for code in range(256))

SLOW = (
    f"the body has more than {MOST_EXPONENTS:,} numbers with exponents of three digits, or {100 * MOST_BLOCKS:,} digits"
    " in long integers: send them as text"
)


def is_slow(body: bytes) -> bool:
    """Return whether a JSON body has too many numbers that take long. Takes 10 ms for a mebibyte."""
    if len(body) < _LEAST_BYTES or not _has_many(body):
        return False
    return _has_many(_STRING.sub(b"", body))


def _has_many(text: bytes) -> bool:
    shapes = text.translate(_SHAPES)
    return shapes.count(b"0e000") > MOST_EXPONENTS or shapes.count(_BLOCK) > MOST_BLOCKS


#: Paths whose requests need a turn.
WORK = ("/v1/search", "/v1/execute", "/v1/menu", "/v1/continuations/execute")

#: Paths below one execution whose requests need a turn, since they run it.
_RUNS = ("/resume", "/rollback")


#: The path of uploads, and the maximum number of uploads at once, in total and per key.
UPLOADS = "/v1/content"
UPLOADS_AT_ONCE, UPLOADS_PER_KEY = 8, 2

#: Paths below which answers may be large, or are made of a whole record.
_LARGE = (f"{UPLOADS}/", "/v1/executions/", "/v1/results/", "/v1/approvals/")

#: Largest body of a request without a key: a login.
STRANGERS_BYTES = 16 * 1024

#: Rejections per second: together they cost less than a tenth of a processor. Further ones are delayed.
REFUSALS_PER_S = 1000

#: Seconds of rejections that may be sent ahead of that rate, and the longest delay of one.
EARLY_S = 0.1
LONGEST_WAIT_S = 1.0


class _Refused(Exception):
    """A rejected request, with its answer."""

    def __init__(self, answer: Response) -> None:
        self.answer = answer
        super().__init__()


class Intake:
    """Answers 413 to a body over `limit_bytes`, 408 to one slower than `body_s`, and 429 when the server is full.

    An uploaded file may have `upload_bytes`, and a request without a key `STRANGERS_BYTES`. `looks` has the places of
    requests that run no program. `metrics` counts the rejected requests.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        admission: Admission,
        looks: Admission,
        limit_bytes: int,
        body_s: float,
        upload_bytes: int = 0,
        metrics: MetricsObserver | None = None,
    ) -> None:
        self._app = app
        self._admission = admission
        self._look_places = looks
        self._limit_bytes = limit_bytes
        self._upload_bytes = upload_bytes
        self._body_s = body_s
        self._metrics = metrics
        self._next_refusal = 0.0
        self._uploads = Places(UPLOADS_AT_ONCE, UPLOADS_PER_KEY, "uploads")
        self._reads = Places(READS, READS_PER_KEY, "answers about executions")
        self._watchers = Places(WATCHERS, WATCHERS_PER_KEY, "streams of events")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body and its turn, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            if _is_work(scope["method"], scope["path"]):
                await self._take_turn(scope, receive, send)
            else:
                await self._look(scope, receive, send)
        except Overloaded as overloaded:
            if self._metrics is not None:
                self._metrics.rejected()
            await self._hold_back()
            await _try_again(overloaded.reason, overloaded.retry_after_s)(scope, receive, send)
        except _Refused as refused:
            await refused.answer(scope, receive, send)

    async def _take_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        caller = state.get("caller")
        name = caller.id if caller else "nobody"
        self._admission.check(name)
        first = await self._whole_body(scope, receive, self._limit_bytes)
        async with self._admission.turn(name) as state["turn"]:
            await self._app(scope, _then(first, receive), send)

    async def _look(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that needs no turn. Limit bodies that may be large, and answers that may stay open."""
        caller = scope.setdefault("state", {}).get("caller")
        name = caller.id if caller else "nobody"
        if _is_upload(scope):
            async with self._uploads.place(name):
                first = await self._whole_body(scope, receive, self._upload_bytes)
                await self._app(scope, _then(first, receive), send)
            return
        limit_bytes = self._limit_bytes if caller is not None else min(self._limit_bytes, STRANGERS_BYTES)
        first = await self._whole_body(scope, receive, limit_bytes)
        path = _as_api(scope["path"])
        if caller is None or not path.startswith("/v1/"):  # health, pages without a caller, and /mcp
            await self._app(scope, _then(first, receive), send)
        elif scope["method"] == "GET" and path.startswith("/v1/executions/") and path.endswith("/events"):
            async with self._watchers.place(name):
                await self._app(scope, _then(first, receive), send)
        else:
            async with self._large_answers(scope["method"], path, name), self._look_places.turn(name) as place:
                place.begun()
                await self._app(scope, _then(first, receive), send)

    def _large_answers(self, method: str, path: str, name: str) -> AbstractAsyncContextManager[None]:
        """Return the place of a request whose answer may be large."""
        is_large = method == "GET" and path.startswith(_LARGE)
        return self._reads.place(name) if is_large else nullcontext()

    async def _hold_back(self) -> None:
        """Delay a rejection, so that clients that retry at once do not use up the processor."""
        now = asyncio.get_running_loop().time()
        self._next_refusal = max(self._next_refusal, now) + 1 / REFUSALS_PER_S
        wait = self._next_refusal - now - EARLY_S
        if wait > 0:
            await asyncio.sleep(min(wait, LONGEST_WAIT_S))

    async def _whole_body(self, scope: Scope, receive: Receive, limit_bytes: int) -> Message:
        too_large = f"a request body may have at most {limit_bytes:,} bytes"
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced.isdigit() and int(announced) > limit_bytes:
            raise _Refused(problem(413, "request_too_large", too_large))
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._body_s):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return message
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit_bytes:
                        raise _Refused(problem(413, "request_too_large", too_large))
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            late = f"the request body did not arrive within {self._body_s:g} s"
            raise _Refused(problem(408, "request_too_slow", late)) from None
        body = b"".join(parts)
        if not _is_upload(scope) and is_slow(body):
            raise _Refused(problem(422, "request_invalid", SLOW))
        return {"type": "http.request", "body": body, "more_body": False}


def _as_api(path: str) -> str:
    """Return a path of the console as the one of the API that does the same work."""
    return path.replace(CONSOLE, "/v1", 1) if path.startswith(f"{CONSOLE}/") else path


def _is_upload(scope: Scope) -> bool:
    return bool(scope["method"] == "POST" and scope["path"] == UPLOADS)


def _is_work(method: str, path: str) -> bool:
    if method != "POST":
        return path == f"{CONSOLE}/search"  # a form whose address can be kept
    path = _as_api(path)
    return path in WORK or (path.startswith("/v1/executions/") and path.endswith(_RUNS))


@lru_cache(maxsize=64)
def _try_again(reason: str, wait_s: int) -> Response:
    answer = problem(429, "overloaded", f"{reason}; try again in {wait_s} s", retry_after_s=wait_s)
    answer.headers["Retry-After"] = str(wait_s)
    return answer


def _then(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that yields this message first."""
    waiting = [first]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
