"""`codemode executions` and `codemode approvals`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.auth.keys import KeyFile
from tests.command_line import SCRIPT, Ended, codemode, script_environment
from tests.terminal import Terminal

if TYPE_CHECKING:
    from codemode.executions.types.outcome import ExecutionOutcome

ASKING_SERVER = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "asking_server.py"
BANK = '''
from pathlib import Path

from codemode import tool

BOOK = Path(__file__).with_name("book")


@tool(effect="write")
def pay(to: str, amount: int) -> int:
    """Send money."""
    with BOOK.open("a") as book:
        book.write(f"{to} {amount}\\n")
    return amount


@tool(effect="write")
def take_back(to: str) -> str:
    """Take money back."""
    with BOOK.open("a") as book:
        book.write(f"{to} back\\n")
    return "back"
'''

CONFIG = """
sources:
  bank:
    kind: python
    location: bank.py
    revert: {pay: "take_back(to=arguments.to)"}
policy:
  rules:
    - {name: a person looks, tools: bank.pay, where: {to: bob}, decision: ask, reason: much money}
state_folder: state
cache_folder: cache
"""
FOLDERS = "state_folder: state\ncache_folder: cache\n"


class Desk:
    """A folder with a configuration, and the commands typed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bank.py").write_text(BANK, encoding="utf-8")
        (folder / "codemode.yaml").write_text(CONFIG, encoding="utf-8")

    def start(self, *arguments: str, stdin: str) -> subprocess.Popen[str]:
        """Start the console script, which writes its standard error to the file `told`."""
        environment = script_environment(self.folder)
        with (self.folder / "told").open("w") as told:
            process = subprocess.Popen(
                [SCRIPT, *arguments], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stderr=told, text=True
            )
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        return process

    def type(self, *arguments: str, stdin: str = "", columns: str = "200") -> Ended:
        return codemode(*arguments, folder=self.folder, stdin=stdin, COLUMNS=columns)

    def json(self, *arguments: str, stdin: str = "") -> Any:
        ended = self.type(*arguments, "--json", stdin=stdin)
        assert ended.stdout, ended.stderr
        return json.loads(ended.stdout)

    @property
    def book(self) -> list[str]:
        path = self.folder / "book"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


PAYS = "paid = bank.pay(to='ann', amount=1) + bank.pay(to='bob', amount=500)\nprint('paid', paid)\npaid"


def test_a_journal_is_checked_and_what_was_edited_is_named(desk: Desk) -> None:
    absent = desk.type("journal", "check")
    assert (absent.returncode, "there is no journal at" in absent.stderr) == (2, True)
    assert list((desk.folder / "state").glob("**/journal*")) == []
    paused = desk.json("run", "-", stdin=PAYS)
    whole = desk.type("journal", "check")
    assert (whole.returncode, whole.stdout) == (0, "the journal is intact; executions checked: 1\n")
    file = desk.folder / "state" / "journal.sqlite3"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE questions SET asked = replace(asked, '500', '5')")
    edited = desk.type("journal", "check", "-c", "codemode.yaml")
    assert edited.returncode == 1
    assert paused["id"] in edited.stderr
    assert "1 of 1 executions are damaged; its structure is intact" in edited.stdout
    found = desk.json("journal", "check")
    assert (found["is_whole"], list(found["damaged"])) == (False, [paused["id"]])


def test_a_call_is_approved_and_its_program_goes_on_in_another_process(desk: Desk) -> None:
    paused = desk.json("run", "-", stdin=PAYS)
    assert paused["status"] == "paused"
    assert desk.book == ["ann 1"]
    (waiting,) = desk.json("approvals", "list")
    assert waiting["execution"] == paused["id"]
    shown = desk.type("approvals", "show", waiting["id"])
    assert "amount = 500" in shown.stdout
    assert "much money" in shown.stdout
    approved = desk.type("approvals", "approve", waiting["id"])
    assert approved.returncode == 0, approved.stderr
    assert "completed" in approved.stdout
    assert desk.book == ["ann 1", "bob 500"]
    again = desk.type("approvals", "approve", waiting["id"])
    assert again.returncode == 2
    assert f"no pending call {waiting['id']}; pending calls: none" in again.stderr
    assert desk.book == ["ann 1", "bob 500"]


def test_a_paused_program_ends_with_the_command_that_approves_its_call(desk: Desk) -> None:
    paused = desk.type("run", "-", stdin=PAYS)
    (waiting,) = desk.json("approvals", "list")
    assert f"next: codemode approvals approve {waiting['id']}" in paused.stderr


