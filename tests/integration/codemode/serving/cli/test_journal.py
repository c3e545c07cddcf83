"""`codemode journal migrate | backup | restore`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from codemode.executions.journal.migrations import migrations
from codemode.serving.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

STEPS = migrations("sqlite")
DOCUMENT = {"openapi": "3.1.0", "info": {"title": "X", "version": "1"}, "paths": {}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configured(tmp_path / "here", migrate="manual")


def configured(folder: Path, **journal: Any) -> Path:
    folder.mkdir()
    (folder / "x.json").write_text(json.dumps(DOCUMENT))
    source = {"location": "x.json", "base_url": "http://127.0.0.1:1"}
    sections = {"name": "shop", "sources": {"x": source}, "state_folder": "state", "journal": journal}
    (folder / "codemode.yaml").write_text(yaml.safe_dump(sections))
    return folder / "codemode.yaml"


def run(config: Path, *words: str, exit_code: int = 0) -> str:
    ended = CliRunner().invoke(app, [*words, "--config", str(config)])
    assert ended.exit_code == exit_code, ended.output
    return " ".join((ended.stdout or ended.stderr).split())


def test_a_manual_journal_is_migrated_by_the_command_and_by_nothing_else(config: Path) -> None:
    refused = run(config, "executions", "list", exit_code=2)
    assert "lacks 0001_executions" in refused
    assert "run `codemode journal migrate` before the first server" in refused
    said = run(config, "journal", "migrate", "--dry-run")
    assert said.startswith("0001_executions, 0002_projects_and_seals")
    assert (
        f"would be applied: version 0 to {STEPS[-1].version}, readable by versions >= {STEPS[-1].readable_from}" in said
    )
    assert "lacks 0001_executions" in run(config, "executions", "list", exit_code=2)
    assert " applied: version 0" in run(config, "journal", "migrate")
    assert "nothing to do" in run(config, "journal", "migrate")
    run(config, "executions", "list")


def test_a_plan_is_json_when_json_is_asked_for(config: Path) -> None:
    plan = json.loads(run(config, "journal", "migrate", "--dry-run", "--json"))
    assert plan == {
        "version": 0,
        "readable_from": 0,
        "steps": [step.name for step in STEPS],
        "new_version": STEPS[-1].version,
        "new_readable_from": STEPS[-1].readable_from,
        "expires": [],
        "dry_run": True,
    }


def test_a_migration_that_running_servers_cannot_use_says_to_stop_them(config: Path) -> None:
    run(config, "journal", "migrate")
    with closing(sqlite3.connect(config.parent / "state" / "journal.sqlite3")) as database:
        database.executescript("DROP TABLE outbox; DROP TABLE journal_schema; PRAGMA user_version = 6")
    said = run(config, "journal", "migrate", "--dry-run")
    assert f"stop servers that know versions below {STEPS[-1].readable_from} first" in said


def test_doctor_says_which_schema_the_journal_has_and_what_it_lacks(config: Path) -> None:
    assert schema(config) is None
    run(config, "journal", "migrate")
    readable = f"readable by versions >= {STEPS[-1].readable_from}"
    assert schema(config) == ("ok", f"version {STEPS[-1].version}, {readable}", "")
    with closing(sqlite3.connect(config.parent / "state" / "journal.sqlite3")) as database:
        database.executescript("DROP TABLE journal_schema; PRAGMA user_version = 6")
    state, found, fix = schema(config) or ("", "", "")
    assert (state, fix) == ("failure", "run `codemode journal migrate`")
    assert found.startswith("version 6, readable by versions >= 6; lacks 0007_outbox")
    with closing(sqlite3.connect(config.parent / "state" / "journal.sqlite3")) as database:
        database.execute("PRAGMA user_version = 99")
    state, found, _ = schema(config) or ("", "", "")
    assert state == "failure"
    assert "upgrade codemode" in found


def schema(config: Path) -> tuple[str, str, str] | None:
    """Return what `doctor` finds about the journal, and how to fix it."""
    ended = CliRunner().invoke(app, ["doctor", "--json", "--config", str(config)])
    found = [(one["state"], one["found"], one["fix"]) for one in json.loads(ended.stdout) if one["area"] == "journal"]
    return found[0] if found else None


def test_a_backup_is_restored_on_another_machine_with_its_key(config: Path, tmp_path: Path) -> None:
    run(config, "journal", "migrate")
    copy = tmp_path / "copy.sqlite3"
    assert run(config, "journal", "backup", str(copy)).startswith(str(copy))
    there = configured(tmp_path / "there")
    assert "copy the `journal.key`" in run(there, "journal", "restore", str(copy), exit_code=2)
    (there.parent / "state").mkdir(exist_ok=True)
    (there.parent / "state" / "journal.key").write_bytes((config.parent / "state" / "journal.key").read_bytes())
    restored = json.loads(run(there, "journal", "restore", str(copy), "--json"))
    assert restored == {"executions": 0, "paused": 0, "waiting": 0, "damaged": 0}
    assert "there is already a journal" in run(there, "journal", "restore", str(copy), exit_code=2)
    assert "the journal is intact" in run(there, "journal", "check")
