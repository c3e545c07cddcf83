"""The conversation of `codemode chat`: a prompt, commands that begin with `/`, and a history of what was typed."""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from codemode.catalog.stubs import one_liner
from codemode.serving.agent.transcript import TokenUsage
from codemode.serving.cli.loop_thread import LoopThread
from codemode.serving.cli.turn_view import account, show_turn
from codemode.serving.output import terminal as show
from codemode.text.counted import counted
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.agent import Agent, AgentResult

COMMANDS = {
    "/help": "Show these commands.",
    "/tools": "List the tools; with a prefix, as in `/tools gym.clients`, those below it.",
    "/cost": "Show the requests, tokens and cost of this conversation.",
    "/exit": "End the conversation. Ctrl-D does too; Ctrl-C cancels the answer.",
}

#: File name of the typed messages in the state folder, and how many are kept.
HISTORY_FILE = "chat-history"
_KEPT_LINES = 1000

#: Maximum number of tools that `/tools` lists one by one. More are counted by group.
_LISTED_TOOLS = 40


class Conversation:
    """Messages of a user and their answers, on the terminal or in a pipe."""

    def __init__(self, loop: LoopThread, service: CodeMode, agent: Agent, caller: Caller) -> None:
        self._loop = loop
        self._service = service
        self._agent = agent
        self._caller = caller
        self._history: Sequence[dict[str, Any]] = ()
        self._results: list[AgentResult] = []
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/cost": self._cost,
        }

    def run(self) -> None:
        """Answer messages until the input ends."""
        if sys.stdin.isatty():
            show.console.print(f"{self._agent.settings.model}; /help shows the commands", style="dim", markup=False)
        while (line := _typed()) is not None:
            text = line.strip()
            if text == "/exit":
                return
            if text.startswith("/"):
                self._obey(text)
            elif text:
                self._answer(text)

    def _answer(self, message: str) -> None:
        try:
            result = self._loop.run(show_turn(self._agent, message, self._history))
        except KeyboardInterrupt:
            show.console.print("\ncancelled", style="yellow")
            return
        self._results.append(result)
        self._history = result.messages

    def _obey(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        command = self._commands.get(name)
        if command is None:
            known = f"; the commands are {', '.join(COMMANDS)}"
            message = f"there is no command {name}{did_you_mean(name, COMMANDS) or known}"
            show.errors.print(show.plain(message, style="red"), soft_wrap=True)
        else:
            command(rest.strip())

    def _help(self, _: str) -> None:
        for name, what in COMMANDS.items():
            show.console.print(show.plain(f"{name:<8}{what}"), soft_wrap=True)

    def _tools(self, prefix: str) -> None:
        catalog = self._loop.run(self._service.view(self._caller)).catalog
        found = [tool for tool in catalog if f"{tool.id}.".startswith(f"{prefix.rstrip('.')}." if prefix else "")]
        if not found:
            groups = {tool.id.rpartition(".")[0] for tool in catalog} | {tool.namespace for tool in catalog}
            message = f"no tool has the prefix {prefix!r}{did_you_mean(prefix, groups)}"
            show.errors.print(show.plain(message, style="red"), soft_wrap=True)
        elif len(found) > _LISTED_TOOLS:
            for group, count in sorted(Counter(tool.id.rpartition(".")[0] for tool in found).items()):
                show.console.print(show.plain(f"{group}  {counted(count, 'tool')}"), soft_wrap=True)
        else:
            for tool in sorted(found, key=lambda tool: tool.id):
                show.console.print(show.plain(one_liner(tool)), soft_wrap=True)

    def _cost(self, _: str) -> None:
        costs = [result.cost for result in self._results if result.cost is not None]
        line = account(
            sum(result.iterations for result in self._results),
            sum((result.usage for result in self._results), TokenUsage()),
            sum(costs) if costs else None,
            sum(result.duration_s for result in self._results),
        )
        show.console.print(show.plain(f"{counted(len(self._results), 'message')}: {line}"), soft_wrap=True)


def converse(
    service: CodeMode, agent_of: Callable[[CodeMode], tuple[Agent, Caller]], opened: Callable[[CodeMode], None]
) -> None:
    """Start the service, hold a conversation, and close the service. `opened` reports problems of the sources."""
    with _signals_as_exits(), LoopThread() as loop:
        with show.waiting("reading the sources"):
            loop.run(service.start())
        try:
            opened(service)
            agent, caller = agent_of(service)
            try:
                with _line_editing(service.settings.state() / HISTORY_FILE):
                    Conversation(loop, service, agent, caller).run()
            finally:
                loop.run(agent.aclose())
        finally:
            loop.run(service.aclose())


def _typed() -> str | None:
    """Return the next line of standard input, or None at its end. An interrupt empties the line."""
    while True:
        try:
            return input("> " if sys.stdin.isatty() else "")
        except EOFError:
            if sys.stdin.isatty():
                show.console.print()
            return None
        except KeyboardInterrupt:
            show.console.print("\n/exit or Ctrl-D ends", style="dim")


@contextmanager
def _line_editing(file: Path) -> Iterator[None]:
    """Edit lines and recall earlier ones with readline, where Python has it. Nothing is kept of a pipe."""
    if not sys.stdin.isatty():
        yield
        return
    try:
        import readline
    except ImportError:
        yield
        return
    with suppress(OSError):  # the first conversation has no file
        readline.read_history_file(file)
    try:
        yield
    finally:
        _write_history(file)


def _write_history(file: Path) -> None:
    import readline

    readline.set_history_length(_KEPT_LINES)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        readline.write_history_file(file)
    except OSError as error:
        show.errors.print(show.plain(f"{file} was not written: {error.strerror}", style="yellow"), soft_wrap=True)


@contextmanager
def _signals_as_exits() -> Iterator[None]:
    """End by SIGTERM and SIGHUP as by an exit, so that the service is closed."""

    def leave(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    numbers = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    before = {one: signal.signal(one, leave) for one in numbers if signal.getsignal(one) is signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
