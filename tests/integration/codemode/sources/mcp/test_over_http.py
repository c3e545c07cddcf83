"""An MCP server at a URL that loses its sessions, answers too much, hangs up, or is away."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


UNREADABLE: dict[str, dict[str, Any]] = {"odd_error": {"error": "out of paper"}, "odd_result": {"result": "done"}}


class Server(ThreadingHTTPServer):
    """An MCP server of 2025-11-25 in a thread, with one session at a time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sessions = 0
        self.is_lost = False
        self.asked_in_vain: Callable[[], None] = lambda: None
        self.done: list[str] = []
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"


class Handler(BaseHTTPRequestHandler):
    """What it answers to each request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path != "/sse":
            self.give(405, None)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages?session_id=1\n\n")
        while message := self.server.events.get():
            self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
        self.close_connection = True

    def do_DELETE(self) -> None:
        self.give(200, None)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = message.get("method", ""), message.get("params", {})
        if method == "initialize":
            self.server.sessions += 1
            self.server.is_lost = False
            offered = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            self.answer(message, {**offered, "serverInfo": {"name": "http", "version": "1"}})
        elif method.startswith("server/"):
            self.give(400, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})
        elif "id" not in message:
            self.give(202, None)
        elif self.path != "/mcp":
            self.tools(message, method, params)
        elif self.server.is_lost or self.headers.get("Mcp-Session-Id") != str(self.server.sessions):
            self.server.asked_in_vain()
            self.give(404, None)
        else:
            self.tools(message, method, params)

    def tools(self, message: dict[str, Any], method: str, params: dict[str, Any]) -> None:
        if method == "tools/list":
            tools = [
                {"name": name, "inputSchema": {"type": "object"}} for name in ("plain", "huge", "hangs_up", *UNREADABLE)
            ]
            self.answer(message, {"tools": tools})
        else:
            self.call(message, params["name"])

    def call(self, message: dict[str, Any], name: str) -> None:
        self.server.done.append(name)
        if name == "hangs_up":
            self.close_connection = True
            return
        if name in UNREADABLE:
            self.give(200, {"jsonrpc": "2.0", "id": message["id"], **UNREADABLE[name]})
            return
        text = "x" * 500_000 if name == "huge" else name
        self.answer(message, {"content": [{"type": "text", "text": text}]})

    def answer(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        self.give(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def give(self, status: int, body: dict[str, Any] | None) -> None:
        if body is not None and self.path != "/mcp":  # over SSE the answer comes on the stream
            self.server.events.put(body)
            status, body = 202, None
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Mcp-Session-Id", str(self.server.sessions))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def settings(folder: Path, url: str, **source: Any) -> Settings:
    there = {"kind": "mcp", "location": url, "response_limit_bytes": 100_000, "timeout_s": 200, **source}
    return Settings.model_validate(
        {"sources": {"there": there}, "state_folder": folder / "state", "cache_folder": folder / "cache"}
    )


async def test_a_session_that_is_lost_is_opened_anew_and_the_call_made_once(server: Server, tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, server.url)) as service:
        assert (await service.execute("there.plain()")).value == "plain"
        server.is_lost = True
        ended = await service.execute("there.plain()")
        assert ended.value == "plain", ended.failure
        assert (server.sessions, server.done) == (2, ["plain", "plain"])


async def test_in_a_new_session_a_call_is_made_by_who_has_the_execution_then(server: Server, tmp_path: Path) -> None:
    def taken_over() -> None:
        with closing(sqlite3.connect(tmp_path / "state" / "journal.sqlite3", timeout=60)) as file, file:
            file.execute("UPDATE executions SET generation = generation + 1 WHERE status = 'running'")

    async with CodeMode.from_settings(settings(tmp_path, server.url)) as service:
        server.is_lost = True
        server.asked_in_vain = taken_over
        ended = await service.execute("there.plain()")
        assert ended.failure is not None
        assert "no longer held" in ended.failure.message
        assert (await service.execute("there.plain()")).value == "plain"
        assert server.done == ["plain"]


async def test_an_answer_that_is_too_large_is_an_error_and_the_next_call_works(server: Server, tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, server.url)) as service:
        ended = await service.execute("""
try:
    there.huge()
except Exception as error:
    print(error)
there.plain()
""")
        assert "is larger than 100,000 bytes" in ended.output
        assert ended.value == "plain"


async def test_a_write_is_not_repeated_where_the_server_hung_up(server: Server, tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, server.url)) as service:
        ended = await service.execute("""
try:
    there.hangs_up()
except Exception as error:
    print(error)
there.plain()
""")
        assert [str(call.state) for call in ended.calls] == ["unknown", "committed"], ended
        assert server.done == ["hangs_up", "plain"]


async def test_an_answer_that_cannot_be_read_is_one_at_once(server: Server, tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, server.url)) as service:
        for tool, says, state in (
            ("odd_error", "there: an unreadable error", "failed"),
            (
                "odd_result",
                "there: the answer is unreadable; the service accepted the call, which was done: do not repeat it",
                "committed",
            ),
        ):
            ended = await service.execute(f"there.{tool}()")
            assert ended.failure is not None
            assert (ended.failure.message, ended.calls[0].state) == (says, state)


@pytest.mark.parametrize("said", [{}, {"transport": "sse"}])
async def test_a_server_of_the_oldest_kind_is_reached_over_sse(
    server: Server, tmp_path: Path, said: dict[str, str]
) -> None:
    url = server.url.replace("/mcp", "/sse")
    async with CodeMode.from_settings(settings(tmp_path, url, **said)) as service:
        assert (await service.execute("there.plain()")).value == "plain"
        server.events.put({})  # the stream ends
    assert server.done == ["plain"]


async def test_a_server_that_is_away_is_told_at_once_after_the_first_try(tmp_path: Path) -> None:
    with serving() as gone:
        url = gone.url
    async with CodeMode.from_settings(settings(tmp_path, url)) as service:
        (warning,) = service.sources["there"].warnings
        assert "the MCP server of there cannot be reached" in warning.reason
