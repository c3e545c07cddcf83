"""The listening socket of `codemode serve`."""

from __future__ import annotations

import asyncio
import socket

import pytest

from codemode.errors import ConfigurationError
from codemode.serving.http.listening import bind
from codemode.settings import ServerSettings


async def test_an_answer_is_sent_at_once_and_does_not_wait_for_the_last_one_to_be_acknowledged() -> None:
    accepted = asyncio.get_running_loop().create_future()

    async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with bind(ServerSettings(port=0)) as listener:
        async with await asyncio.start_server(note, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await accepted
            writer.close()
            await writer.wait_closed()


def test_a_port_that_is_taken_is_said_with_what_to_do() -> None:
    with bind(ServerSettings(port=0)) as listener:
        listener.listen()
        with pytest.raises(ConfigurationError, match=r"cannot listen on 127.0.0.1:\d+: .*--port"):
            bind(ServerSettings(port=listener.getsockname()[1]))


def test_an_address_that_this_machine_has_not_is_said_with_its_key() -> None:
    with pytest.raises(ConfigurationError, match=r"Cannot assign .* choose another with --host, or `server\.host`"):
        bind(ServerSettings(host="192.0.2.1", port=0))  # of documentation, RFC 5737
