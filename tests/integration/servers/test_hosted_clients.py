"""Hosted clients log in to codemode by the official TypeScript SDK, as the Inspector's OAuth debugger does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command_line import SCRIPT, script_environment, trust
from tests.integration.servers.issuer import issuer
from tests.integration.servers.mcp_servers import MODULES, npm
from tests.integration.servers.running import running
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.servers.running import Running

HOSTED_CLIENT = Path(__file__).with_name("hosted_client.mjs")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    """An issuer, and codemode behind it."""
    with issuer(tmp_path, "dcr", signs=True) as server:
        port = free_port()
        tokens = {
            "issuer": server.url,
            "jwks_url": f"{server.url}/keys",
            "audience": "codemode",
            "scopes": ["orders"],
            "default_role": "default",
        }
        content = {
            "sources": {"shop": {"location": f"{server.url}/openapi.json"}},
            "server": {"port": port, "public_url": f"http://127.0.0.1:{port}", "tokens": tokens},
        }
        (tmp_path / "codemode.yaml").write_text(json.dumps(content), encoding="utf-8")
        trust(tmp_path)
        command = [SCRIPT, "serve", "--config", "codemode.yaml"]
        environment = script_environment(tmp_path)
        with running(command, f"http://127.0.0.1:{port}", tmp_path, ready="/livez", environment=environment) as served:
            yield server, served


def test_a_hosted_client_finds_the_issuer_logs_in_and_lists_the_tools(site: tuple[Running, Running]) -> None:
    server, served = site
    node, _ = npm("mcp-inspector")
    modules = MODULES / "@modelcontextprotocol" / "sdk" / "dist" / "esm"
    command = [node, str(HOSTED_CLIENT), str(modules), f"{served.url}/mcp"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    said = json.loads(ended.stdout)
    assert said == {
        "first": "UnauthorizedError",
        "resource": {
            "resource": f"{served.url}/mcp",
            "authorization_servers": [server.url],
            "bearer_methods_supported": ["header"],
            "resource_name": "codemode",
            "scopes_supported": ["orders"],
        },
        "issuer": server.url,
        "tools": ["search", "execute"],
    }
