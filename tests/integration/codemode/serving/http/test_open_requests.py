from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from codemode.serving.http.open_requests import OpenRequests

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send


class Requests:
    """Requests to an application that waits. When it is cancelled it answers, unless the path is `/stream`."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.open = OpenRequests()
        self._app = self.open.wrap(self._wait)
        self._entered = asyncio.Event()

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if scope["path"] == "/stream":
                raise
            await send({"type": "http.response.start", "status": 202})

    async def begin(self, path: str = "/") -> asyncio.Task[None]:
        """Begin a request, and return once the application waits."""

        async def request() -> None:
            await self._app({"type": "http", "path": path}, self._receive, self._send)

        self._entered.clear()
        task = asyncio.create_task(request())
        await self._entered.wait()
        return task

    async def _receive(self) -> Message:
        return {"type": "http.request"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_requests_that_were_open_before_are_ended_and_may_answer() -> None:
    requests = Requests()
    early = await requests.begin()
    moment = now()
    late = await requests.begin()
    requests.open.end(moment)
    await early
    assert requests.sent == [{"type": "http.response.start", "status": 202}]
    assert not late.done()
    requests.open.end(now() + 1)
    await late


async def test_a_stream_breaks_off_without_an_error() -> None:
    requests = Requests()
    stream = await requests.begin("/stream")
    requests.open.end(now() + 1)
    await stream
    assert requests.sent == []


async def test_a_request_whose_client_has_gone_is_cancelled_as_before() -> None:
    requests = Requests()
    stream = await requests.begin("/stream")
    stream.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stream
