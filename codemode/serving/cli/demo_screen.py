"""The screen of `codemode demo`: 24 lines, 80 to 100 columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from codemode.serving.output import terminal as show
from codemode.serving.output.waterfall import STATE_STYLE, Waterfall

if TYPE_CHECKING:
    from rich.console import RenderableType

    from codemode.catalog.cost import CostReport, ModeCost
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall

NEXT = (
    ("codemode init openapi.json", "use your own API"),
    ("codemode mcp install cursor", "connect an MCP client"),
    ("codemode demo --all", "search, the cost table, six programs"),
)
#: Columns of the longest bar.
_BAR = 36
_INDENT = 2


@dataclass(frozen=True)
class DemoResult:
    """What the screen shows: the cost, a program, a call that a person was asked about, and a denied call."""

    code: str
    cost: CostReport
    program: ExecutionOutcome
    asked: PendingCall
    approver: str
    approved: ExecutionOutcome
    denied: ExecutionOutcome

    def to_json(self) -> dict[str, Any]:
        """Return the cost and the outcomes as JSON data."""
        outcomes = {name: getattr(self, name).to_json() for name in ("program", "approved", "denied")}
        return {"cost": self.cost.to_json(), **outcomes}


def screen(shown: DemoResult) -> RenderableType:
    """Render the demo, without what comes next."""
    asked, answer, denied = shown.asked, shown.approved.calls[0], shown.denied.calls[0]
    answered = Text.assemble(f"{asked.reason}; ", (f"approved by {shown.approver}", "green"), f"; {answer.state}")
    return Group(
        _title(f"{shown.cost.tools} operations of the example API, in every request to a model"),
        _indented(_headline(shown.cost)),
        _title("A program, with its calls on one clock"),
        _indented(Syntax(shown.code.strip(), "python", background_color="default")),
        Padding(Waterfall(shown.program.calls, has_header=False), (0, 0, 0, _INDENT - 1)),  # its cells have a margin
        _indented(_result(shown.program)),
        _title("A destructive call: a person is asked"),
        _indented(_call(answer)),
        _indented(_labelled("asked", "pending", answered)),
        _title("A call against the policy: nothing is sent"),
        _indented(_call(denied)),
        _indented(_labelled("denied", "denied", show.plain(f"by {denied.rule}"))),
    )


def _title(text: str) -> Rule:
    return Rule(Text(text, style="bold"), style="dim", align="left")


def _indented(shown: RenderableType) -> Padding:
    return Padding(shown, (0, 0, 0, _INDENT))


def _line(*parts: str | Text | tuple[str, str]) -> Text:
    """Return text that is cut to one line."""
    line = Text.assemble(*parts)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _labelled(label: str, state: str, text: Text) -> Text:
    return _line((f"{label}  ", STATE_STYLE[state]), text)


def _call(call: LedgerEntry) -> Text:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return _line(show.plain(f"{call.tool}({arguments})"))


def _result(ended: ExecutionOutcome) -> Text:
    value = json.dumps(ended.value, ensure_ascii=False)
    return _line(("→ ", "dim"), show.plain(value), (f"  {ended.usage.wall_s * 1000:.0f} ms", "dim"))


def _headline(report: CostReport) -> Group:
    """Render the tokens of native definitions and of the two tools, as numbers and as bars."""
    native, two = report.mode("native"), report.mode("code")
    times = _number(round(native.tokens / two.tokens), report)
    how = report.method if report.exact else "an estimate"
    bar = "█" * round(two.tokens / native.tokens * _BAR) or "▏"
    return Group(
        _line(_mode("native tools", native, report), ("█" * _BAR, "red")),
        _line(_mode("two tools", two, report), (bar, "green"), f" {times} times fewer", (f" ({how})", "dim")),
    )


def _mode(name: str, mode: ModeCost, report: CostReport) -> Text:
    return Text.assemble(f"{name:<12}", (f"{_number(mode.tokens, report):>14} tokens  ", "bold"))


def _number(count: int, report: CostReport) -> str:
    """Return a counted number, or an estimated one as two digits with "about"."""
    if report.exact:
        return f"{count:,}"
    return f"about {int(float(f'{count:.1e}')):,}"


def next_commands(*, everything: bool) -> Group:
    """Render the commands to type next. After `everything`, the demo itself is none of them."""
    commands = NEXT[:-1] if everything else NEXT
    width = max(len(command) for command, _ in commands)
    return Group(
        *(
            _line(f"{'' if number else 'next:':<7}", (f"{command:<{width}}", "bold"), (f"  {purpose}", "dim"))
            for number, (command, purpose) in enumerate(commands)
        )
    )
