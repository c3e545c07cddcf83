"""DNS pinning: connections go to the checked address, over real sockets on several loopback addresses."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.errors import AddressNotAllowed, SourceError, UpstreamUnreachable
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.addresses import PermittedOrigins, origin
from codemode.transports.http.connection import Request, connect
from codemode.transports.http.fetch import fetch_text
from codemode.transports.http.network import Dialer, PinnedTransport, open_pool
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from codemode.catalog.tool import Tool
    from codemode.transports.http.addresses import Origin
    from codemode.transports.http.connection import Connection


def _tool() -> Tool:
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "op"}}}}
    return load_openapi(document, name="api").tools[0]


class Names:
    """A resolver that returns its answers in turn, and then repeats the last one."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not answer:
            raise OSError(-2, "Name or service not known")
        return tuple(answer)


@asynccontextmanager
async def _server(host: str, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[int, list[str]]]:
    """Run an HTTP server that answers with its own address. Yield its port and the request heads."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        certificate = writer.get_extra_info("peercert")
        subject = dict(part[0] for part in certificate["subject"])["commonName"] if certificate else ""
        body = f'"{host} {subject}"'.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        await writer.drain()

    async with listening(serve, host, port, tls) as taken:
        yield taken, heads


async def _call(reach: Reach, names: Names) -> object:
    transport = HttpTransport(reach, resolve=names)
    try:
        return await transport.call(_tool(), {}, CallContext())
    finally:
        await transport.aclose()


async def test_a_name_that_stands_for_this_machine_is_not_called() -> None:
    async with _server("127.0.0.2") as (port, heads):
        with pytest.raises(
            AddressNotAllowed, match=r"api\.test resolves to 127\.0\.0\.2, a loopback address"
        ) as caught:
            await _call(Reach("api", f"http://api.test:{port}"), Names(["127.0.0.2"]))
    assert "to allow it, write `address: 127.0.0.2` beside base_url" in str(caught.value)
    assert "127" not in caught.value.for_model()
    assert heads == []


async def test_an_address_that_the_operator_wrote_is_called_under_its_name() -> None:
    names = Names(["8.8.8.8"])
    async with _server("127.0.0.2") as (port, heads):
        answer = await _call(Reach("api", f"http://api.test:{port}", address="127.0.0.2"), names)
    assert answer == "127.0.0.2 "
    assert f"Host: api.test:{port}\r\n" in heads[0]
    assert names.asked == []


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "::", "fe80::1", "::1"]
)
async def test_metadata_and_other_special_addresses_are_not_called(address: str) -> None:
    with pytest.raises(AddressNotAllowed, match=r"rebind\.test resolves to"):
        await _call(Reach("api", "http://rebind.test"), Names([address]))


async def test_a_name_is_resolved_once_for_a_connection_and_not_trusted_the_next_time() -> None:
    names = Names(["127.0.0.2"], ["127.0.0.3"], ["8.8.8.8"])
    async with _server("127.0.0.2") as (port, heads), _server("127.0.0.3", port) as (_, others):
        reach = Reach("api", f"http://localhost:{port}", retries=0)
        transport = HttpTransport(reach, resolve=names)
        assert await transport.call(_tool(), {}, CallContext()) == "127.0.0.2 "
        assert names.asked == ["localhost"]
        assert await transport.call(_tool(), {}, CallContext()) == "127.0.0.3 "  # both are loopback
        with pytest.raises(AddressNotAllowed):
            await transport.call(_tool(), {}, CallContext())
        await transport.aclose()
    assert (len(heads), len(others), len(names.asked)) == (1, 1, 3)


async def test_a_public_name_that_turns_private_is_refused() -> None:
    async def connect_inside(place: Origin, address: str, *rest: Any) -> Connection:
        """Connect to the local server in the place of every address: nothing leaves the machine."""
        asked.append(address)
        return await connect(place, "127.0.0.2", *rest)

    asked: list[str] = []
    async with _server("127.0.0.2") as (port, _):
        place = origin(f"http://api.test:{port}")
        names = Names(["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["8.8.8.8"], ["10.0.0.1"])
        dialer = Dialer(PermittedOrigins((place,)), resolve=names, connect=connect_inside)
        for _ in range(3):
            connection = await dialer.dial(place)
            assert (await connection.send(Request("GET", place, "/"))).status == 200
            connection.close()
            await connection.wait_closed()
        with pytest.raises(AddressNotAllowed, match="a private address"):
            await dialer.dial(place)
    assert asked == ["10.0.0.1", "8.8.8.8", "8.8.8.8"]


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with _server("127.0.0.3") as (port, _):
        assert await _call(Reach("api", f"http://localhost:{port}"), Names(["127.0.0.2", "127.0.0.3"])) == "127.0.0.3 "


async def test_localhost_is_called_wherever_the_system_says_it_is() -> None:
    async with _server("127.0.0.1") as (port, heads):
        transport = HttpTransport(Reach("api", f"http://LocalHost.:{port}"))
        assert await transport.call(_tool(), {}, CallContext()) == "127.0.0.1 "
        await transport.aclose()
    assert f"Host: localhost:{port}\r\n" in heads[0]


async def test_an_address_of_version_6_is_called() -> None:
    async with _server("::1") as (port, heads):
        assert await _call(Reach("api", f"http://[0:0::1]:{port}"), Names([])) == "::1 "
    assert f"Host: [::1]:{port}\r\n" in heads[0]


async def test_an_unknown_name_is_unreachable() -> None:
    with pytest.raises(UpstreamUnreachable, match=r"the name api\.test cannot be resolved: Name or service not known"):
        await _call(Reach("api", "http://api.test"), Names([]))


async def test_a_document_is_fetched_from_judged_addresses_only() -> None:
    async with _server("127.0.0.2") as (port, heads):
        with pytest.raises(SourceError, match=r"docs\.test resolves to 127\.0\.0\.2"):
            await fetch_text(f"http://docs.test:{port}/api.json", resolve=Names(["127.0.0.2"]))
        assert heads == []
        assert await fetch_text(f"http://ann:s3cr3t@localhost:{port}/api.json", resolve=Names(["127.0.0.2"]))
    assert heads[0].startswith("GET /api.json HTTP/1.1\r\n")
    assert "Authorization: Basic YW5uOnMzY3IzdA==" in heads[0]


def _tls(authority: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority / "ca.pem"))
    context.load_cert_chain(authority / "server.pem", authority / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


async def test_mutual_tls_under_a_name_at_an_address_of_the_operators(authority: Path) -> None:
    async with _server("127.0.0.2", tls=_tls(authority)) as (port, _):
        reach = Reach(
            "api",
            f"https://api.test:{port}",
            address="127.0.0.2",
            certificate=(str(authority / "client.pem"), str(authority / "client.key")),
            ca_file=str(authority / "ca.pem"),
        )
        assert await _call(reach, Names([])) == "127.0.0.2 robot"


async def test_a_certificate_for_another_name_is_not_believed(authority: Path) -> None:
    async with _server("127.0.0.2", tls=_tls(authority)) as (port, heads):
        reach = Reach(
            "api", f"https://other.test:{port}", address="127.0.0.2", retries=0, ca_file=str(authority / "ca.pem")
        )
        with pytest.raises(UpstreamUnreachable, match=r"not valid for 'other\.test'"):
            await _call(reach, Names([]))
    assert heads == []


async def test_the_client_of_a_library_goes_where_calls_go() -> None:
    async with _server("127.0.0.2") as (port, heads):
        permitted = PermittedOrigins((origin(f"http://api.test:{port}"),), "127.0.0.2")
        async with httpx2.AsyncClient(transport=PinnedTransport(open_pool(permitted), limit_bytes=1024)) as client:
            answer = await client.post(f"http://api.test:{port}/x", json={"a": 1})
            assert (answer.status_code, answer.json()) == (200, "127.0.0.2 ")
            with pytest.raises(AddressNotAllowed):
                await client.get(f"http://127.0.0.2:{port}/x")
    assert len(heads) == 1


async def test_the_client_of_a_library_sees_errors_of_its_own() -> None:
    permitted = PermittedOrigins((origin("http://127.0.0.2:1"),))
    async with httpx2.AsyncClient(transport=PinnedTransport(open_pool(permitted), limit_bytes=1024)) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://127.0.0.2:1/")


async def test_the_client_of_a_library_waits_no_longer_than_it_says() -> None:
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()

    async with listening(serve) as port:
        url = f"http://127.0.0.1:{port}/"
        pinned = PinnedTransport(open_pool(PermittedOrigins((origin(url),))), limit_bytes=1024)
        async with httpx2.AsyncClient(transport=pinned, timeout=httpx2.Timeout(5, read=0.01)) as client:
            with pytest.raises(httpx2.ReadTimeout):
                await client.get(url)
    assert asked.is_set()
