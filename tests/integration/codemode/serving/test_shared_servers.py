"""Two real servers on one PostgreSQL, each with a state folder of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import yaml

from tests.integration.codemode.executions.journal.conftest import new_database, postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["postgres"]

COMMAND = str(Path(sys.executable).parent / "codemode")
TOOLS = """
from codemode import tool

@tool(effect="read")
def number() -> int:
    "Return a number."
    return 7
"""


class Machine:
    """One machine: a folder with a configuration, and the commands there."""

    def __init__(self, folder: Path, url: str, **sections: Any) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "tools.py").write_text(TOOLS)
        base = {
            "name": "shared",
            "state_folder": "state",
            "cache_folder": "cache",
            "journal": {"url": url, "key": {"env": "JOURNAL_KEY"}},
            "sources": {"box": {"location": "python:tools"}},
        }
        (folder / "codemode.yaml").write_text(yaml.safe_dump({**base, **sections}))
        self.environment = {
            "PATH": os.environ["PATH"],  # noqa: TID251
            "HOME": str(folder),
            "PYTHONPATH": str(folder),
            "JOURNAL_KEY": "the key of all servers",
        }

    def run(self, *arguments: str) -> Any:
        """Run a command, and return its JSON output."""
        command = [COMMAND, *arguments, "--config", "codemode.yaml", "--json"]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def serving(self, *options: str) -> Iterator[httpx2.Client]:
        """Run `codemode serve`, and yield a client of it."""
        command = [COMMAND, "serve", "--config", "codemode.yaml", "--port", "0", *options]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://\S+", line):
                    break
            else:
                raise AssertionError("".join(said))
            try:
                with httpx2.Client(base_url=found[0], timeout=200) as client:
                    yield client
            finally:
                process.terminate()
                process.stderr.read()


@pytest.fixture
def url(postgres: str) -> str:
    return asyncio.run(new_database(postgres))


def status(client: httpx2.Client, key: str) -> int:
    return client.get("/v1/executions", headers={"Authorization": f"Bearer {key}"}).status_code


def expect(wanted: int, key: str, *servers: httpx2.Client) -> None:
    """Wait until servers answer with this status."""
    while any(status(server, key) != wanted for server in servers):
        pass


def test_a_key_made_on_one_server_opens_another_and_ends_there(url: str, tmp_path: Path) -> None:
    first, second = Machine(tmp_path / "a", url), Machine(tmp_path / "b", url)
    made = first.run("keys", "create", "ann")
    with first.serving() as a, second.serving() as b:
        expect(200, made["key"], a, b)
        later = second.run("keys", "create", "bob")
        expect(200, later["key"], a, b)
        assert {key["label"] for key in second.run("keys", "list")} == {"ann", "bob"}
        first.run("keys", "revoke", made["id"])
        expect(401, made["key"], a, b)
        expect(200, later["key"], a, b)
    assert not (first.folder / "state" / "keys.json").exists()


def test_several_processes_of_a_server_see_the_shared_keys(url: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "a", url)
    made = machine.run("keys", "create")
    with machine.serving("--processes", "2") as client:
        expect(200, made["key"], client)
        machine.run("keys", "revoke", made["id"])
        expect(401, made["key"], client)


def form_token(page: httpx2.Response) -> str:
    """Return the form token of a page of the console."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


def test_a_session_of_the_console_opens_every_server_and_ends_on_all_at_once(url: str, tmp_path: Path) -> None:
    first, second = Machine(tmp_path / "a", url), Machine(tmp_path / "b", url)
    key = first.run("keys", "create", "ann")["key"]
    with first.serving() as a, second.serving() as b:
        expect(200, key, a, b)
        assert a.post("/console/login", data={"key": key}).status_code == 303
        b.cookies = a.cookies
        page = b.get("/console/catalog")
        assert (page.status_code, a.get("/console/catalog").status_code) == (200, 200)
        assert b.post("/console/logout", data={"csrf_token": form_token(page)}).status_code == 303
        assert a.cookies.get("codemode_session")
        assert a.get("/console/catalog").headers["location"].startswith("/console/login")


def test_a_program_that_is_saved_on_one_server_is_a_tool_of_all(url: str, tmp_path: Path) -> None:
    saved = {"roles": ["default"]}
    first, second = Machine(tmp_path / "a", url, saved=saved), Machine(tmp_path / "b", url, saved=saved)
    key = first.run("keys", "create", "ann")["key"]
    headers = {"Authorization": f"Bearer {key}"}
    with first.serving() as a, second.serving() as b:
        expect(200, key, a, b)
        ran = a.post("/v1/execute", json={"code": "box.number() + 1"}, headers=headers).json()
        wanted = {"execution": ran["id"], "name": "eight", "description": "Return eight."}
        assert a.post("/v1/saved", json=wanted, headers=headers).status_code == 200
        while b.get("/v1/saved/eight", headers=headers).status_code != 200:
            pass
        called = b.post("/v1/execute", json={"code": "saved.eight()"}, headers=headers).json()
        assert (called["status"], called["value"]) == ("completed", 8)
        listed = second.run("saved", "list")
        assert [(one["id"], one["version"]) for one in listed] == [("saved.eight", 1)]
        second.run("saved", "remove", "eight")
        while a.get("/v1/saved/eight", headers=headers).status_code != 404:
            pass
