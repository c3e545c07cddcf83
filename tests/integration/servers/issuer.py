"""The authorization server of Authlib, as a program on a loopback port."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.servers.running import program, running
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.servers.running import Running


@contextmanager
def issuer(folder: Path, registration: str, **options: Any) -> Iterator[Running]:
    """Run the authorization server of Authlib."""
    python, port = program("small", "python"), free_port()
    if subprocess.run([python, "-c", "import authlib, flask"], check=False, capture_output=True).returncode:
        pytest.skip("authlib is not installed: make servers")
    script = str(Path(__file__).with_name("authorization_server.py"))
    command = [python, script, str(port), json.dumps({"registration": registration, **options})]
    (folder / "issuer").mkdir(exist_ok=True)
    ready = "/.well-known/oauth-authorization-server"
    insecure = {"AUTHLIB_INSECURE_TRANSPORT": "1"}  # http on loopback
    with running(command, f"http://127.0.0.1:{port}", folder / "issuer", ready=ready, environment=insecure) as server:
        yield server
