"""Commands on a journal of the first version: they say what ends before it ends, and name it afterwards."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import yaml

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.migrations import migrations
from codemode.executions.journal.sql.rows import asked_text, given_text
from codemode.executions.types.ids import new_execution
from codemode.executions.types.records import NewExecution, PendingCall
from tests.command_line import script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command_line import Ended

PAUSED, RUNNING = new_execution(), new_execution()
DOCUMENT = {"openapi": "3.1.0", "info": {"title": "X", "version": "1"}, "paths": {}}
REASON = "recorded by version 1 of the journal, without seals and without the places of its calls"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a journal of version 1: one execution waits for an approval, and one runs."""
    (tmp_path / "x.json").write_text(json.dumps(DOCUMENT))
    source = {"location": "x.json", "base_url": "http://127.0.0.1:1"}
    sections = {"name": "shop", "sources": {"x": source}, "state_folder": "state"}
    (tmp_path / "codemode.yaml").write_text(yaml.safe_dump(sections))
    (tmp_path / "state").mkdir()
    key = DigestKey.of_file(tmp_path / "state" / "journal.key")
    with closing(sqlite3.connect(tmp_path / "state" / "journal.sqlite3")) as old, old:
        for statement in migrations("sqlite")[0].statements:
            old.execute(statement)
        old.execute("PRAGMA user_version = 1")
        old.execute("INSERT INTO journal_key VALUES (?)", (key.fingerprint,))
        for number, (id_, status) in enumerate(((PAUSED, "paused"), (RUNNING, "running")), 1):
            given = NewExecution(id_, "ann", "default", "bank.pay(to='bob')", bytes(32), 1)
            row = (number, id_, "ann", "", "", status, "", 0, 1, 1, 1, 0)
            old.execute(f"INSERT INTO executions VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 -- places
            asked = PendingCall("ap_1", PAUSED, "1", "bank.pay", {"to": "bob"}, "d1", "a rule asks")
            outcome = {"id": id_, "status": "paused", "pending": [asked.to_json()], "calls": [], "notes": ["slow"]}
            text = json.dumps(outcome) if status == "paused" else None
            old.execute("INSERT INTO contents VALUES (?, ?, ?)", (id_, given_text(given), text))
        question = ("ap_1", PAUSED, 1, "d1", "approval", asked_text(asked), "", "{}", 0)
        old.execute(f"INSERT INTO questions VALUES ({', '.join('?' * len(question))})", question)  # noqa: S608
    return tmp_path


def version(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "state" / "journal.sqlite3")) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


def said(ended: Ended) -> str:
    assert ended.returncode == 0, ended.stderr
    return " ".join((ended.stdout + ended.stderr).split())


def test_a_dry_run_of_the_migration_names_what_will_have_expired(folder: Path) -> None:
    text = said(script("journal", "migrate", "--dry-run", folder=folder))
    assert (
        f"2 open executions with 1 undecided call will have expired: {PAUSED} (bank.pay, ap_1), {RUNNING} (no call"
        in text
    )
    assert REASON in text
    plan = json.loads(script("journal", "migrate", "--dry-run", "--json", folder=folder).stdout)
    assert plan["expires"] == [
        {"execution": PAUSED, "waiting": ["bank.pay, ap_1"]},
        {"execution": RUNNING, "waiting": []},
    ]
    assert version(folder) == 1


@pytest.mark.parametrize(
    "command", [("approvals", "list"), ("executions", "list"), ("journal", "check"), ("journal", "migrate")]
)
def test_every_command_that_opens_it_says_first_what_it_changes(folder: Path, command: tuple[str, str]) -> None:
    ended = script(*command, folder=folder)
    assert ended.returncode == 0, ended.stderr
    first = " ".join(ended.stderr.split())
    newest = migrations("sqlite")[-1].version
    assert f"journal.sqlite3 is from an earlier version: it is migrated from version 1 to {newest} now" in first
    assert f"2 open executions with 1 undecided call will have expired: {PAUSED} (bank.pay, ap_1)" in first
    assert "from an earlier version" not in script(*command, folder=folder).stderr


def test_what_has_expired_is_named_with_the_reason_afterwards(folder: Path) -> None:
    said(script("journal", "migrate", folder=folder))
    for command in (("approvals", "list"), ("journal", "check")):
        text = said(script(*command, folder=folder))
        assert f"{PAUSED} expired at 20" in text
        assert f"without a decision on bank.pay, ap_1: it was {REASON}" in text
    shown = json.loads(script("executions", "show", PAUSED, "--json", folder=folder).stdout)
    assert shown["status"] == "expired"
    assert shown["outcome"]["notes"][0] == "slow"
    assert REASON in shown["outcome"]["notes"][1]
    checked = json.loads(script("journal", "check", "--json", folder=folder).stdout)
    assert [one["execution"] for one in checked["expired"]] == [PAUSED]
