"""`codemode chat`, in a pipe and on a terminal."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from codemode.testing.model_server import ModelRequest, Reply
from tests.command_line import codemode
from tests.model_service import serving
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codemode.testing.model_server import ModelServer

SHOP = 'def price(number: int) -> int:\n    """A price."""\n    return number * 14\n'


def runs(seen: ModelRequest) -> Reply:
    """A model that runs one program and answers in Markdown."""
    if seen.answers:
        return Reply(f"The **answer** is {seen.answers[-1].text.splitlines()[0]}.", usage=(1000, 10))
    return Reply("Let me see.", calls=[("execute", {"code": "shop.price(number=3)"})], usage=(1000, 10))


def configured(folder: Path, server: ModelServer) -> list[str]:
    """Write a configuration for this model, and return the options that name it."""
    (folder / "shop.py").write_text(SHOP)
    file = folder / "codemode.yaml"
    file.write_text(
        "sources:\n  shop: {kind: python, location: shop.py}\nstate_folder: state\ncache_folder: cache\n"
        f"agent: {{model: scripted, base_url: '{server.base_url}', price: {{input: 5, output: 10}}}}\n"
    )
    return ["-c", str(file)]


def test_chat_shows_the_program_its_calls_and_what_it_costs(tmp_path: Path) -> None:
    with serving(runs) as server:
        config = configured(tmp_path, server)
        ended = codemode("chat", *config, stdin="what is it?\n", OPENAI_API_KEY=server.key)
        assert ended.returncode == 0, ended.stderr
        once = codemode("chat", "what is it?", *config, "--json", OPENAI_API_KEY=server.key)
        key = server.key
    shown = ("Let me see.", "shop.price(number=3)", "committed", "The **answer** is 42.", "2 requests", "cost 0.0102")
    for text in shown:
        assert text in ended.stdout
    result = json.loads(once.stdout)
    assert (once.returncode, result["status"], result["text"]) == (0, "completed", "The **answer** is 42.")
    assert key not in ended.stdout + ended.stderr + once.stdout + once.stderr


def test_commands_are_answered_without_the_model(tmp_path: Path) -> None:
    typed = "\n   \n/help\n/tools\n/tools shop\n/tools shp\n/cost\n/tolls\n/exit\nnever sent\n"
    with serving(runs) as server:
        ended = codemode("chat", *configured(tmp_path, server), stdin=typed, OPENAI_API_KEY=server.key)
        assert server.seen == []
    assert ended.returncode == 0, ended.stderr
    assert [line.split()[0] for line in ended.stdout.splitlines()] == [
        *("/help", "/tools", "/cost", "/exit"),
        *["shop.price(*,"] * 2,
        "0",
    ]
    assert "0 messages: 0 requests, 0 + 0 tokens, 0.0 s" in ended.stdout
    assert "no tool has the prefix 'shp'; did you mean 'shop'?" in ended.stderr
    assert "there is no command /tolls; did you mean '/tools'?" in ended.stderr


def test_cost_adds_up_all_messages(tmp_path: Path) -> None:
    with serving(runs) as server:
        config = configured(tmp_path, server)
        ended = codemode("chat", *config, stdin="one\ntwo\n/cost\n", OPENAI_API_KEY=server.key)
    assert "2 messages: 4 requests, 4,000 + 40 tokens, cost 0.0204" in ended.stdout


@pytest.fixture
def answers() -> Iterator[threading.Event]:
    """Set when the model is to answer."""
    event = threading.Event()
    yield event
    event.set()


def test_an_interrupt_cancels_the_answer_and_the_end_of_input_ends(tmp_path: Path, answers: threading.Event) -> None:
    def waits(seen: ModelRequest) -> Reply:
        if seen.message == "wait":
            asked.set()
            answers.wait()
        return runs(seen)

    asked = threading.Event()
    with serving(waits) as server:
        terminal = Terminal(tmp_path, "chat", *configured(tmp_path, server), OPENAI_API_KEY=server.key)
        terminal.wait_for("> ")
        terminal.type("what is it?\n")
        terminal.wait_for("cost 0.0102")
        terminal.wait_for("> ")
        terminal.type("half a line")
        terminal.wait_for("half a line")
        terminal.interrupt_until("/exit or Ctrl-D ends")
        terminal.wait_for("> ")
        terminal.type("wait\n")
        asked.wait()
        terminal.interrupt()
        terminal.wait_for("cancelled")
        answers.set()
        terminal.wait_for("> ")
        terminal.type("/cost\n")
        terminal.wait_for("1 message: 2 requests")
        terminal.wait_for("> ")
        terminal.type("\x04")
        assert terminal.close() == 0, terminal.shown
        assert [seen.message for seen in server.seen] == ["what is it?", "what is it?", "wait"]
    assert "The \x1b[1manswer\x1b[0m is 42." in terminal.shown
    history = tmp_path / "state" / "chat-history"
    assert [line for line in history.read_text().splitlines() if line != "_HiStOrY_V2_"] == [
        *("what is it?", "wait", "/cost")
    ]
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_person_in_the_chat_is_asked_and_the_model_reads_how_it_ended(tmp_path: Path) -> None:
    def pays(seen: ModelRequest) -> Reply:
        if seen.answers:
            return Reply(f"It said {seen.answers[-1].text.splitlines()[0]}.")
        return Reply("", calls=[("execute", {"code": "shop.price(number=3)"})])

    with serving(pays) as server:
        options = configured(tmp_path, server)
        with (tmp_path / "codemode.yaml").open("a", encoding="utf-8") as file:
            file.write("policy: {default: {write: ask}}\n")
        terminal = Terminal(tmp_path, "chat", *options, OPENAI_API_KEY=server.key)
        terminal.wait_for("> ")
        terminal.type("what is it?\n")
        terminal.wait_for("Approve shop.price?")
        terminal.wait_for("[q]uit: ")
        terminal.type("y\n")
        terminal.wait_for("It said 42.")
        terminal.wait_for("> ")
        terminal.type("again\n")
        terminal.wait_for("[q]uit: ")
        terminal.interrupt()
        terminal.wait_for("cancelled")
        terminal.wait_for("> ")
        terminal.type("/exit\n")
        assert terminal.close() == 0, terminal.shown
        piped = codemode("chat", *options, stdin="what is it?\n", OPENAI_API_KEY=server.key)
        assert "It said paused: ApprovalRequired" in piped.stdout
        by_rule = codemode("chat", "so?", *options, "--yes-to", "shop.*", "--json", OPENAI_API_KEY=server.key)
        assert json.loads(by_rule.stdout)["text"] == "It said 42."