def test_a_paused_program_has_an_exit_code_of_its_own(desk: Desk) -> None:
    assert desk.type("run", "-", stdin=PAYS).returncode == 75
    assert desk.type("run", "-", "--json", stdin=f"{PAYS}  # again").returncode == 75
    assert desk.type("call", "bank.pay", "to=bob", "amount=2").returncode == 75
    (first, *_) = desk.json("approvals", "list")
    assert desk.type("executions", "resume", first["execution"]).returncode == 2
    assert desk.book == ["ann 1", "ann 1"]


def test_a_card_is_shown_before_and_after_the_decision(desk: Desk) -> None:
    desk.type("run", "-", stdin=PAYS)
    (waiting,) = desk.json("approvals", "list")
    shown = desk.type("approvals", "show", waiting["id"]).stdout
    for text in ("Approve bank.pay?", "Send money.", "asked by local, role default", 'to = "bob"', "amount = 500"):
        assert text in shown
    assert "so far: bank.pay committed" in shown
    assert f"codemode approvals approve {waiting['id']} --up-to N" in shown
    unknown = desk.type("approvals", "show", f"{waiting['id'][:-1]}x")
    assert (unknown.returncode, f"did you mean '{waiting['id']}'" in unknown.stderr) == (2, True)
    desk.type("approvals", "approve", waiting["id"], "--note", "as agreed")
    decided = desk.json("approvals", "show", waiting["id"])
    assert (decided["verdict"], decided["by"], decided["via"]) == ("approved", "operator", "command line")
    assert decided["code"] == PAYS
    assert "decided: approved by operator (command line)" in desk.type("approvals", "show", waiting["id"]).stdout


def test_one_command_approves_up_to_a_number_of_calls(desk: Desk) -> None:
    desk.type("run", "-", stdin="[bank.pay(to='bob', amount=n) for n in range(4)]")
    (waiting,) = desk.json("approvals", "list")
    assert desk.type("approvals", "approve", waiting["id"], "--up-to", "3").returncode == 75
    assert desk.book == ["bob 0", "bob 1", "bob 2"]


def test_a_pattern_approves_the_calls_of_its_tools_only(desk: Desk) -> None:
    ended = desk.json("run", "-", "--yes-to", "bank.pay", stdin=PAYS)
    assert (ended["status"], ended["value"]) == ("completed", 501)
    card = desk.json("approvals", "list")
    assert card == []
    assert "approved by operator" in ended["calls"][1]["rule"]
    assert desk.type("run", "-", "--yes-to", "shop.*", stdin=PAYS).returncode == 75
    assert desk.type("call", "bank.pay", "to=bob", "amount=2", "--yes-to", "bank.*").returncode == 0
    assert desk.book == ["ann 1", "bob 500", "ann 1", "bob 2"]


@pytest.mark.parametrize(
    ("typed", "code", "book"),
    [
        (["y", "yes"], 0, ["bob 0", "bob 1"]),
        (["a 2"], 0, ["bob 0", "bob 1"]),
        (["all"], 0, ["bob 0", "bob 1"]),
        (["a 0", "what?", "d", "n too much"], 1, []),
        (["y", "q"], 75, ["bob 0"]),
        (["\x04"], 75, []),
    ],
)
def test_a_person_at_the_terminal_is_asked_and_the_program_goes_on(
    desk: Desk, typed: list[str], code: int, book: list[str]
) -> None:
    (desk.folder / "two.py").write_text("[bank.pay(to='bob', amount=n) for n in range(2)]", encoding="utf-8")
    terminal = Terminal(desk.folder, "run", "two.py")
    for word in typed:
        terminal.wait_for("[q]uit: ")
        terminal.type(word if word == "\x04" else f"{word}\n")
    assert terminal.close() == code, terminal.shown
    assert desk.book == book
    assert "Approve bank.pay?" in terminal.shown
    assert ("too much" in terminal.shown) == ("n too much" in typed)


def test_nobody_is_asked_without_input(desk: Desk) -> None:
    (desk.folder / "pays.py").write_text(PAYS, encoding="utf-8")
    terminal = Terminal(desk.folder, "run", "pays.py", "--no-input")
    assert terminal.close() == 75
    assert "[q]uit: " not in terminal.shown


def test_a_call_is_rejected(desk: Desk) -> None:
    desk.type("run", "-", stdin=PAYS)
    (waiting,) = desk.json("approvals", "list")
    rejected = desk.type("approvals", "reject", waiting["id"], "--note", "too much")
    assert rejected.returncode == 1
    assert "too much" in rejected.stdout
    assert desk.book == ["ann 1"]


def test_the_question_of_a_service_is_answered(desk: Desk) -> None:
    command = json.dumps([sys.executable, str(ASKING_SERVER), str(desk.folder / "book")])
    (desk.folder / "codemode.yaml").write_text(f"sources: {{tickets: {{command: {command}}}}}\n{FOLDERS}")
    paused = desk.type("run", "-", stdin="tickets.file(title='leak')")
    (waiting,) = desk.json("approvals", "list")
    assert f"next: codemode approvals answer {waiting['id']}" in paused.stderr
    assert "Which project?" in desk.type("approvals", "show", waiting["id"]).stdout
    answered = desk.type("approvals", "answer", waiting["id"], '{"project": "roof"}')
    assert answered.returncode == 0, answered.stderr
    assert json.loads(desk.book[0])["project"] == "roof"


