"""A server that goes silent within a transaction, as one does whose network or power has failed."""

from __future__ import annotations

import asyncio

import pytest

from codemode.errors import JournalUnavailable
from codemode.executions.journal.postgres import journal as store
from codemode.executions.journal.postgres.journal import PostgresJournal
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database
from tests.unit.codemode.transports.sockets import listening

OUTCOME = {"id": "ex_1", "status": "completed"}


class Wire:
    """A proxy to a database that keeps its connections open, and passes nothing on from the next commit on."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.is_cut = False
        self.cut = asyncio.Event()
        self.closed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        answers, asks = await asyncio.open_unix_connection(self._socket)
        answering = asyncio.create_task(self._copy(answers, writer))
        try:
            while data := await reader.read(65536):
                if self.is_cut and b"COMMIT" in data:
                    self.cut.set()
                    await self.closed.wait()
                    return
                asks.write(data)
        finally:
            answering.cancel()
            asks.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()


async def test_other_servers_get_the_locks_of_a_server_that_goes_silent(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "SILENCE_S", 0.2)
    url = await new_database(postgres)
    path, _, folder = url.partition("?host=")
    wire = Wire(f"{folder}/.s.PGSQL.5432")
    async with listening(wire.serve) as port:
        local = path.replace("postgresql://postgres@/", f"postgresql://postgres@127.0.0.1:{port}/") + "?sslmode=disable"
        silent = PostgresJournal(local, KEY, lease_s=600.0)
        other = PostgresJournal(url, KEY, lease_s=600.0)
        await silent.open()
        await other.open()
        lease = await silent.create(new("ex_1"))
        wire.is_cut = True
        ending = asyncio.create_task(silent.finish(lease, "completed", OUTCOME))
        await wire.cut.wait()
        assert (await other.claim("ex_1", by_force=True)).generation == 2
        assert (await other.get("ex_1")).status == "running"
        wire.closed.set()
        with pytest.raises(JournalUnavailable):
            await ending
        await other.aclose()
        await silent.aclose()
