"""A real HTTP server on loopback that records its requests and gives configured answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import h11

from codemode.transports.auth.requirements import ALWAYS, Authentication, Configured, SchemeKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.transports.auth.credentials import Credential


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answered:
    """The server's answer. `hang` never answers, `cut` ends in the middle of the body."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    body: bytes = b"{}"
    hang: bool = False
    cut: bool = False


class Recorder:
    """The server. `received` lists past requests; `answer` produces the next answer."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answer: Callable[[Received], Answered] = lambda _: Answered()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, request by request."""
        connection = h11.Connection(h11.SERVER)
        try:
            while await self._exchange(connection, reader, writer):
                connection.start_next_cycle()
        except (h11.RemoteProtocolError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(
        self, connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        request: h11.Request | None = None
        body = b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                return False
        assert request is not None
        headers = {name.decode().title(): value.decode("latin-1") for name, value in request.headers}
        received = Received(request.method.decode(), request.target.decode(), headers, body)
        self.received.append(received)
        return await self._answer(connection, writer, self.answer(received))

    async def _answer(self, connection: h11.Connection, writer: asyncio.StreamWriter, answered: Answered) -> bool:
        if answered.hang:
            await asyncio.Event().wait()
        length = len(answered.body) * (2 if answered.cut else 1)
        headers = [*answered.headers.items(), ("Content-Length", str(length))]
        writer.write(connection.send(h11.Response(status_code=answered.status, headers=headers)) or b"")
        writer.write(connection.send(h11.Data(data=answered.body)) or b"")
        if not answered.cut:
            writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()
        return not answered.cut and connection.our_state is h11.DONE


def always(*credentials: Credential) -> Authentication:
    """Return credentials that are sent with every call."""
    return Authentication(
        "api", [Configured(SchemeKind.API_KEY, one, one.place, one.name, ALWAYS) for one in credentials]
    )
