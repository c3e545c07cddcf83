"""Terminal output: programs, outcomes, the cost of a catalog."""

from __future__ import annotations

import json
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderHook
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from codemode.executions.types.outcome_lines import failure_text, question_line
from codemode.serving.output.waterfall import Waterfall
from codemode.text.counted import counted
from codemode.text.visible import marked
from sandbox import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import ConsoleOptions, ConsoleRenderable, RenderableType

    from codemode.catalog.cost import CostReport
    from codemode.executions.types.outcome import ExecutionOutcome

#: Maximum lines shown of a result or an output. `--json` is never cut.
SHOWN_LINES = 24
#: Lines of an answer that is for the model only.
_FIRST_LINES = 5
#: Columns of the line number before a program line.
_MARGIN = len(">    1 | ")
#: Seconds after which a spinner shows what a command waits for.
WAIT_S = 1.0
#: Maximum warnings shown for each source.
SHOWN_WARNINGS = 3

_STATUS_STYLE = {"completed": "green", "failed": "red", "refused": "yellow", "paused": "yellow"}

#: Control characters, and characters that reorder text (UAX 9). Text of third parties must not move the cursor, set the
#: title, or make one call look like another.
_OBEYED = tuple(code for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t")
_REORDERING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_IN_JSON = {code: f"\\u{code:04x}" for code in (*_OBEYED, *_REORDERING)}
_VISIBLE = _IN_JSON | {code: f"\\x{code:02x}" for code in _OBEYED}


class _Visibly(RenderHook):
    """Escapes control characters in everything that is printed."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap each renderable so that its control characters are escaped."""
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
    """Render a program with line numbers. Characters that hide or reorder its text are escapes."""
    from rich.syntax import Syntax

    return Syntax(marked(code.strip("\n")), "python", line_numbers=True, word_wrap=True, background_color="default")


def print_outcome(ended: ExecutionOutcome) -> None:
    """Print an outcome. If standard output is not a terminal, it gets the value alone, and standard error the rest.

    Standard error has no ledger if it is not a terminal either: it has one line for each call (`watching`).
    """
    if console.is_terminal:
        console.print(outcome(ended))
        return
    errors.print(outcome(ended, with_value=False, with_calls=errors.is_interactive))
    if ended.has_value:
        print_json(ended.value)


def outcome(ended: ExecutionOutcome, *, with_value: bool = True, with_calls: bool = True) -> RenderableType:
    """Render an outcome: result, output, failure, ledger, usage."""
    style = _STATUS_STYLE.get(ended.status, "red")
    parts: list[RenderableType] = []
    if ended.has_value and with_value:
        parts.append(_titled("result", json.dumps(ended.value, indent=2, ensure_ascii=False)))
    if ended.output:
        parts.append(_titled("output", ended.output.rstrip("\n")))
    if ended.failure is not None:
        parts.append(_Failure(failure_text(ended.failure), style))
    if ended.calls and with_calls:
        parts.append(Waterfall(ended.calls))
    parts.extend(plain(f"waits: {question_line(call)}", style="yellow") for call in ended.pending)
    parts.extend(plain(f"planned: {call}", style="blue") for call in ended.planned)
    if ended.planned and ended.plan:
        parts.append(plain(f"next: codemode plans approve {ended.plan}", style="bold"))
        parts.append(plain(f"then: codemode plans run {ended.plan}", style="bold"))
    asked = [call.id for call in ended.pending if call.kind == "approval"]
    if asked:
        parts.append(plain(f"next: codemode approvals approve {' '.join(asked)} (or show, reject)", style="bold"))
    parts.extend(
        plain(f"next: codemode approvals answer {call.id} JSON (or show)", style="bold")
        for call in ended.pending
        if call.kind == "input"
    )
    logins = dict.fromkeys(call.asks["url"] for call in ended.pending if call.kind == "login" and call.asks is not None)
    parts.extend(plain(f"next: log in at {url}", style="bold") for url in logins if url)
    parts.extend(plain(f"note: {note}", style="dim") for note in ended.notes)
    calls = counted(len(ended.calls), "call")
    usage = f"{ended.id}: {ended.usage.wall_s * 1000:.1f} ms, {calls}, {ended.usage.cpu_s * 1000:.0f} ms CPU"
    return Panel(Group(*parts), title=f"[{style}]{ended.status}[/]", subtitle=usage, title_align="left")


def cost(report: CostReport) -> RenderableType:
    """Render the tokens of a catalog in each mode, and which modes fit."""
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
    tasks = Table(box=None, padding=(0, 2), header_style="dim")
    tasks.add_column("tokens of a task, results left out")
    for calls in report.modes[0].of_tasks():
        tasks.add_column(counted(calls, "call"), justify="right")
    for mode in report.modes:
        tasks.add_row(mode.name, *(f"{tokens:,}" for tokens in mode.of_tasks().values()))
    per_tool = f"median per tool: {report.median_tokens:,} tokens; counted {report.method}"
    lines = (Text(per_tool, style="dim"), Text(f"→ {report.verdict}", style="bold"), Text(f"→ {report.pays}"))
    return Group(table, Text(), tasks, *lines)


def warnings(name: str, found: Sequence[tuple[str, str]]) -> None:
    """Print the first warnings about a source to standard error, and the number of the rest."""
    for place, reason in found[:SHOWN_WARNINGS]:
        errors.print(plain(": ".join(filter(None, (name, place, reason))), style="dim"), soft_wrap=True)
    if len(found) > SHOWN_WARNINGS:
        errors.print(f"{name}: and {len(found) - SHOWN_WARNINGS:,} more warnings", style="dim")


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a spinner with this text on a terminal, after one second."""
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


class _Failure:
    """A failure. A line with a caret below it is cut to the width around the caret, and never wrapped."""

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
    """Cut a program line and its caret line to this width, keeping the line number."""
    room = width - _MARGIN
    begin = max(0, min(len(caret) - 1 - _MARGIN - room // 2, len(line) - _MARGIN - room))
    if room < 1 or cell_len(line) <= width:
        return line, caret
    shown = line[_MARGIN:][begin:]
    return line[:_MARGIN] + set_cell_size(shown, min(room, cell_len(shown))), caret[:_MARGIN] + caret[_MARGIN + begin :]


def shortened(title: str, text: str) -> RenderableType:
    """Render the first lines of a text, and the number of the rest."""
    return _titled(title, text)


def first_lines(text: str) -> RenderableType:
    """Render the first lines of a text, each cut to the width of the terminal, and the number of the rest."""
    lines = text.split("\n")
    more = [f"… {len(lines) - _FIRST_LINES:,} more lines"] if len(lines) > _FIRST_LINES else []
    shown = plain("\n".join([*lines[:_FIRST_LINES], *more]), style="dim")
    shown.no_wrap, shown.overflow = True, "ellipsis"
    return Group(shown)  # `Console.print` joins texts, and their overflow would be lost


def plain(text: str, style: str = "") -> Text:
    """Return third-party text for printing, without markup and with control characters escaped."""
    return Text(text.replace("\r\n", "\n").translate(_VISIBLE), style=style)


def print_json(data: Any) -> None:
    """Print data as one JSON document to standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, default=value_of).translate(_IN_JSON)
    console.print(text, soft_wrap=True, markup=False)


def print_json_line(data: Any, to: Console) -> None:
    """Print data as JSON on one line."""
    text = json.dumps(data, ensure_ascii=False, default=value_of).translate(_IN_JSON)
    to.print(text, soft_wrap=True, markup=False)


def _titled(title: str, text: str) -> RenderableType:
    lines = text.split("\n")
    if len(lines) > SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"… {len(lines) - SHOWN_LINES:,} more lines"]
    return Text(f"{title}: ", style="dim") + plain("\n".join(lines), style="default")
