"""Untrusted certificates of an upstream, a document's server, an MCP server and PostgreSQL."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from codemode.errors import JournalUnavailable, SourceError, UpstreamUnreachable
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.certificates import distrusted
from codemode.transports.http.fetch import fetch_text
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.mcp.connections import at_url
from codemode.transports.mcp.transport import McpTransport
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SAID = r"its TLS certificate is not trusted: .*certificate.*; set "


async def _silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


@pytest.fixture
def tls(authority: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority / "server.pem", authority / "server.key")
    return context


@pytest.fixture
async def port(tls: ssl.SSLContext) -> AsyncIterator[int]:
    async with listening(_silent, tls=tls) as found:
        yield found


async def test_that_of_an_upstream(port: int) -> None:
    tool = load_openapi({"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "op"}}}}, name="api").tools[0]
    transport = HttpTransport(Reach("api", f"https://localhost:{port}", retries=0))
    with pytest.raises(UpstreamUnreachable, match=rf"{SAID}`ca_file: FILE` of the source"):
        await transport.call(tool, {}, CallContext())
    await transport.aclose()


async def test_that_of_the_server_of_a_document(port: int) -> None:
    with pytest.raises(SourceError, match=rf"cannot be fetched: .*{SAID}"):
        await fetch_text(f"https://localhost:{port}/api.json")


async def test_that_of_an_mcp_server(port: int) -> None:
    transport = McpTransport("up", at_url(f"https://localhost:{port}/mcp", headers={}, limit_bytes=1024), timeout_s=20)
    with pytest.raises(SourceError, match=SAID):
        await transport.start()
    await transport.aclose()


def _answer_once(listener: socket.socket, tls: ssl.SSLContext) -> None:
    """Answer the start of a PostgreSQL connection, up to TLS."""
    with listener.accept()[0] as connection, suppress(OSError):
        connection.settimeout(30)
        connection.recv(8)  # SSLRequest
        connection.sendall(b"S")
        with tls.wrap_socket(connection, server_side=True):
            pass


async def test_that_of_a_database(tls: ssl.SSLContext, authority: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = asyncio.create_task(asyncio.to_thread(_answer_once, listener, tls))
        other = authority / "client.pem"
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        url = f"postgresql://ann:hunter2@{place}/journal?sslmode=verify-full&sslrootcert={other}"
        journal = PostgresJournal(url, DigestKey(b"a key of tests"), lease_s=1.0)
        with pytest.raises(
            JournalUnavailable, match=rf"{SAID}`…[?]sslmode=verify-full&sslrootcert=FILE` in `journal.url`"
        ) as refused:
            await journal.open()
        await answering
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("code", "message", "remedy"),
    [
        (10, "certificate has expired", "renew the certificate, or correct the clock"),
        (
            62,
            "Hostname mismatch, certificate is not valid for 'x'.",
            "use a host name that",
        ),
    ],
)
def test_what_an_authority_does_not_help_against_is_told_apart(code: int, message: str, remedy: str) -> None:
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_code, error.verify_message = code, message
    assert remedy in distrusted(ExceptionGroup("", [error]))
    assert distrusted(OSError("refused")) == ""
