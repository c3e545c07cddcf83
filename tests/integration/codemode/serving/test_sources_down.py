"""Six sources of which three are down: every face starts, says what is missing, and takes it up when it arrives."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, ConfigurationError, Settings, SourceError
from codemode.sources.factory import bind_functions
from codemode.sources.loader import source_states
from codemode.sources.reconnection import Retries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = str(Path(sys.executable).parent / "codemode")
SERVER = Path(__file__).parents[3] / "unit" / "codemode" / "sources" / "misbehaving_server.py"

PETS = {
    "openapi": "3.1.0",
    "paths": {"/pets": {"get": {"operationId": "listPets", "summary": "List the pets of a shop"}}},
}

CONFIGURATION = """
sources:
  pets:
    location: pets.json
    base_url: "http://127.0.0.1:{down}"
    credentials: [{{kind: bearer, token: {{env: NONE}}}}]
  shop: {{location: "python:{folder}/shop.py"}}
  clock: {{command: [{python}, {server}, log]}}
  gone: {{location: "http://127.0.0.1:{down}/openapi.json"}}
  graph: {{kind: graphql, location: "http://127.0.0.1:{down}/graphql"}}
  robot: {{command: [sh, -c, "echo started >> {folder}/started; exit 1"]}}
server: {{port: {port}}}
state_folder: state
cache_folder: cache
"""

SHOP = '''
def find_order(number: int) -> int:
    """Find an order."""
    return number
'''


def free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pets.json").write_text(json.dumps(PETS), encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    facts = {"folder": tmp_path, "python": sys.executable, "server": SERVER, "down": free_port(), "port": free_port()}
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION.format(**facts), encoding="utf-8")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251


def codemode(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments, "--config", "codemode.yaml"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


def test_search_finds_what_is_there_and_says_what_is_not(folder: Path) -> None:
    ended = codemode(folder, "search", "list the pets")
    assert ended.returncode == 0, ended.stderr
    assert "pets.pets.list_pets" in ended.stdout
    for name in ("gone", "graph", "robot"):
        assert f"{name} (" in ended.stdout
        assert f"{name}: " in ended.stderr
    assert codemode(folder, "run", "--strict", "shop.py").returncode == 3


def test_approvals_and_executions_read_the_journal_and_start_nothing(folder: Path) -> None:
    for arguments in (("approvals", "list"), ("executions", "list"), ("keys", "list")):
        ended = codemode(folder, *arguments)
        assert ended.returncode == 0, ended.stderr
    assert not (folder / "started").exists()


def test_an_mcp_client_is_answered_and_its_programs_are_told_why(folder: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "mcp", "--config", "codemode.yaml"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def asked(id_: int, method: str, params: Any) -> Any:
            assert server.stdin is not None
            assert server.stdout is not None
            message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == id_
            return answer["result"]

        client = {"name": "x", "version": "1"}
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        assert asked(1, "initialize", greeting)["serverInfo"]["name"] == "codemode"
        tools = asked(2, "tools/list", {})["tools"]
        assert "Domains: clock, pets, shop, gone, graph, robot" in tools[0]["description"]
        call = {"name": "execute", "arguments": {"code": "shop.find_order(number=3)"}}
        assert asked(3, "tools/call", call)["structuredContent"]["value"] == 3
        refused = asked(4, "tools/call", {"name": "execute", "arguments": {"code": "gone.things.list()"}})
        assert "gone is unavailable: its document cannot be fetched" in refused["content"][0]["text"]
        assert "127.0.0.1" not in json.dumps(refused)
        server.stdin.close()


def test_serve_starts_and_says_that_it_is_degraded(folder: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "serve", "--config", "codemode.yaml"],
        cwd=folder,
        env=environment(folder),
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        try:
            base = next(line.split()[-1] for line in server.stderr if line.startswith("codemode serves"))
            assert asked_of(f"{base}/readyz") == {"status": "degraded", "sources_failed": 3}
            states = {one["name"]: one["state"] for one in asked_of(f"{base}/v1/sources")["sources"]}
            lost = dict.fromkeys(("gone", "graph", "robot"), "unavailable")
            assert states == dict.fromkeys(("pets", "shop", "clock"), "ready") | lost
            with pytest.raises(urllib.error.HTTPError) as refused:
                asked_of(f"{base}/v1/tools?namespace=gone")
            with refused.value as answer:
                assert (answer.code, json.load(answer)["code"]) == (503, "source_unavailable")
        finally:
            server.terminate()
            server.stderr.read()


def asked_of(url: str) -> Any:
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


class Documents(BaseHTTPRequestHandler):
    """Gives a document: to everybody, to whom it knows, or to nobody."""

    behaviour = "open"
    authorizations: list[str | None]

    def do_GET(self) -> None:
        """Answer."""
        self.authorizations.append(self.headers.get("Authorization"))
        is_known = self.headers.get("Authorization") == "Bearer a-secret-token"
        if self.behaviour == "open" or (self.behaviour == "login" and is_known):
            self._answer(200, json.dumps(PETS).encode())
        elif self.behaviour == "redirect":
            self.send_response(302)
            self.send_header("Location", "https://idp.example/login?next=1")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(401 if self.behaviour == "login" else 503, b"no")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Nothing is logged."""


