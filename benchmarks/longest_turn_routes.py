"""Routes for `longest_turn`: lists, pages of the console and hard requests, beside large paused programs."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx

from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.console.csrf import FIELD, HEADER
from codemode.serving.console.forms import FORM_TYPE
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI

#: Hard texts: a body for each route that takes text of others.
TEXTS = {
    "spaces": "rel = " + " " * 60_000 + "\0",
    "assignments": "a = a" + " \t" * 30_000 + "\0",
    "brackets": "[^[" * 20_000,
    "signs": "?.a-b_c/" * 8_000,
    "digits": "_v" + "7" * 60_000 + "-",
    "quotes": "`a` \"'" * 10_000,
}


def pay(text: str) -> None:
    """Pay."""


#: What is no list, or needs a setting that these services lack.
_OTHER = (
    "/console",
    "/console/accounts/callback",
    "/console/login",
    "/console/logout",
    "/console/notifications",
    "/metrics",
)


@dataclass
class Served:
    """An application in this process, and a client of it."""

    app: FastAPI
    client: httpx.AsyncClient
    csrf_token: str

    async def send(self, request: tuple[str, str, bytes]) -> httpx.Response:
        """Send a request: its method, path and body. Pages of the console take forms."""
        method, path, body = request
        kind = FORM_TYPE if path.startswith("/console") else "application/json"
        headers = {"content-type": kind, HEADER: self.csrf_token}
        return await self.client.request(method, path, content=body, headers=headers)

    def lists(self) -> list[str]:
        """Return the paths of all pages and lists without parameters, of the API and of the console."""
        paths = [path for path, ways in self.app.openapi()["paths"].items() if "get" in ways and "{" not in path]
        inner = next(route for route in self.app.router.routes if getattr(route, "path", "") == "/console")
        pages = [path for path in _paths(inner, "") if "{" not in path and "static" not in path]
        return sorted({*paths, *pages} - {*_OTHER})

    def hard_requests(self) -> dict[str, tuple[str, str, bytes]]:
        """Return requests with hard texts: a name, the method, the path and the body."""
        found: dict[str, tuple[str, str, Any]] = {}
        for name, text in TEXTS.items():
            found[f"execute {name}"] = ("POST", "/v1/execute", {"code": "1", "inputs": {"x": text}})
            found[f"program of {name}"] = ("POST", "/v1/execute", {"code": f"x = 1\n{text}"})
            found[f"search {name}"] = ("POST", "/v1/search", {"queries": [text[:1_000]] * 5})
            found[f"menu {name}"] = ("POST", "/v1/menu", {"message": text, "history": [{"content": text}]})
        found["inputs near infinity"] = ("POST", "/v1/execute", {"code": "1", "inputs": {"x": [1e308] * 120_000}})
        found["inputs of many digits"] = ("POST", "/v1/execute", {"code": "1", "inputs": {"x": [10**4200] * 220}})
        checks = {f"check {name}": urlencode({"code": text}).encode() for name, text in TEXTS.items()}
        return {
            **{name: (method, path, json.dumps(body).encode()) for name, (method, path, body) in found.items()},
            **{name: ("POST", "/console/editor/check", body) for name, body in checks.items()},
        }

    async def ran(self, text: str) -> str:
        """Run a program with a line of hard text. Return its execution."""
        code = f"days = 30\nx = '''\n{text.replace(chr(0), '?').replace(chr(39), '')}\n'''\n1"
        return str((await self.client.post("/v1/execute", json={"code": code, "wait_s": 20})).json()["id"])

    async def save(self, execution: str) -> httpx.Response:
        """Save the program of an execution."""
        body = {"execution": execution, "name": "hard", "description": "Hard.", "parameters": {"days": {}}}
        return await self.client.post("/v1/saved", json=body)


@asynccontextmanager
async def served(paused: int, argument_bytes: int) -> AsyncIterator[Served]:
    """Serve an application with so many paused programs, each with an argument of this size."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {
                "state_folder": Path(folder),
                "journal": {"enabled": True},
                "server": {"load": {"running": 64}},
                "saved": {"folder": Path(folder) / "programs", "roles": ["default"]},
                "policy": {"approvers": ["default"], "rules": [{"tools": "bank.pay", "decision": "ask"}]},
            }
        )
        async with CodeMode.from_settings(settings, functions={"bank": [pay]}) as service:
            app = create_app(service, Callers.of(settings, service.store))
            async with app.router.lifespan_context(app):
                transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
                async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=300) as client:
                    for number in range(paused):
                        code = f"bank.pay(text='x' * {argument_bytes} + '{number}')"
                        answer = await client.post("/v1/execute", json={"code": code, "wait_s": 60})
                        if answer.json()["status"] != "paused":
                            raise RuntimeError(answer.text[:500])
                    page = (await client.get("/console/editor")).text
                    token = re.search(rf'name="{FIELD}" value="([^"]+)"', page)
                    yield Served(app, client, token[1] if token else "")


def resident_bytes() -> int:
    """Return the memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _paths(route: Any, before: str) -> list[str]:
    path = before + getattr(route, "path", "")
    inner = getattr(route, "routes", None)
    if inner:
        return [found for one in inner for found in _paths(one, path)]
    return [path] if "GET" in (getattr(route, "methods", None) or ()) else []
