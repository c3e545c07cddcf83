"""What a person at a terminal sees: programs, outcomes, the ledger as a waterfall, the cost of a catalog."""

from __future__ import annotations

import json
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderHook
from rich.panel import Panel
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from codemode.serving.model_text import failure_text
from sandbox import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import ConsoleOptions, ConsoleRenderable, RenderableType

    from codemode.catalog.cost import CostReport
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry

#: Columns of a ledger's time bar.
BAR_WIDTH = 24
#: Columns of a terminal from which on the ledger shows answers too.
WIDE = 110
#: Lines of a result or an output before it is cut on the screen (never in `--json`).
SHOWN_LINES = 24
#: Columns of the number in front of a line of a program.
_MARGIN = len(">    1 | ")
#: Seconds after which a person is told what takes so long.
WAIT_S = 1.0
#: Warnings about a source that a command shows.
SHOWN_WARNINGS = 3

_STATUS_STYLE = {"completed": "green", "failed": "red", "refused": "yellow", "paused": "yellow"}
_STATE_STYLE = {
    "committed": "green",
    "failed": "red",
    "denied": "yellow",
    "unknown": "magenta",
    "not started": "dim",
    "pending": "yellow",
}

#: What a terminal obeys, and what makes it show letters in another order than they stand in (UAX 9): texts of others
#: must not move its cursor, set its title, or make one call look like another.
_OBEYED = tuple(code for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t")
_REORDERING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_IN_JSON = {code: f"\\u{code:04x}" for code in (*_OBEYED, *_REORDERING)}
_VISIBLE = _IN_JSON | {code: f"\\x{code:02x}" for code in _OBEYED}


class _Visibly(RenderHook):
    """Whatever is printed is printed as text, also where nobody thought of it."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """The same, each made visible."""
        return [_MadeVisible(each) for each in renderables]


class _MadeVisible:
    def __init__(self, shown: ConsoleRenderable) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._shown, options):
            yield segment if segment.control else Segment(segment.text.translate(_VISIBLE), segment.style)


console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)
console.push_render_hook(_Visibly())
errors.push_render_hook(_Visibly())


def program(code: str) -> RenderableType:
    """A program, with line numbers."""
    return Syntax(code.strip("\n"), "python", line_numbers=True, word_wrap=True, background_color="default")


def outcome(ended: ExecutionOutcome) -> RenderableType:
    """How an execution ended: result, output, failure, ledger, usage."""
    style = _STATUS_STYLE.get(ended.status, "red")
    parts: list[RenderableType] = []
    if ended.has_value:
        parts.append(_titled("result", json.dumps(ended.value, indent=2, ensure_ascii=False)))
    if ended.output:
        parts.append(_titled("output", ended.output.rstrip("\n")))
    if ended.failure is not None:
        parts.append(_Failure(failure_text(ended), style))
    if ended.calls:
        parts.append(waterfall(ended.calls))
    parts.extend(
        plain(f"waits for a decision on {call.id}: {call.tool} at {call.host} ({call.reason})", style="yellow")
        for call in ended.pending
    )
    parts.extend(plain(f"note: {note}", style="dim") for note in ended.notes)
    calls = counted(len(ended.calls), "call")
    usage = f"{ended.usage.wall_s * 1000:.1f} ms, {calls}, {ended.usage.cpu_s * 1000:.0f} ms CPU"
    if not ended.ok:  # it may be looked at, repaired or resumed
        usage = f"{ended.id}: {usage}"
    return Panel(Group(*parts), title=f"[{style}]{ended.status}[/]", subtitle=usage, title_align="left")


def waterfall(calls: Sequence[LedgerEntry]) -> Table:
    """The ledger: one line a call, with a bar for when it ran."""
    end = max(call.start_s + call.duration_s for call in calls) or 1.0
    table = Table(box=None, padding=(0, 1), header_style="dim", expand=True)
    table.add_column("call", ratio=3, no_wrap=True, overflow="ellipsis")
    table.add_column("state", min_width=len("committed"), no_wrap=True)
    table.add_column("ms", justify="right", min_width=6, no_wrap=True)
    table.add_column("when", min_width=BAR_WIDTH, no_wrap=True)
    if console.width >= WIDE:
        table.add_column("answer", ratio=2, no_wrap=True, overflow="ellipsis")
    for call in calls[:SHOWN_LINES]:
        table.add_row(*_line(call, end)[: len(table.columns)])
    if len(calls) > SHOWN_LINES:
        table.add_row(f"… and {len(calls) - SHOWN_LINES} more")
    return table


def _line(call: LedgerEntry, end_s: float) -> tuple[RenderableType, ...]:
    style = _STATE_STYLE.get(call.state, "")
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    left = min(int(call.start_s / end_s * BAR_WIDTH), BAR_WIDTH - 1)
    width = max(1, min(round(call.duration_s / end_s * BAR_WIDTH), BAR_WIDTH - left))
    return (
        plain(f"{call.tool}({arguments})"),
        Text("reused" if call.reused else call.state, style=style),
        f"{call.duration_s * 1000:.1f}",
        Text(" " * left + "█" * width, style=style),
        plain(call.error or call.preview, style="dim"),
    )


def cost(report: CostReport) -> RenderableType:
    """The tokens of a catalog in each mode, and which mode fits."""
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("given to the model as")
    table.add_column("definitions", justify="right")
    table.add_column("tokens", justify="right")
    table.add_column("fits")
    for mode in report.modes:
        fits = Text("yes" if mode.fits else "no", style="green" if mode.fits else "red")
        table.add_row(
            mode.name, f"{mode.definitions:,}", f"{mode.tokens:,}", fits + Text(f"  {mode.reason}", style="dim")
        )
    per_tool = f"median per tool: {report.median_tokens:,} tokens; counted {report.method}"
    return Group(table, Text(per_tool, style="dim"), Text(f"→ {report.verdict}", style="bold"))


def warnings(name: str, found: Sequence[tuple[str, str]]) -> None:
    """What could not be read of a source, on standard error: the first few, and how many there are."""
    for place, reason in found[:SHOWN_WARNINGS]:
        errors.print(plain(": ".join(filter(None, (name, place, reason))), style="dim"), soft_wrap=True)
    if len(found) > SHOWN_WARNINGS:
        errors.print(f"{name}: and {len(found) - SHOWN_WARNINGS:,} more warnings", style="dim")


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal, after a second, what is being waited for."""
    status = errors.status(f"{what} …")
    begun = Timer(WAIT_S, status.start)
    begun.daemon = True
    if errors.is_terminal:
        begun.start()
    try:
        yield
    finally:
        begun.cancel()
        status.stop()


def counted(number: int, noun: str) -> str:
    """A number and what it counts: `1 call`, `2 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class _Failure:
    """What went wrong. A line with a caret below it is cut to the width, around the caret, and never wrapped."""

    def __init__(self, text: str, style: str) -> None:
        self._text = text
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        lines = self._text.split("\n")
        for number in range(1, len(lines)):
            if lines[number].strip() == "^":
                lines[number - 1 : number + 1] = _cut_around(lines[number - 1], lines[number], options.max_width)
        yield plain("\n".join(lines), style=self._style)


def _cut_around(line: str, caret: str, width: int) -> tuple[str, str]:
    """A line of a program and its caret in so many columns; the number of the line stays."""
    room = width - _MARGIN
    begin = max(0, min(len(caret) - 1 - _MARGIN - room // 2, len(line) - _MARGIN - room))
    if room < 1 or cell_len(line) <= width:
        return line, caret
    shown = line[_MARGIN:][begin:]
    return line[:_MARGIN] + set_cell_size(shown, min(room, cell_len(shown))), caret[:_MARGIN] + caret[_MARGIN + begin :]


def shortened(title: str, text: str) -> RenderableType:
    """The first lines of a text, and how many more there are."""
    return _titled(title, text)


def plain(text: str, style: str = "") -> Text:
    """Text of others, as it is: no markup, and nothing that a terminal obeys."""
    return Text(text.replace("\r\n", "\n").translate(_VISIBLE), style=style)


def print_json(data: Any) -> None:
    """Data for another program: one JSON document on standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, default=value_of).translate(_IN_JSON)
    console.print(text, soft_wrap=True, markup=False)


def _titled(title: str, text: str) -> RenderableType:
    lines = text.split("\n")
    if len(lines) > SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"… {len(lines) - SHOWN_LINES:,} more lines"]
    return Text(f"{title}: ", style="dim") + plain("\n".join(lines), style="default")
