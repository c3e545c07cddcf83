"""`codemode config`: a file is checked, a key explained, the schema printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from codemode.serving.cli.main import app
from codemode.settings.schema import SCHEMA_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["config", *arguments])


def test_a_file_is_checked_without_its_sources_and_secrets(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(
        "sources: {gone: {location: gone.json, credentials: [{kind: bearer, token: {env: NO_SUCH}}]}}\n", "utf-8"
    )
    checked = run("check", "-c", str(file))
    assert (checked.exit_code, checked.stdout) == (0, f"{file} is valid; sources: gone\n")
    assert json.loads(run("check", "--json", "-c", str(file)).stdout)["sources"] == ["gone"]
    assert run("check", str(file)).stdout == checked.stdout
    twice = run("check", str(file), "-c", str(file))
    assert (twice.exit_code, "FILE and --config exclude each other" in twice.stderr) == (2, True)


def test_an_outdated_schema_beside_the_file_is_reported(tmp_path: Path) -> None:
    file, schema = tmp_path / "codemode.yaml", tmp_path / "codemode.schema.json"
    file.write_text("sources: {gym: {location: gym.json}}\n", encoding="utf-8")
    schema.write_bytes(SCHEMA_FILE.read_bytes())
    assert run("check", "-c", str(file)).stderr == ""
    schema.write_text("{}", encoding="utf-8")
    checked = run("check", "-c", str(file))
    assert (checked.exit_code, "codemode.schema.json belongs to another version" in checked.stderr) == (0, True)


def test_every_mistake_of_a_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text("sources: {gym: {location: gym.json}}\nlimits: {wall: 3}\njournal: {lease_s: soon}\n", "utf-8")
    checked = run("check", "-c", str(file))
    assert checked.exit_code == 2
    assert "line 2: limits.wall: unknown key; did you mean 'wall_s'?" in checked.stderr
    assert "line 3: journal.lease_s: expected a number" in checked.stderr


def test_a_key_is_explained() -> None:
    explained = run("explain", "journal.lease_s")
    assert explained.stdout.splitlines() == [
        "journal.lease_s",
        "  Seconds without a renewal after which other servers take over the executions of a server.",
        "  type:    number",
        "  default: 15",
        "  valid:   at least 1, at most 3600",
        "  example: lease_s: 15",
    ]
    (facts,) = json.loads(run("explain", "--json", "menu.history").stdout)
    assert facts["keys"] == ["human_messages", "messages_scanned", "decay"]


def test_an_unknown_key_names_the_closest() -> None:
    unknown = run("explain", "journal.leese_s")
    assert (unknown.exit_code, unknown.stderr) == (
        2,
        "unknown key 'journal.leese_s'; did you mean 'journal.lease_s'?\n",
    )


def test_the_schema_is_printed_as_it_is_shipped() -> None:
    assert run("schema").stdout == SCHEMA_FILE.read_text(encoding="utf-8")
