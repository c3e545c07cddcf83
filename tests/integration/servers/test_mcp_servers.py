"""MCP servers that others wrote: each listed whole and called for real, and eleven at once behind `codemode mcp`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from codemode import CodeMode
from codemode.settings import Settings
from tests.integration.servers.mcp_servers import OURS, TOOLS, TOOLS_OF_OURS, npm, ours, servers
from tests.integration.servers.running import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.types import TextContent

    from codemode.executions.types.ledger import LedgerEntry


COMMAND = str(Path(sys.executable).parent / "codemode")


def configuration(folder: Path, *names: str) -> Settings:
    """The named servers of others, and what they may do: all of it."""
    found = servers(folder)
    return Settings.model_validate(
        {
            "sources": {name: {**found[name], "timeout_s": 120} for name in names},
            "limits": {"wall_s": 120},
            "policy": {"default": {"destructive": "allow"}},
            "state_folder": folder / "state",
            "cache_folder": folder / "cache",
        }
    )


async def test_everything(tmp_path: Path) -> None:
    said: list[str] = []

    def watch(entry: LedgerEntry) -> None:
        if entry.is_progress:
            said.append(entry.progress)

    async with CodeMode.from_settings(configuration(tmp_path, "everything")) as service:
        assert len(service.catalog) == TOOLS["everything"]
        assert await value_of(service, "everything.echo(message='hello')") == "Echo: hello"
        assert "42" in await value_of(service, "everything.get_sum(a=40, b=2)")
        weather = await value_of(service, "everything.get_structured_content(location='Chicago')")
        assert set(weather) == {"temperature", "conditions", "humidity"}
        environment = await value_of(service, "everything.get_env()")
        assert set(environment) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
        image = await value_of(service, "everything.get_tiny_image()")
        assert any(part["media_type"] == "image/png" for part in image if isinstance(part, dict)), image
        blob = await value_of(service, "everything.get_resource_reference(resourceType='Blob', resourceId=2)")
        assert any("content" in part or "media_type" in part for part in blob if isinstance(part, dict)), blob
        links = await value_of(service, "everything.get_resource_links(count=2)")
        assert [part["type"] for part in links if isinstance(part, dict)] == ["resource_link"] * 2
        code = "everything.trigger_long_running_operation(duration=1, steps=3)"
        assert (await service.execute(code, watch=watch)).ok
        assert said[-1].startswith("3 of 3"), said


async def test_filesystem(tmp_path: Path) -> None:
    async with CodeMode.from_settings(configuration(tmp_path, "filesystem")) as service:
        assert len(service.catalog) == TOOLS["filesystem"]
        files = tmp_path / "files"
        code = f"""
folder = {str(files)!r}
for name in ("a", "b"):
    filesystem.write_file(path=f"{{folder}}/{{name}}.txt", content=f"{{name}} says hello")
edited = filesystem.edit_file(path=f"{{folder}}/a.txt", edits=[{{"oldText": "hello", "newText": "goodbye"}}])
filesystem.move_file(source=f"{{folder}}/b.txt", destination=f"{{folder}}/c.txt")
try:
    filesystem.read_text_file(path="/etc/passwd")
except Exception as error:
    print(error)
filesystem.read_text_file(path=f"{{folder}}/a.txt")["content"], filesystem.list_directory(path=folder)["content"]
"""
        ended = await service.execute(code)
        assert ended.value == ["a says goodbye", "[FILE] a.txt\n[FILE] c.txt"], ended.failure
        assert "access denied" in ended.output.lower()
        assert (files / "c.txt").read_text() == "b says hello"


async def test_memory(tmp_path: Path) -> None:
    code = """
people = [{"name": name, "entityType": "person", "observations": [f"{name} likes tea"]} for name in ("Ann", "Bob")]
memory.create_entities(entities=people)
memory.create_relations(relations=[{"from": "Ann", "to": "Bob", "relationType": "knows"}])
memory.add_observations(observations=[{"entityName": "Bob", "contents": ["Bob sings"]}])
graph = memory.read_graph()
{entity["name"]: entity["observations"] for entity in graph["entities"]}, memory.search_nodes(query="sings")["entities"]
"""
    async with CodeMode.from_settings(configuration(tmp_path, "memory")) as service:
        assert len(service.catalog) == TOOLS["memory"]
        observations, found = await value_of(service, code)
        assert observations == {"Ann": ["Ann likes tea"], "Bob": ["Bob likes tea", "Bob sings"]}
        assert [entity["name"] for entity in found] == ["Bob"]


async def test_thinking(tmp_path: Path) -> None:
    code = "thinking.sequentialthinking(thought='First', nextThoughtNeeded=True, thoughtNumber=1, totalThoughts=2)"
    async with CodeMode.from_settings(configuration(tmp_path, "thinking")) as service:
        assert len(service.catalog) == TOOLS["thinking"]
        assert (await value_of(service, code))["thoughtHistoryLength"] == 1


async def test_git(tmp_path: Path) -> None:
    code = f"""