@contextmanager
def documents(behaviour: str) -> Iterator[tuple[str, type[Documents]]]:
    handler = type("Handler", (Documents,), {"behaviour": behaviour, "authorizations": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/openapi.json", handler
        finally:
            server.shutdown()
            thread.join()


def settings(folder: Path, location: str, **source: Any) -> Settings:
    content = {"sources": {"pets": {"location": location, **source}}, "state_folder": folder, "cache_folder": folder}
    return Settings.model_validate(content)


async def test_the_last_known_document_is_used_with_a_warning(tmp_path: Path) -> None:
    with documents("open") as (url, handler):
        async with CodeMode.from_settings(settings(tmp_path, url)) as service:
            assert len(service.catalog) == 1
        handler.behaviour = "broken"
        async with CodeMode.from_settings(settings(tmp_path, url)) as service:
            (state,) = source_states(service.sources, service.catalog)
            assert (state["state"], state["tools"]) == ("stale", 1)
            assert "its last known state is used" in service.sources["pets"].warnings[0].reason
        with pytest.raises(SourceError, match="answered 503"):
            async with CodeMode.from_settings(settings(tmp_path, url), strict=True):
                pass


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(200):
        while not holds():  # noqa: ASYNC110 -- a server in another process is waited for
            await asyncio.sleep(0.05)


async def test_a_document_that_arrives_is_taken_over(tmp_path: Path) -> None:
    with documents("broken") as (url, handler):
        async with CodeMode.from_settings(settings(tmp_path, url)) as service:
            assert list(service.catalog.unavailable) == ["pets"]
            handler.behaviour = "open"
            await until(lambda: not service.catalog.unavailable)
            assert (await service.search("list pets")).hits[0].tool.id == "pets.pets.list_pets"


async def test_a_document_behind_a_login_is_asked_for_with_the_credentials_of_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PETS_TOKEN", "a-secret-token")
    bearer = {"credentials": [{"kind": "bearer", "token": {"env": "PETS_TOKEN"}}]}
    with documents("login") as (url, handler):
        async with CodeMode.from_settings(settings(tmp_path / "a", url, **bearer), strict=True) as service:
            assert len(service.catalog) == 1
        assert handler.authorizations == [None, "Bearer a-secret-token"]  # who needs none is sent none
        handler.authorizations.clear()
        elsewhere = settings(tmp_path / "b", url, base_url="https://api.example", **bearer)
        with pytest.raises(SourceError, match=r"credentials are sent to https://api\.example only"):
            async with CodeMode.from_settings(elsewhere, strict=True):
                pass
        assert set(handler.authorizations) == {None}


async def test_a_redirect_to_a_login_page_is_named_as_that(tmp_path: Path) -> None:
    with documents("redirect") as (url, _):
        async with CodeMode.from_settings(settings(tmp_path, url)) as service:
            failure = service.sources["pets"].failure
            assert failure is not None
            assert (
                "redirects to a login page, https://idp.example/login: the document is behind a login"
                in failure.message
            )
            assert failure.told == "its document is behind a login"


async def test_a_mistake_of_the_configuration_still_prevents_the_start(tmp_path: Path) -> None:
    file = tmp_path / "pets.json"
    file.write_text(json.dumps(PETS), encoding="utf-8")
    wrong = settings(tmp_path, str(file), rename={"no_such": "name"})
    with pytest.raises(ConfigurationError, match="no_such"):
        async with CodeMode.from_settings(wrong):
            pass


async def test_a_role_is_told_of_no_namespace_that_it_may_not_use(tmp_path: Path) -> None:
    content = {
        "sources": {"gone": {"location": str(tmp_path / "gone.json")}},
        "policy": {"roles": ["guest"], "rules": [{"tools": "gone.*", "roles": ["guest"], "decision": "deny"}]},
        "state_folder": tmp_path,
        "cache_folder": tmp_path,
    }
    async with CodeMode.from_settings(Settings.model_validate(content)) as service:
        assert list((await service.discovery.views.of("guest")).catalog.unavailable) == []
        assert list((await service.view()).catalog.unavailable) == ["gone"]


async def test_waits_grow_until_a_source_is_there() -> None:
    def add(number: int) -> int:
        """Add one."""
        return number + 1

    waits: list[float] = []
    there = asyncio.Event()

    async def read(name: str) -> Any:
        if len(waits) < 4:
            raise SourceError("is not there")
        return bind_functions(name, [add])

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def arrived(source: Any) -> None:
        assert source.name == "shop"
        there.set()

    retries = Retries(read, arrived, sleep=sleep)
    retries.start(["shop"])
    await there.wait()
    await retries.aclose()
    assert waits == [1.0, 2.0, 4.0, 8.0]
