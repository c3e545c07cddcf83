"""`deploy/Dockerfile`, read without a container engine: its user, its health check and its size by arithmetic."""

from __future__ import annotations

import io
import re
import tarfile
import tomllib
from pathlib import Path

import httpx2

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

ROOT = Path(__file__).parents[3]
MB = 1_000_000
MOST_MB = 150

#: `python:3.13-slim` for amd64, compressed, as Docker Hub lists it.
BASE_MB = 45

BUILD, SERVER = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")[1:]


def test_both_stages_have_the_same_slim_base() -> None:
    assert BUILD.split()[0] == SERVER.split()[0] == "python:3.13-slim"


def test_the_server_runs_without_the_rights_of_root() -> None:
    users = re.findall(r"^USER (\d+)$", SERVER, re.MULTILINE)
    assert users and "0" not in users
    assert f"--uid {users[-1]} " in SERVER


async def test_the_health_check_needs_no_key(tmp_path: Path) -> None:
    (url,) = re.findall(r"HEALTHCHECK .*?urlopen\('(\S+)'", SERVER, re.DOTALL)
    gym = {"location": str(ROOT / "api_specs" / "gym" / "openapi.yaml"), "base_url": "http://127.0.0.1:8137"}
    settings = Settings.model_validate({"sources": {"gym": gym}, "state_folder": tmp_path, "cache_folder": tmp_path})
    async with CodeMode.from_settings(settings) as service:
        app = create_app(service, Callers({"a-key": Caller("somebody")}, KeyFile(tmp_path / "keys.json")))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as client:
            assert (await client.get(url)).json() == {"status": "ok"}
    assert url.endswith(":8080/healthz")


def test_the_extras_exist() -> None:
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", BUILD, re.MULTILINE)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras.split(",")) <= declared["optional-dependencies"].keys()


def test_it_is_small(installed: Path) -> None:
    """A registry stores the layers of an image compressed. The lowest level gives an upper bound."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        archive.add(installed, arcname="opt/codemode")
    assert BASE_MB + packed.tell() / MB <= MOST_MB
