"""codemode is installed in the configuration files of MCP clients, and removed from them."""

from __future__ import annotations

import base64
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from codemode.settings import ClientName, Machine, McpClient, mcp_clients
from codemode.text import jsonc
from tests.command_line import Ended, codemode

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Ended]

CONFIGURATION = """\
sources:
  gym: {location: gym.json, credentials: [{kind: bearer, token: {env: GYM_TOKEN}}]}
server: {keys: [{env: SERVER_KEY}]}
"""

#: A file of each form as a user may have it.
FILES = {
    "json": '// mine\n{\n  "theme": "dark", // kept\n  "SECTION": {\n    "other": {"command": "x"}\n  }\n}\n',
    "toml": '# mine\nmodel = "o5" # kept\n\n[SECTION.other]\ncommand = "x"\n',
    "yaml": "# mine\nGOOSE_MODE: auto # kept\nSECTION:\n  other:\n    type: builtin # mine too\n",
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    return lambda *arguments: codemode("mcp", *arguments, folder=tmp_path, GYM_TOKEN="a-secret")


#: The clients that codemode is installed in. opencode's servers are only imported.
INSTALLED_IN = [name for name in ClientName if name is not ClientName.OPENCODE]


def clients(home: Path) -> dict[ClientName, McpClient]:
    return mcp_clients(Machine(sys.platform, home, {}))


def parsed(client: McpClient, text: str) -> dict[str, Any]:
    readers: dict[str, Callable[[str], Any]] = {"json": jsonc.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    read = readers[client.form]
    content: dict[str, Any] = read(text)
    return content


def command(server: dict[str, Any]) -> list[str]:
    return [server.get("command") or server["cmd"], *server["args"]]


@pytest.mark.parametrize("name", INSTALLED_IN)
def test_it_is_installed_beside_what_is_there_and_removed_again(name: ClientName, run: Run, tmp_path: Path) -> None:
    client = clients(tmp_path)[name]
    client.file.parent.mkdir(parents=True, exist_ok=True)
    before = FILES[client.form].replace("SECTION", client.section)
    client.file.write_text(before, encoding="utf-8")
    client.file.chmod(0o600)

    ended = run("install", name)
    assert ended.returncode == 0, ended.stderr
    text = client.file.read_text(encoding="utf-8")
    servers = parsed(client, text)[client.section]
    program, *arguments = command(servers["codemode"])
    assert Path(program).is_absolute()
    assert arguments == ["mcp", "--config", str(tmp_path / "codemode.yaml")]
    assert servers["other"] == parsed(client, before)[client.section]["other"]
    assert all(line.rstrip("}") in text for line in before.splitlines() if "mine" in line or "kept" in line)
    assert "a-secret" not in text + ended.stdout
    assert "SERVER_KEY" not in text, "`codemode mcp` reads no key of the server"
    (backup,) = client.file.parent.glob("*.bak")
    assert backup.read_text(encoding="utf-8") == before
    assert backup.stat().st_mode & 0o777 == client.file.stat().st_mode & 0o777 == 0o600

    assert "approvals: {in_client: single_user}" in ended.stdout, "the user reads where a person decides"

    assert "codemode is up to date: " in run("install", name).stdout
    assert client.file.read_text(encoding="utf-8") == text, "a second installation changes nothing"

    assert run("uninstall", name).returncode == 0
    left = parsed(client, client.file.read_text(encoding="utf-8"))
    left.pop("inputs", None)
    assert left == parsed(client, before)


@pytest.mark.parametrize("name", INSTALLED_IN)
def test_the_entry_is_printed_and_nothing_is_written(name: ClientName, run: Run, tmp_path: Path) -> None:
    client = clients(tmp_path)[name]
    ended = run("install", name, "--print", "--name", "tools")
    assert ended.returncode == 0, ended.stderr
    printed = parsed(client, ended.stdout)
    assert not client.file.exists()
    assert run("install", name, "--name", "tools").returncode == 0
    assert parsed(client, client.file.read_text(encoding="utf-8")) == printed


@pytest.mark.parametrize(
    ("name", "key", "reference"),
    [
        ("claude-code", "env", {"GYM_TOKEN": "${GYM_TOKEN:-}"}),
        ("cursor", "env", {"GYM_TOKEN": "${env:GYM_TOKEN}"}),
        ("vscode", "env", {"GYM_TOKEN": "${input:gym-token}"}),
        ("gemini", "env", {"GYM_TOKEN": "$GYM_TOKEN"}),
        ("codex", "env_vars", ["GYM_TOKEN"]),
        ("goose", "env_keys", ["GYM_TOKEN"]),
    ],
)
def test_variables_are_references(name: str, key: str, reference: object, run: Run) -> None:
    assert json.loads(run("install", name, "--print", "--json").stdout)["entry"][key] == reference


def test_vscode_asks_for_each_variable_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"inputs": [{"id": "gym-token", "type": "promptString"}, {"id": "own"}]}', encoding="utf-8")
    assert run("install", "vscode", "--file", str(file)).returncode == 0
    assert [one["id"] for one in json.loads(file.read_text(encoding="utf-8"))["inputs"]] == ["gym-token", "own"]


def test_variables_that_a_user_set_are_kept(run: Run, tmp_path: Path) -> None:
    file = clients(tmp_path)[ClientName.CLAUDE_DESKTOP].file
    ended = run("install", "claude-desktop")
    assert "Claude Desktop does not pass on variables: add GYM_TOKEN to `env`" in ended.stdout
    content = json.loads(file.read_text(encoding="utf-8"))
    content["mcpServers"]["codemode"] |= {"env": {"GYM_TOKEN": "mine"}, "disabled": True, "command": "/old/codemode"}
    file.write_text(json.dumps(content), encoding="utf-8")
    ended = run("install", "claude-desktop", "--json")
    assert "mine" not in ended.stdout
    server = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["codemode"]
    assert (server["env"], server["disabled"]) == ({"GYM_TOKEN": "mine"}, True)
    assert server["command"] != "/old/codemode"


def test_another_server_is_neither_replaced_nor_removed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"codemode": {"command": "npx", "args": ["other"]}}}', encoding="utf-8")
    given = ["cursor", "--file", str(file)]
    ended = run("install", *given)
    assert (ended.returncode, "has another server 'codemode'" in ended.stderr) == (2, True)
    ended = run("uninstall", *given)
    assert (ended.returncode, "is not codemode" in ended.stderr) == (2, True)
    assert run("install", *given, "--force").returncode == 0
    ended = run("uninstall", *given, "--name", "codmode")
    assert (ended.returncode, "did you mean 'codemode'?" in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("cursor", '{"mcpServers": {', "is not JSON (comments are allowed): line 1, column 17"),
        ("cursor", "[]", "is not a mapping of settings"),
        ("cursor", '{"mcpServers": []}', "mcpServers is not a mapping of names to servers"),
        ("cursor", '{"mcpServers": null}', "has a layout that is not edited in place"),
        ("vscode", '{"inputs": 1}', "has a layout that is not edited in place"),
        ("codex", "model = \n", "is not TOML"),
        ("codex", 'mcp_servers = {a = {command = "x"}}\n', "such as an inline table; nothing was written"),
        ("goose", "extensions: [\n", "is not YAML"),
        ("goose", "extensions: {a: {type: builtin}}\n", "extensions is written in {} on one line"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_alone(
    name: str, text: str, reason: str, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "settings"
    file.write_text(text, encoding="utf-8")
    ended = run("install", name, "--file", str(file))
    assert ended.returncode == 2
    assert reason in ended.stderr
    assert file.read_text(encoding="utf-8") == text
    assert not [*tmp_path.glob("*.bak")]


def test_links_install_the_same_entry(run: Run) -> None:
    entry = json.loads(run("install", "vscode", "--print", "--json").stdout)["entry"]
    scheme, _, query = run("install", "vscode", "--link").stdout.strip().partition("?")
    assert scheme == "vscode:mcp/install"
    linked = json.loads(unquote(query))
    assert [one["id"] for one in linked.pop("inputs")] == ["gym-token"]
    assert linked == {"name": "codemode", **entry}

    entry = json.loads(run("install", "cursor", "--print", "--json").stdout)["entry"]
    url = urlsplit(run("install", "cursor", "--link").stdout.strip())
    assert (url.scheme, url.netloc, url.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    given = parse_qs(url.query)
    assert given["name"] == ["codemode"]
    assert json.loads(base64.b64decode(given["config"][0])) == entry
    ended = run("install", "zed", "--link")
    assert (ended.returncode, "Zed has no install links" in ended.stderr) == (2, True)


def test_the_links_of_the_page_start_codemode() -> None:
    page = (Path(__file__).parents[5] / "docs" / "how-to" / "mcp-clients.md").read_text(encoding="utf-8")
    (vscode,) = re.findall(r"\(vscode:mcp/install\?([^)]+)\)", page)
    (cursor,) = re.findall(r"\(cursor://anysphere.cursor-deeplink/mcp/install\?([^)]+)\)", page)
    server = {"command": "codemode", "args": ["mcp", "--config", "/home/me/codemode.yaml"]}
    assert "workspaceFolder" not in re.sub(r"Never write a path below `[^`]+`", "", page) + unquote(vscode)
    assert json.loads(unquote(vscode)) == {"name": "codemode", "type": "stdio", **server}
    assert json.loads(base64.b64decode(parse_qs(cursor)["config"][0])) == server


def test_an_option_before_the_subcommand_is_rejected(run: Run) -> None:
    ended = run("--config", "other.yaml", "install", "cursor")
    assert ended.returncode == 2
    assert "--config has no effect before install: write it after `codemode mcp install`" in ended.stderr


def test_a_configuration_that_cannot_be_read_is_not_installed(run: Run, tmp_path: Path) -> None:
    ended = run("install", "cursor", "--config", str(tmp_path / "none.yaml"))
    assert ended.returncode == 2
    assert "cannot read the configuration" in ended.stderr
    assert not (tmp_path / ".cursor").exists()


def test_a_search_starts_no_server_whose_definitions_are_known(tmp_path: Path) -> None:
    server = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "asking_server.py"
    command = ["sh", "-c", f"echo started >> {tmp_path}/starts; exec {sys.executable} {server} {tmp_path}/done"]
    config = {"sources": {"desk": {"command": command}}, "state_folder": "state", "cache_folder": "cache"}
    (tmp_path / "codemode.yaml").write_text(json.dumps(config))
    first, second = (codemode("search", "file a ticket", folder=tmp_path) for _ in range(2))
    assert first.returncode == second.returncode == 0, second.stderr
    assert first.stdout == second.stdout
    assert "desk." in second.stdout
    assert (tmp_path / "starts").read_text() == "started\n"


def test_a_client_whose_servers_are_only_imported_is_said(run: Run) -> None:
    ended = run("install", "opencode")
    assert ended.returncode == 2
    assert "codemode is not installed in opencode by a command: add it there by hand" in ended.stderr
