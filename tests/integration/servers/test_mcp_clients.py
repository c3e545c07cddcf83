"""MCP clients that nobody here wrote, before `codemode mcp` and `/mcp`: as the page for them tells."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.command_line import trust
from tests.integration.servers.mcp_servers import npm
from tests.integration.servers.model_service import model_service
from tests.integration.servers.running import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Gym


PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "mcp-clients.md"
BIN = Path(sys.executable).parent
CONFIGURATION = """
sources:
  gym:
    location: {document}
    base_url: {url}
    credentials: [{{kind: bearer, token: {{env: GYM_TOKEN}}}}]
policy: {{default: {{destructive: allow}}}}
server: {{port: 0, keys: [{{env: KEY_OF_ANN}}]}}
state_folder: state
cache_folder: cache
"""

#: What the model does by script: find the tool, count the members, say so.
SCRIPT = (
    ("search", {"queries": ["list the members"]}),
    ("execute", {"code": "gym.clients.get_clients_list(limit=1)['total']"}),
    "There are {result}.",
)


def block(heading: str) -> str:
    """The Python of a section of the page."""
    section = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    (text,) = (part for part in section if part.startswith(f"{heading}\n"))
    found = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert found is not None, heading
    return found[1].replace('"GYM_TOKEN": "demo"', '"GYM_TOKEN": "a-token-for-tests"')


@pytest.fixture
def folder(gym: Gym, tmp_path: Path) -> Path:
    """Where a configuration is."""
    content = CONFIGURATION.format(document=gym.document, url=gym.url)
    (tmp_path / "codemode.yaml").write_text(content, encoding="utf-8")
    trust(tmp_path)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    return {"PATH": path, "HOME": str(folder), "GYM_TOKEN": "a-token-for-tests", "KEY_OF_ANN": "ann-has-this-key"}


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of `codemode serve` while the block runs."""
    command = [str(BIN / "codemode"), "serve", "--config", "codemode.yaml"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, env=environment(folder), text=True) as process:
        assert process.stderr is not None
        said = ""
        while "http://" not in (line := process.stderr.readline()):
            assert line, said
            said += line
        try:
            yield line.rpartition(" ")[2].strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """The address of `codemode serve`."""
    with serving(folder) as address:
        yield address


def run(command: list[str], folder: Path, **variables: str) -> str:
    """What a client printed; it must have succeeded."""
    ended = subprocess.run(
        command, cwd=folder, env=environment(folder) | variables, capture_output=True, text=True, timeout=200
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr[-4000:]}"
    return ended.stdout


@pytest.mark.parametrize("library", ["openai-agents", "pydantic-ai"])
def test_an_agent_of_a_library_finds_and_calls_tools(folder: Path, library: str) -> None:
    python = program("mcp-clients", "python")
    (folder / "client.py").write_text(block(library), encoding="utf-8")
    with model_service(SCRIPT) as model:
        said = run([python, "client.py"], folder, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="none")
        assert re.search(r"There are .*\d+", said), said
        assert len(model.asked) == 3
        offered = [tool.get("name") or tool["function"]["name"] for tool in model.asked[0]["tools"]]
        assert offered == ["search", "execute"]
        assert "gym.clients.get_clients_list(" in json.dumps(model.asked[1])


@pytest.mark.parametrize(
    ("library", "installed"), [("FastMCP's client", "mcp-clients"), ("LangChain", "mcp-langchain")]
)
def test_a_client_of_a_library_calls_tools_over_http(folder: Path, served: str, library: str, installed: str) -> None:
    python = program(installed, "python")
    (folder / "client.py").write_text(block(library).replace("http://127.0.0.1:8080", served), encoding="utf-8")
    first, second = run([python, "client.py"], folder).splitlines()
    assert first == "['search', 'execute']"
    assert re.search(r"\d", second), second


@pytest.fixture
def inspector(folder: Path, served: str) -> list[str]:
    """The inspector's command line, with both ways to codemode."""
    command = npm("mcp-inspector")
    stdio: dict[str, Any] = {
        "command": str(BIN / "codemode"),
        "args": ["mcp", "--config", str(folder / "codemode.yaml")],
    }
    stdio |= {"env": {"GYM_TOKEN": "a-token-for-tests"}}
    menu = {**stdio, "args": ["mcp", "--config", str(folder / "menu.yaml"), "--menu"]}
    http = {"type": "streamable-http", "url": f"{served}/mcp", "headers": {"Authorization": "Bearer ann-has-this-key"}}
    servers = {"stdio": stdio, "menu": menu, "http": http}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return [*command, "--cli", "--config", "mcp.json"]


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_inspector_lists_and_calls(folder: Path, inspector: list[str], way: str) -> None:
    inspect = [*inspector, "--server", way, "--method"]
    listed = json.loads(run([*inspect, "tools/list", "--strict"], folder))
    assert [tool["name"] for tool in listed["tools"]] == ["search", "execute"]
    call = [*inspect, "tools/call", "--tool-name"]
    ended = json.loads(run([*call, "execute", "--tool-arg", "code=sum(range(10))"], folder))
    assert ended["structuredContent"]["value"] == 45
    found = json.loads(run([*call, "search", "--tool-arg", 'queries=["list the members"]'], folder))
    assert "gym.clients.get_clients_list(" in found["content"][0]["text"]


