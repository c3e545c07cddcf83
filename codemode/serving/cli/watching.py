"""The calls of a program while it runs: a live waterfall on a terminal, else one line for each call that ends."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from codemode.serving.output.waterfall import MAX_ROWS, STATE_STYLE, Waterfall, is_running
from codemode.text.counted import counted
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from codemode.executions.types.ledger import LedgerEntry

#: Seconds after which the live waterfall appears. Shorter programs show their ledger only.
APPEARS_S = 0.3
#: Lines of the terminal that the live waterfall leaves free.
_FREE_LINES = 5
_REFRESHES_PER_S = 8


class Watcher(Protocol):
    """Receives the calls of one execution."""

    def called(self, call: LedgerEntry) -> None:
        """Handle a call that was refused, sent, made progress or ended: the `watch` of `CodeMode.execute`."""

    def ended(self, calls: Sequence[LedgerEntry]) -> None:
        """Handle the complete ledger."""


@contextmanager
def watching(console: Console, *, appears_s: float = APPEARS_S) -> Iterator[Watcher]:
    """Show the calls of a program on this console while the block runs. Needs a running event loop."""
    if not console.is_interactive:  # a pipe, a file, or a terminal that cannot move its cursor
        yield CallLines(console)
        return
    waterfall = LiveWaterfall(console)
    live = Live(
        console=console,
        get_renderable=waterfall.render,
        refresh_per_second=_REFRESHES_PER_S,
        transient=True,
        redirect_stdout=False,
    )
    appearing = asyncio.get_running_loop().call_later(appears_s, live.start)
    try:
        yield waterfall
    finally:
        appearing.cancel()
        live.stop()


class LiveWaterfall:
    """The calls so far, on a clock that runs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls: dict[str, LedgerEntry] = {}
        self._shown_since = time.monotonic()
        self._ledger_since = self._shown_since  # when the seconds of the calls begin

    def called(self, call: LedgerEntry) -> None:
        """Add or update the call."""
        if is_running(call) and call.path not in self._calls:
            self._ledger_since = time.monotonic() - call.start_s  # it was sent just now
        self._calls[call.path] = call

    def ended(self, calls: Sequence[LedgerEntry]) -> None:
        """Do nothing: the ledger of the outcome replaces this picture."""

    def render(self) -> RenderableType:
        """Return the elapsed time, the number of calls, and the waterfall."""
        now = time.monotonic()
        calls = tuple(self._calls.values())
        title = Text(f"running {now - self._shown_since:.1f} s", style=STATE_STYLE["running"])
        title.append(f"  {counted(len(calls), 'call')}, {sum(map(is_running, calls)):,} in flight", style="dim")
        if not calls:
            return title
        rows = max(1, min(self._console.height - _FREE_LINES, MAX_ROWS))
        return Group(title, Waterfall(calls, rows=rows, now_s=now - self._ledger_since))


class CallLines:
    """One line for each call, when it ends: for a log or a pipe."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed: set[str] = set()

    def called(self, call: LedgerEntry) -> None:
        """Print the call, unless it is in flight."""
        if not is_running(call):
            self._print(call)

    def ended(self, calls: Sequence[LedgerEntry]) -> None:
        """Print the calls that have no line yet: those that were not sent, or have no answer."""
        for call in calls:
            if call.path not in self._printed:
                self._print(call)

    def _print(self, call: LedgerEntry) -> None:
        self._printed.add(call.path)
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        line = (
            f"{call.start_s:8.3f} s {call.shown_state:>11} {call.duration_s * 1000:10,.1f} ms  {call.tool}({arguments})"
        )
        if call.error:
            line += f": {' '.join(call.error.split())}"
        self._console.print(Text(visible(line)), soft_wrap=True)