repository = {str(tmp_path / "repository")!r}
git.git_add(repo_path=repository, files=["new.txt"])
git.git_commit(repo_path=repository, message="One more file")
git.git_create_branch(repo_path=repository, branch_name="other")
git.git_log(repo_path=repository), git.git_branch(repo_path=repository, branch_type="local")
"""
    async with CodeMode.from_settings(configuration(tmp_path, "git")) as service:
        (tmp_path / "repository" / "new.txt").write_text("new\n", encoding="utf-8")
        assert len(service.catalog) == TOOLS["git"]
        log, branches = await value_of(service, code)
        assert "One more file" in str(log)
        assert "other" in str(branches)


async def test_time(tmp_path: Path) -> None:
    code = "time.convert_time(source_timezone='Europe/Berlin', time='12:00', target_timezone='Asia/Tokyo')"
    async with CodeMode.from_settings(configuration(tmp_path, "time")) as service:
        assert len(service.catalog) == TOOLS["time"]
        assert (await value_of(service, code))["target"]["timezone"] == "Asia/Tokyo"
        wrong = await service.execute("time.get_current_time(timezone='Mars/Base')")
        assert wrong.failure is not None
        assert "Mars/Base" in wrong.failure.message


class Page(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><h1>A page</h1><p>with a paragraph</p></body></html>")


@pytest.fixture
def page() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


async def test_fetch(tmp_path: Path, page: str) -> None:
    async with CodeMode.from_settings(configuration(tmp_path, "fetch")) as service:
        assert len(service.catalog) == TOOLS["fetch"]
        assert "with a paragraph" in await value_of(service, f"fetch.fetch(url={page!r})")


async def test_eleven_servers_with_340_tools_are_two_tools_and_one_program_uses_three_of_them(tmp_path: Path) -> None:
    sources = {**servers(tmp_path), **ours(tmp_path)}
    assert len(sources) == 11
    settings: dict[str, Any] = {
        "sources": {name: {**source, "timeout_s": 120} for name, source in sources.items()},
        "limits": {"wall_s": 120},
        "policy": {"default": {"destructive": "allow"}},
        "state_folder": str(tmp_path / "state"),
        "cache_folder": str(tmp_path / "cache"),
    }
    configuration = tmp_path / "codemode.yaml"
    configuration.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}  # noqa: TID251
    command = StdioServerParameters(command=COMMAND, args=["mcp", "--config", str(configuration)], env=variables)
    code = f"""
import asyncio
folder, repository = {str(tmp_path / "files")!r}, {str(tmp_path / "repository")!r}
state = await git.git_status(repo_path=repository)
now = (await time.get_current_time(timezone="Europe/Berlin"))["timezone"]
await asyncio.gather(*[
    filesystem.write_file(path=f"{{folder}}/{{n}}.txt", content=f"{{now}} {{n}}") for n in range(20)
])
files = (await filesystem.list_directory(path=folder))["content"].splitlines()
await memory.create_entities(entities=[{{"name": f, "entityType": "file", "observations": [now]}} for f in files])
len((await memory.read_graph())["entities"]), str(state)[:20], (await rooms.rooms_71(do="x"))["tool"]
"""
    async with Client(stdio_client(command), read_timeout_seconds=240) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["search", "execute"]
        total = sum(TOOLS.values()) + len(OURS) * TOOLS_OF_OURS
        counted = await client.call_tool("execute", {"code": "describe()"})
        names = counted.structured_content["value"].splitlines()
        assert sum(int(line.split("# ")[1].split()[0]) for line in names) == total == 340
        queries = ["write a file", "what entities are in the knowledge graph", "state of the working tree", "rooms 71"]
        found = await client.call_tool("search", {"queries": queries})
        for tool in ("filesystem.write_file", "memory.read_graph", "git.git_status", "rooms.rooms_71"):
            assert tool in cast("TextContent", found.content[0]).text, found.content
        ended = await client.call_tool("execute", {"code": code})
        assert ended.structured_content["value"][0] == 20, ended.content
        assert ended.structured_content["value"][2] == "rooms_71"
        assert sum(call["count"] for call in ended.structured_content["calls"]) == 26


CLIENT = """
import asyncio, sys
from codemode import CodeMode
from codemode.settings import Settings

async def main(url):
    source = {"everything": {"kind": "mcp", "location": url, "timeout_s": 60}}
    settings = Settings.model_validate({"sources": source, "state_folder": "state", "cache_folder": "cache"})
    async with CodeMode.from_settings(settings) as service:
        async with asyncio.timeout(120):
            while not len(service.catalog):
                await asyncio.sleep(0.1)
        said = []
        watch = lambda entry: said.append(entry.progress)
        code = "[everything.get_sum(a=40, b=2), everything.trigger_long_running_operation(duration=1, steps=2)]"
        ended = await service.execute(code, watch=watch)
        print(len(service.catalog), ended.value, [each for each in said if each][-1], ended.failure)

asyncio.run(main(sys.argv[-1]))
"""


@pytest.mark.parametrize(("speaks", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
def test_everything_over_http(tmp_path: Path, speaks: str, path: str) -> None:
    """It listens on all addresses: it runs in a network of its own, which has none but loopback."""
    server = " ".join(npm("mcp-server-everything"))
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    client = f"{sys.executable} client.py http://127.0.0.1:3001/{path}"
    script = f"ip link set lo up && {{ PORT=3001 {server} {speaks} >log 2>&1 & }} && {client}; kill $!"
    ended = subprocess.run(["unshare", "-rn", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout.startswith(f"{TOOLS['everything']} ['The sum of 40 and 2 is 42.'"), ended
    assert "2 of 2" in ended.stdout