def test_executions_are_listed_shown_repaired_and_taken_back(desk: Desk) -> None:
    failed = desk.json("run", "-", stdin="print('begun')\nbank.pay(to='ann', amount=1)\nnot_there")
    listed = desk.type("executions", "list", "--status", "failed", columns="40")
    assert failed["id"] in listed.stdout
    shown = desk.json("executions", "show", failed["id"])
    assert shown["outcome"]["failure"]["type"] == "NameError"
    assert "output: begun" in desk.type("executions", "show", failed["id"]).stdout
    right = "bank.pay(to='ann', amount=1)\nbank.pay(to='cid', amount=2)"
    repaired = desk.json("run", "-", "--resume-from", failed["id"][:12], stdin=right)
    assert repaired["status"] == "completed"
    assert desk.book == ["ann 1", "cid 2"]
    back = desk.type("executions", "rollback", repaired["id"])
    assert desk.book == ["ann 1", "cid 2", "cid back"]
    assert back.returncode == 1
    assert f"it was made by {failed['id']}: roll that execution back" in back.stdout


def test_an_execution_is_taken_back_under_its_role_while_there_is_one(desk: Desk) -> None:
    configuration = desk.folder / "codemode.yaml"
    configuration.write_text(CONFIG.replace("policy:\n", "policy:\n  roles: [clerk]\n"), encoding="utf-8")
    paid = desk.json("run", "-", "--role", "clerk", stdin="bank.pay(to='ann', amount=1)")
    configuration.write_text(CONFIG, encoding="utf-8")
    refused = desk.type("executions", "rollback", paid["id"])
    assert refused.returncode == 2
    assert "there is no role 'clerk'; valid: default, approver (policy.roles)" in refused.stderr
    assert desk.book == ["ann 1"]


def test_of_a_revoked_key_the_operator_lets_nothing_go_on_but_a_rollback(desk: Desk) -> None:
    (desk.folder / "codemode.yaml").write_text(CONFIG.replace("tools: bank.pay", "tools: bank.*"), encoding="utf-8")
    keys = KeyFile(desk.folder / "state" / "keys.json")
    key, _ = keys.create(role="default")
    owner = Caller(f"key:{key.id}")

    async def executed() -> tuple[ExecutionOutcome, ExecutionOutcome]:
        async with CodeMode.from_config(desk.folder / "codemode.yaml") as service:
            assert service.settings.policy.approvers == ("approver",)
            waits = await service.execute("bank.take_back(to='bob')", caller=owner)
            return waits, await service.execute("bank.pay(to='ann', amount=1)", caller=owner)

    waits, paid = asyncio.run(executed())
    assert (waits.status, paid.status) == ("paused", "completed")
    keys.revoke(key.id)
    (question,) = desk.json("approvals", "list")
    refused = desk.json("approvals", "approve", question["id"])["executions"][waits.id]
    assert f"{owner.id} no longer has access" in refused["reason"]
    asks_for_all = CONFIG.replace("tools: bank.pay, where: {to: bob}", "tools: bank.take_back")
    (desk.folder / "codemode.yaml").write_text(asks_for_all, encoding="utf-8")
    assert desk.json("executions", "rollback", paid.id)["outcome"]["status"] == "paused"
    (question,) = desk.json("approvals", "list")
    assert desk.type("approvals", "approve", question["id"]).returncode == 0
    assert desk.book == ["ann 1", "ann back"]


def test_what_is_not_there_is_said(desk: Desk) -> None:
    for arguments, said in (
        (("executions", "show", "ex_none"), "there is no execution 'ex_none'"),
        (("executions", "list", "--status", "complete"), "did you mean 'completed'?"),
        (("executions", "decide", "x", "maybe"), "'maybe' is not one of committed, failed, send_again"),
        (("executions", "decide", "x", "committed", "--value", "{"), "--value is not JSON"),
        (("executions", "resume", "ex_none"), "there is no execution 'ex_none'"),
        (("executions", "rollback", "ex_none"), "there is no execution 'ex_none'"),
        (("approvals", "list", "--execution", "ex_none"), "there is no execution 'ex_none'"),
    ):
        ended = desk.type(*arguments)
        assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr


