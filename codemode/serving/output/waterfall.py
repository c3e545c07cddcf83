"""Calls as bars on one clock, fitted to the terminal: the ledger of an outcome, and of a program that is running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from codemode.executions.life.repeats import shared_arguments
from codemode.gateway.call import CallState
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from codemode.executions.types.ledger import LedgerEntry

#: Columns of a time bar: a fourth of the width, within these.
_BAR_MIN, _BAR_MAX = 12, 40
#: Widths in columns from which bars are shown, and answers too.
_WITH_BARS, _WITH_ANSWERS = 60, 110
#: Rows of a ledger. Longer ones show repeated calls in one row.
MAX_ROWS = 24
#: Characters of one argument. The column is narrower on every terminal.
_MAX_ARGUMENT = 120

STATE_STYLE = {
    "committed": "green",
    "read": "green",
    "reused": "green",
    "running": "cyan",
    "failed": "red",
    "denied": "yellow",
    "rejected": "yellow",
    "unknown": "magenta",
    "cancelled": "dim",
    "not started": "dim",
    "pending": "yellow",
    "planned": "blue",
}

_ANSWERED = ("committed", "read", "reused")


class Waterfall:
    """A table of calls, at most `rows` high: tool and arguments, state, milliseconds, and a bar.

    Bars share a clock that begins with the first call. Longer ledgers show the calls of one tool in one state as one
    row with their number. Its bar and its milliseconds cover the times at which at least one of them ran. If that is
    still too long, rows of answered calls are left out first.

    `now_s` is the time since the start of the execution, in seconds, while the program runs. Calls without an answer
    are then `running`.
    """

    def __init__(
        self,
        calls: Sequence[LedgerEntry],
        *,
        rows: int = MAX_ROWS,
        now_s: float | None = None,
        has_header: bool = True,
    ) -> None:
        self._has_header = has_header
        spans = [_Span.of(call, now_s) for call in calls]
        self._begin_s = min((span.begin_s for span in spans), default=0.0)
        self._length_s = max((span.end_s for span in spans), default=0.0) - self._begin_s or 1.0
        all_rows = [_Row((span,)) for span in spans] if len(spans) <= rows else _collapsed(spans)
        self._rows = all_rows if len(all_rows) <= rows else _first(all_rows, rows - 1)
        self._hidden = len(spans) - sum(len(row.spans) for row in self._rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        bar = max(_BAR_MIN, min(width // 4, _BAR_MAX))
        table = Table(box=None, padding=(0, 1), header_style="dim", show_header=self._has_header, expand=True)
        table.add_column("call", ratio=3, no_wrap=True, overflow="ellipsis")
        table.add_column("state", no_wrap=True)
        table.add_column("ms", justify="right", no_wrap=True)
        if width >= _WITH_BARS:
            table.add_column("when", min_width=bar, no_wrap=True)
        if width >= _WITH_ANSWERS:
            table.add_column("answer", ratio=2, no_wrap=True, overflow="ellipsis")
        for row in self._rows:
            style = STATE_STYLE.get(row.first.state, "")
            cells = (
                row.label(),
                Text(row.first.state, style=style),
                f"{row.busy_s * 1000:,.1f}",
                Text(row.bar(bar, self._begin_s, self._length_s), style=style),
                Text(visible(row.answer), style="dim"),
            )
            table.add_row(*cells[: len(table.columns)])
        if self._hidden:
            table.add_row(Text(f"… and {self._hidden:,} more", style="dim"))
        yield table


@dataclass(frozen=True, slots=True)
class _Span:
    """A call and the time that it took so far."""

    call: LedgerEntry
    state: str
    begin_s: float
    end_s: float

    @classmethod
    def of(cls, call: LedgerEntry, now_s: float | None) -> _Span:
        if now_s is not None and is_running(call):
            return cls(call, "running", call.start_s, max(now_s, call.start_s))
        return cls(call, call.shown_state, call.start_s, call.start_s + call.duration_s)


@dataclass(frozen=True, slots=True)
class _Row:
    """One call, or the calls of one tool in one state."""

    spans: tuple[_Span, ...]

    @property
    def first(self) -> _Span:
        return self.spans[0]

    @property
    def busy_s(self) -> float:
        """The seconds during which at least one of the calls ran."""
        busy_s = until_s = 0.0
        for span in sorted(self.spans, key=lambda span: span.begin_s):
            busy_s += max(0.0, span.end_s - max(span.begin_s, until_s))
            until_s = max(until_s, span.end_s)
        return busy_s

    @property
    def answer(self) -> str:
        call = self.spans[-1].call
        return call.error or call.preview or call.progress

    def label(self) -> Text:
        """Return the call as Python. Arguments that differ between the calls are shown as `…`."""
        call = self.first.call
        arguments = shared_arguments([span.call for span in self.spans], _MAX_ARGUMENT)
        whose = f" as {call.account}" if call.account else ""
        label = Text(visible(call.tool)) + Text(visible(f"({arguments}){whose}"), style="dim")
        if len(self.spans) == 1:
            return label
        return Text(f"{len(self.spans):,}\N{MULTIPLICATION SIGN} ", style="bold") + label

    def bar(self, columns: int, begin_s: float, length_s: float) -> str:
        """Return a bar on a clock of `length_s` seconds, which begins with the first call and has so many columns."""
        cells = [" "] * columns
        for span in self.spans:
            left = min(round((span.begin_s - begin_s) / length_s * columns), columns - 1)
            right = max(left + 1, min(round((span.end_s - begin_s) / length_s * columns), columns))
            cells[left:right] = "█" * (right - left)
        return "".join(cells).rstrip()


def _first(rows: Sequence[_Row], most: int) -> list[_Row]:
    """Return the first rows, but leave out answered calls before all others."""
    order = sorted(range(len(rows)), key=lambda place: (rows[place].first.state in _ANSWERED, place))
    return [rows[place] for place in sorted(order[:most])]


def is_running(call: LedgerEntry) -> bool:
    """Return whether a call of a running program has been sent and not answered."""
    return call.state is CallState.RUNNING


def _collapsed(spans: Sequence[_Span]) -> list[_Row]:
    """Return one row for each tool and state, in the order of their first calls."""
    groups: dict[tuple[str, str], list[_Span]] = {}
    for span in spans:
        groups.setdefault((span.call.tool, span.state), []).append(span)
    return [_Row(tuple(group)) for group in groups.values()]
