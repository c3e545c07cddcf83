"""What a command imports before it does its work: that is what start-up costs, whatever the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.serving.cli.main import COMMANDS
from codemode.serving.mcp.greeting import VERSIONS, Server
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {"codemode.service", "codemode.sources", "numpy", "openai", "fastapi", "uvicorn", "mcp", "mcp_types", "httpx2"}
UNUSED = {"asyncpg", "httpcore2", "jsonschema", "referencing", "rapidfuzz", "pygments", "botocore", "graphql"}
FACES = {"openai", "fastapi", "uvicorn", "mcp", "mcp_types"}

#: What must not be imported by a command.
FORBIDDEN: dict[str, set[str]] = {
    "--version": {
        *HEAVY,
        "typer",
        "rich",
        "pydantic",
        "yaml",
        "asyncio",
        "codemode.settings",
        "codemode.serving.cli.main",
    },
    "--help": {*HEAVY, "pydantic", "yaml", "asyncio", "codemode.settings"},
    "mcp --help": {*HEAVY, "codemode.serving.mcp.stdio"},
    "approvals list": {*HEAVY, *UNUSED, "codemode.executions.run.executor"},
    "executions list": {*HEAVY, *UNUSED, "codemode.executions.run.executor"},
    "keys list": {*HEAVY, *UNUSED, "asyncio", "sqlite3"},
    "config explain journal.lease_s": {*HEAVY, *UNUSED, "asyncio", "sqlite3"},
    "config schema": {*HEAVY, *UNUSED, "asyncio", "sqlite3"},
    "mcp install cursor --print": {*HEAVY, *UNUSED, "asyncio", "sqlite3"},
    "auth status": {*HEAVY, *UNUSED},
}

RUN = """
import json, sys
from codemode.serving.cli.command import main
sys.argv = ["codemode", *json.loads(sys.argv[1])]
try:
    main()
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("command", sorted(FORBIDDEN))
def test_a_command_imports_no_more_than_it_runs(command: str, tmp_path: Path) -> None:
    text = "sources: {gone: {location: gone.json}}\nstate_folder: state\ncache_folder: cache\n"
    (tmp_path / "codemode.yaml").write_text(text, encoding="utf-8")
    arguments = [sys.executable, "-c", RUN, json.dumps(command.split())]
    ended = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    imported = set(json.loads(ended.stderr[ended.stderr.rindex("[") :]))
    assert FORBIDDEN[command] & imported == set()


@pytest.mark.parametrize("name", sorted({command.module: name for name, command in COMMANDS.items()}.values()))
def test_the_help_of_a_command_imports_nothing_that_its_work_needs(name: str) -> None:
    code = (
        "import json, sys; from codemode.serving.cli.main import imported; imported(sys.argv[1]); "
        "print(json.dumps(list(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=True)
    unused = {*HEAVY, "httpcore2", "jsonschema", "referencing", "rapidfuzz", "codemode.executions.run.executor"}
    assert unused & set(json.loads(ended.stdout)) == set()


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, codemode; print([m for m in sys.modules if m.startswith('codemode.') or m == 'pydantic'])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_importing_the_service_imports_neither_search_nor_transports() -> None:
    code = "import json, sys; from codemode import CodeMode; print(json.dumps(list(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unused = {*FACES, "numpy", "httpx2", "httpcore2", "anyio", "orjson", "typer", "rich", "codemode.sources.live"}
    assert unused & set(json.loads(ended.stdout)) == set()


@pytest.mark.parametrize("command", ["tools", "cost", "call shop.orders"])
def test_a_command_without_a_search_imports_no_index(command: str, tmp_path: Path) -> None:
    document = {
        "openapi": "3.0.0",
        "info": {"title": "shop", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {"/orders": {"get": {"operationId": "orders", "responses": {"200": {"description": "all"}}}}},
    }
    (tmp_path / "shop.json").write_text(json.dumps(document), encoding="utf-8")
    text = "sources: {shop: {location: shop.json}}\nstate_folder: state\ncache_folder: cache\n"
    (tmp_path / "codemode.yaml").write_text(text, encoding="utf-8")
    arguments = [sys.executable, "-c", RUN, json.dumps(command.split())]
    ended = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    imported = set(json.loads(ended.stderr[ended.stderr.rindex("[") :]))
    assert "codemode.sources.openapi.source" in imported  # the document was read
    assert {"numpy", "codemode.search.index.index", "codemode.search.ranking.ranking"} & imported == set()


@pytest.mark.parametrize("section", ["{}", '{"enabled": false}'])
@pytest.mark.parametrize("face", ["code", "menu"])
async def test_the_greeting_is_what_the_sdk_would_say(face: str, section: str, tmp_path: Path) -> None:
    content = {"server": {"mcp": face}, "journal": json.loads(section), "state_folder": tmp_path}
    settings = Settings.model_validate(content)
    server = McpServer(CodeMode.from_settings(settings)).server
    options = server.create_initialization_options()
    capabilities = options.capabilities.model_dump(by_alias=True, exclude_none=True, mode="json")
    capabilities.pop("extensions", None)  # which versions that begin with `initialize` do not know
    said = {
        "capabilities": capabilities,
        "instructions": options.instructions,
        "serverInfo": {"name": options.server_name, "version": options.server_version},
    }
    greeter = Server(options.server_version, is_menu=face == "menu")
    for version in (*VERSIONS, "2026-07-28", "1999-01-01"):
        answer = greeter.answer(_greeting(protocolVersion=version))
        assert answer is not None
        offered = version if version in VERSIONS else VERSIONS[-1]
        assert answer["result"] == {**said, "protocolVersion": offered}


@pytest.mark.parametrize("wrong", [{"protocolVersion": 3}, {"capabilities": None}, {"clientInfo": {"name": "x"}}])
def test_what_is_no_greeting_is_left_to_the_sdk(wrong: dict[str, Any]) -> None:
    assert Server("1").answer(_greeting(**wrong)) is None
    assert Server("1").answer(b"[" * 100_000) is None


def test_the_versions_are_those_of_the_sdk() -> None:
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


def _greeting(**changed: Any) -> bytes:
    client = {"name": "x", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client, **changed}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()


def test_a_server_imports_the_mcp_sdk_at_its_first_mcp_request() -> None:
    code = "import json, sys; import codemode.serving.application.server; print(json.dumps(list(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"mcp", "mcp_types", "numpy", "openai"} & set(json.loads(told.stdout))