WAITS = '''
import os
from pathlib import Path

from codemode import tool


@tool(effect="read")
async def wait() -> None:
    """Wait for ever, and say so through a pipe."""
    import asyncio

    Path(__file__).with_name("came").write_text("", encoding="utf-8")
    await asyncio.Event().wait()
'''


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_whose_process_is_ended_has_an_end_or_is_said_to_have_none(desk: Desk, number: int) -> None:
    came = desk.folder / "came"
    os.mkfifo(came)
    (desk.folder / "bank.py").write_text(WAITS, encoding="utf-8")
    (desk.folder / "codemode.yaml").write_text(CONFIG.partition("    revert")[0] + FOLDERS, encoding="utf-8")
    running = desk.start("run", "-", stdin="bank.wait()")
    came.read_bytes()  # until the call is under way
    running.send_signal(number)
    assert running.wait() == (-number if number == signal.SIGKILL else 128 + number)
    (listed,) = desk.json("executions", "list")
    if number != signal.SIGKILL:
        assert (listed["status"], listed["orphaned"]) == ("cancelled", False)
        said = f"{listed['id']} was cancelled; `codemode executions show {listed['id']}` lists the calls that it made\n"
        assert said in (desk.folder / "told").read_text(encoding="utf-8")
        return
    assert (listed["status"], listed["orphaned"]) == ("running", True)
    told = desk.type("executions", "list").stderr
    assert (
        f"{listed['id']}: its server gives no sign of life; `codemode executions resume {listed['id']}` continues it"
    ) in told
    assert desk.json("executions", "cancel", listed["id"])["status"] == "cancelled"
    assert "no sign of life" not in desk.type("executions", "list").stderr


def test_what_is_damaged_is_named_among_the_others(desk: Desk) -> None:
    ids = [desk.json("run", "-", stdin=f"{PAYS}  # {number}")["id"] for number in range(2)]
    (journal,) = desk.folder.rglob("journal.sqlite3")
    with closing(sqlite3.connect(journal)) as file, file:
        file.execute("UPDATE contents SET given = '{' WHERE execution = ?", ids[:1])
        file.execute("UPDATE questions SET asked = '{' WHERE execution = ?", ids[:1])
    listed = desk.type("executions", "list")
    assert (listed.returncode, ids[1] in listed.stdout) == (0, True)
    assert f"the request of {ids[0]} is damaged in the journal" in listed.stderr
    damages = [f"{one['id']} {one.get('damage', '')}" for one in desk.json("executions", "list")]
    assert damages[0] == f"{ids[1]} "
    assert damages[1].startswith(f"{ids[0]} the request of {ids[0]}")
    assert f"of {ids[0]} is damaged in the journal" in desk.type("approvals", "list").stdout


def test_a_paused_execution_is_cancelled(desk: Desk) -> None:
    paused = desk.json("run", "-", stdin=PAYS)
    assert desk.json("executions", "cancel", paused["id"])["status"] == "cancelled"
    assert desk.json("approvals", "list") == []


def test_programs_of_a_conversation_share_state(desk: Desk) -> None:
    desk.json("run", "-", "--conversation", "monday", stdin="store('n', 1)\n'first'")
    assert desk.json("run", "-", "--conversation", "monday", stdin="[load('n'), last]")["value"] == [1, "first"]
    ended = desk.type("run", "-", "--conversation", "tuesday", stdin="load('n')")
    assert ended.returncode == 1
    assert "has no stored value 'n': nothing is stored" in ended.stdout + ended.stderr
    assert "expected 1 to 128 visible characters" in desk.type("run", "-", "--conversation", "a\tb", stdin="1").stderr


def test_a_beginning_of_an_id_names_an_execution_but_never_a_call_to_approve(desk: Desk) -> None:
    paused = desk.json("run", "-", stdin=PAYS)
    (waiting,) = desk.json("approvals", "list", "--execution", paused["id"][:12])
    assert desk.json("executions", "show", paused["id"][:12])["id"] == paused["id"]
    assert desk.type("approvals", "show", waiting["id"][:8]).returncode == 0
    refused = desk.type("approvals", "approve", waiting["id"][:8])
    assert refused.returncode != 0
    assert f"pending calls: {waiting['id']}" in refused.stderr
    assert desk.book == ["ann 1"]
    assert desk.json("executions", "cancel", paused["id"][:12])["status"] == "cancelled"


def test_failed_executions_since_yesterday_are_listed_by_what_they_do(desk: Desk) -> None:
    completed = desk.type("run", "-", stdin="1 + 1")
    desk.type("run", "-", stdin="import math\nmath.sqrt(-1)")
    every = desk.json("executions", "list")
    (failed,) = desk.json("executions", "list", "--failed", "--since", "yesterday")
    assert failed["status"] == "failed"
    assert len(every) == 2
    assert every[1]["id"] in completed.stderr
    assert desk.type("executions", "list", "--failed").stdout.splitlines()[1].endswith("math.sqrt(-1)")
    both = desk.type("executions", "list", "--failed", "--status", "failed")
    assert "--status and --failed exclude each other" in both.stderr
