"""`codemode sources add | check` and `codemode doctor` propose reads, and write them only if a person says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import codemode

SERVER = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "example_server.py"

OPERATIONS = {
    "/flows/filter": ("read_flows", "Query for flows."),
    "/flows/count": ("count_flows", "Count flows."),
    "/flows/next": ("get_next_flow", "Returns the next flow and marks it as taken."),
    "/flows": ("create_flow", "Creates a flow."),
}
READS = {"POST /flows/filter": "read", "POST /flows/count": "read"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a document, functions, and a configuration with both."""
    paths = {
        path: {"post": {"operationId": name, "description": text, "responses": {"200": {"description": "ok"}}}}
        for path, (name, text) in OPERATIONS.items()
    }
    document = {"openapi": "3.1.0", "info": {"title": "Flows", "version": "1"}, "paths": paths}
    (tmp_path / "flows.json").write_text(json.dumps(document))
    (tmp_path / "desk.py").write_text(
        'def get_reservation_details(id: str) -> dict:\n    "Get a reservation."\n    return {}\n'
        'def cancel_reservation(id: str) -> dict:\n    "Cancel a reservation."\n    return {}\n'
    )
    (tmp_path / "codemode.yaml").write_text(
        "sources:\n  flows: {location: flows.json, base_url: http://127.0.0.1:9}  # ours\n"
        "  desk:\n    location: desk.py\n    rename: {get_reservation_details: reservation}\n"
    )
    return tmp_path


def effects(folder: Path) -> dict[str, Any]:
    sources = yaml.safe_load((folder / "codemode.yaml").read_text())["sources"]
    return {name: source["effect"] for name, source in sources.items() if "effect" in source}


def test_check_proposes_lines_and_writes_nothing_by_itself(folder: Path) -> None:
    before = (folder / "codemode.yaml").read_text()
    shown = codemode("sources", "check", folder=folder)
    assert shown.returncode == 0
    assert "2 writes look like reads (--accept-reads accepts all; or copy to sources.flows.effect):" in shown.stdout
    assert '    "POST /flows/filter": read  # Query for flows\n' in shown.stdout
    assert '    "get_reservation_details": read  # Get a reservation\n' in shown.stdout
    assert "get_next_flow" not in shown.stdout
    assert (folder / "codemode.yaml").read_text() == before
    (found,) = json.loads(codemode("sources", "check", "flows", "--json", folder=folder).stdout).values()
    assert {one["pattern"]: "read" for one in found["proposed_reads"]} == READS


def test_accepted_reads_are_in_the_configuration_and_proposed_no_more(folder: Path) -> None:
    accepted = codemode("sources", "check", "--accept-reads", folder=folder)
    assert accepted.returncode == 0
    assert "flows: 2 reads accepted in codemode.yaml\n" in accepted.stderr
    assert effects(folder) == {"flows": READS, "desk": {"get_reservation_details": "read"}}
    assert "# ours" in (folder / "codemode.yaml").read_text()
    again = codemode("sources", "check", folder=folder)
    assert "look like reads" not in again.stdout
    tools = json.loads(codemode("tools", "--json", folder=folder).stdout)
    reads = [one["id"] for one in tools if one["effect"] == "read"]
    assert reads == ["desk.reservation", "flows.flows.count_flows", "flows.flows.read_flows"]


def test_servers_of_other_clients_files_are_named_and_the_rest_is_accepted(folder: Path) -> None:
    tools = [{"name": "list_notes", "description": "Lists notes.", "inputSchema": {"type": "object"}}]
    (folder / "notes.json").write_text(json.dumps(tools))
    servers = {"mcpServers": {"notes": {"command": sys.executable, "args": [str(SERVER), str(folder / "notes.json")]}}}
    (folder / "mcp.json").write_text(json.dumps(servers))
    with (folder / "codemode.yaml").open("a") as file:
        file.write("mcp_servers: [mcp.json]\n")
    accepted = codemode("sources", "check", "--accept-reads", folder=folder)
    assert accepted.returncode == 0, accepted.stderr
    assert "notes: nothing accepted, since codemode.yaml only names its file: list the server" in accepted.stderr
    assert "flows: 2 reads accepted in codemode.yaml\n" in accepted.stderr
    assert effects(folder) == {"flows": READS, "desk": {"get_reservation_details": "read"}}


def test_only_the_named_sources_are_accepted(folder: Path) -> None:
    assert codemode("sources", "check", "desk", "--accept-reads", folder=folder).returncode == 0
    assert set(effects(folder)) == {"desk"}


def test_add_proposes_and_accepts(folder: Path) -> None:
    proposed = codemode("sources", "add", "other", "flows.json", "--base-url", "http://127.0.0.1:9", folder=folder)
    assert "2 writes look like reads" in proposed.stdout
    assert effects(folder) == {}
    arguments = ("flows.json", "--base-url", "http://127.0.0.1:9", "--accept-reads")
    assert codemode("sources", "add", "third", *arguments, folder=folder).returncode == 0
    assert effects(folder) == {"third": READS}


def test_doctor_says_how_many_there_are_and_where_they_are_listed(folder: Path) -> None:
    findings = json.loads(codemode("doctor", "--json", folder=folder).stdout)
    (found,) = [one for one in findings if one["subject"] == "flows reads"]
    assert (found["state"], found["found"]) == ("ok", "2 writes look like reads, such as flows.flows.read_flows")
    assert found["fix"] == "`codemode sources check flows` proposes their effect, `--accept-reads` writes it"


def test_a_document_without_a_configuration_accepts_nothing(folder: Path) -> None:
    ended = codemode("sources", "check", "--source", "flows.json", "--accept-reads", folder=folder)
    assert ended.returncode == 2
    assert "--accept-reads writes to a configuration file: it excludes --source" in ended.stderr