def test_the_inspector_lists_a_menu_and_calls_native_tools(folder: Path, inspector: list[str]) -> None:
    configuration = (folder / "codemode.yaml").read_text(encoding="utf-8")
    (folder / "menu.yaml").write_text(f"{configuration}\nmenu: {{core: [get_gym_info]}}\n", encoding="utf-8")
    inspect = [*inspector, "--server", "menu", "--method"]
    listed = json.loads(run([*inspect, "tools/list", "--strict"], folder))
    assert [tool["name"] for tool in listed["tools"]] == ["request_more_tools", "request_tool", "gym-core-get_gym_info"]
    call = [*inspect, "tools/call", "--tool-name"]
    more = ["--tool-arg", 'categories=["gym.surveys"]', "--tool-arg", "reason=feedback"]
    loaded = json.loads(run([*call, "request_more_tools", *more], folder))
    assert loaded["content"][0]["text"].startswith("Loaded 3 tools: gym-surveys-")
    found = json.loads(run([*call, "gym-core-get_gym_info"], folder))
    assert found["structuredContent"]["status"] == "completed"


PAYS = "bank.pay(amount=3)"
BANK = """
from codemode import tool


@tool(effect="destructive")
def pay(amount: int) -> int:
    \"\"\"Pay an amount.\"\"\"
    return amount
"""
OF_BANK = """
sources: {bank: {location: bank.py}}
approvals: {in_client: single_user}
server: {port: 0}
state_folder: state
cache_folder: cache
"""


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[str]:
    """The address of a server for a single user, who is asked about payments in the client."""
    (tmp_path / "bank.py").write_text(BANK, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(OF_BANK, encoding="utf-8")
    with serving(tmp_path) as address:
        yield address


def inspecting(address: str, era: str, code: str) -> list[str]:
    arguments = ["--method", "tools/call", "--tool-name", "execute", "--tool-args-json", json.dumps({"code": code})]
    way = ["--server-url", f"{address}/mcp", "--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
    return [*npm("mcp-inspector"), "--cli", *way, *arguments]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_waits_for_a_long_program_as_its_protocol_says(bank: str, tmp_path: Path, era: str) -> None:
    """In the modern era it declares tasks, and reads the result from `tasks/get`."""
    said = run(inspecting(bank, era, "import time\ntime.sleep(6)\n'slept'"), tmp_path)
    assert json.loads(said)["result"]["structuredContent"]["value"] == "slept"


def test_the_inspector_gets_the_result_of_a_task_after_an_approval(bank: str, tmp_path: Path) -> None:
    command = inspecting(bank, "modern", PAYS)
    with subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE) as client:
        while not (waiting := json.loads(run([str(BIN / "codemode"), "approvals", "list", "--json"], tmp_path))):
            assert client.poll() is None
        run([str(BIN / "codemode"), "approvals", "approve", waiting[0]["id"]], tmp_path)
        said, _ = client.communicate(timeout=120)
    assert json.loads(said)["result"]["structuredContent"]["value"] == 3


FASTMCP = """
import asyncio, sys
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult

async def person(message, response_type, params, context):
    print(message.splitlines()[0])
    return ElicitResult(action="accept", content={"decision": sys.argv[3]})

async def main():
    async with Client(sys.argv[1], mode=sys.argv[2], elicitation_handler=person) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=3)"}, raise_on_error=False)
        data = ended.structured_content
        print(data["failure"]["message"] if ended.is_error else data["value"])

asyncio.run(main())
"""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_person_at_fastmcps_client_decides(bank: str, tmp_path: Path, mode: str) -> None:
    python = program("mcp-clients", "python")
    (tmp_path / "client.py").write_text(FASTMCP, encoding="utf-8")
    for decision, said in (("approve", "3"), ("reject", "a person rejected bank.pay")):
        question, ended = run([python, "client.py", f"{bank}/mcp", mode, decision], tmp_path).splitlines()
        assert question.startswith("Approve bank.pay?")
        assert said in ended


def conforming(suite: list[str], folder: Path) -> str:
    """What the conformance suite found, which it tells on standard error."""
    return run(["sh", "-c", f"{shlex.join(suite)} 2>&1"], folder)


#: The scenarios of the conformance suite that a server without prompts, resources and completion takes part
#: in; the others ask for tools of the suite's own names.
SERVER_SCENARIOS = (
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


def test_the_conformance_suite_finds_nothing_wrong_with_our_server(folder: Path) -> None:
    suite = npm("conformance")
    content = (folder / "codemode.yaml").read_text(encoding="utf-8").replace(", keys: [{env: KEY_OF_ANN}]", "")
    (folder / "codemode.yaml").write_text(content, encoding="utf-8")
    with serving(folder) as address:
        for scenario in SERVER_SCENARIOS:
            said = conforming([*suite, "server", "--url", f"{address}/mcp", "--scenario", scenario], folder)
            assert ", 0 failed, 0 warnings" in said, f"{scenario}: {said}"


CLIENT = """
import asyncio, sys
from pathlib import Path
from codemode import CodeMode
from codemode.settings import Settings

async def main(url):
    source = {"there": {"kind": "mcp", "location": url, "timeout_s": 60}}
    settings = Settings.model_validate({"sources": source, "state_folder": "state", "cache_folder": "cache"})
    async with CodeMode.from_settings(settings) as service:
        for tool in service.catalog:
            arguments = {parameter.name: 1 for parameter in tool.parameters}
            ended = await service.execute(f"{tool.id}(**{arguments!r})")
            assert ended.ok, ended.failure

asyncio.run(main(sys.argv[-1]))
"""


@pytest.mark.parametrize("scenario", ["initialize", "tools_call", "sse-retry"])
def test_the_conformance_suite_finds_nothing_wrong_with_our_client(tmp_path: Path, scenario: str) -> None:
    """Its servers listen on all addresses: it runs in a network of its own, which has none but loopback."""
    suite = npm("conformance")
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    command = [*suite, "client", "--command", f"{sys.executable} client.py", "--scenario", scenario]
    said = conforming(["unshare", "-rn", "sh", "-c", f"ip link set lo up && {shlex.join(command)}"], tmp_path)
    assert ", 0 failed, 0 warnings" in said, said
