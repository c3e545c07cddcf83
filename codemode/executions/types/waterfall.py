"""An outcome as a picture: its calls as bars on one clock, in one self-contained piece of HTML.

Everything in it comes from programs and services, so all text is escaped, and there is no script, style or link.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.ledger import LedgerEntry

#: Calls drawn; further ones are counted.
MAX_CALLS = 200

#: Characters of the value, the output and a label.
MAX_TEXT, MAX_LABEL = 2_000, 100

_WIDTH, _ROW, _NAMES = 760, 20, 260

#: The colour and the mark of each state. `static/waterfall.js` of the console has the same.
STATES = {
    "committed": ("#2da44e", "\N{CHECK MARK}"),
    "read": ("#2da44e", "\N{CHECK MARK}"),
    "reused": ("#57ab5a", "\N{CLOCKWISE OPEN CIRCLE ARROW}"),
    "running": ("#0969da", "\N{HORIZONTAL ELLIPSIS}"),
    "pending": ("#bf8700", "\N{DOUBLE VERTICAL BAR}"),
    "planned": ("#0969da", "\N{WHITE DIAMOND}"),
    "unknown": ("#bf8700", "?"),
    "failed": ("#cf222e", "\N{MULTIPLICATION X}"),
    "denied": ("#cf222e", "\N{CIRCLED DIVISION SLASH}"),
    "rejected": ("#cf222e", "\N{CIRCLED DIVISION SLASH}"),
}
_OTHER = ("#6e7781", "\N{EN DASH}")


def outcome_html(title: str, sections: Iterable[tuple[str, str]], calls: tuple[LedgerEntry, ...]) -> str:
    """Return an HTML fragment: the title, the texts with their names, and the waterfall of the calls."""
    parts = [f"<p><b>{_text(title, MAX_LABEL)}</b></p>"]
    parts += [f'<pre title="{name}">{_text(text, MAX_TEXT)}</pre>' for name, text in sections]
    if calls:
        parts.append(waterfall_svg(calls))
    return f"<div>{''.join(parts)}</div>"


def waterfall_svg(calls: Iterable[LedgerEntry]) -> str:
    """Return the calls as an SVG image: one row per call, a lane for each task, and one time axis in seconds."""
    calls = tuple(calls)
    shown = calls[:MAX_CALLS]
    end = max((call.start_s + call.duration_s for call in shown), default=0.0) or 1.0
    rows, place = [], 0
    for number, lane in enumerate(_lanes(shown)):
        rows.append(_band(number, place, len(lane)))
        rows += [_row(call, place + offset, end) for offset, call in enumerate(lane)]
        place += len(lane)
    height = _ROW * (len(shown) + 1)
    more = f", {len(calls) - len(shown)} more calls" if len(calls) > len(shown) else ""
    foot = f'<text x="{_NAMES}" y="{height - 6}">0 to {end:.2f} s{more}</text>'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="The calls on one clock" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="12" fill="currentColor">{"".join(rows)}{foot}</svg>'
    )


def task_of(path: str) -> str:
    """Return the path of the task that made a call, "" for the main program."""
    return path.partition("/")[0].rpartition(".")[0]


def _lanes(calls: Iterable[LedgerEntry]) -> list[list[LedgerEntry]]:
    """Return the calls of each task, in the order of their first calls."""
    lanes: dict[str, list[LedgerEntry]] = {}
    for call in calls:
        lanes.setdefault(task_of(call.path), []).append(call)
    return list(lanes.values())


def _band(number: int, place: int, rows: int) -> str:
    """Return the background of every second lane."""
    if number % 2 == 0:
        return ""
    return f'<rect y="{place * _ROW}" width="{_WIDTH}" height="{rows * _ROW}" fill="currentColor" opacity=".06"/>'


def _row(call: LedgerEntry, place: int, end: float) -> str:
    scale = (_WIDTH - _NAMES) / end
    x, width = _NAMES + call.start_s * scale, max(call.duration_s * scale, 2.0)
    state = call.shown_state
    y, (colour, mark) = place * _ROW, STATES.get(state, _OTHER)
    title = f"{call.tool}({json.dumps(call.arguments, default=str)[:MAX_TEXT]}) {state}: {call.error or call.preview}"
    return (
        f'<g data-path="{_text(call.path, MAX_LABEL)}" data-state="{_text(state, MAX_LABEL)}">'
        f"<title>{_text(title, MAX_TEXT)}</title>"
        f'<text x="2" y="{y + 14}">{mark} {_text(call.tool, _NAMES // 8 - 2)}</text>'
        f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{_ROW - 8}" rx="2" fill="{colour}"/></g>'
    )


def _text(text: str, limit: int) -> str:
    """Return text that is safe in HTML, with invisible characters escaped, shortened to `limit` characters."""
    shown = visible(str(text))
    return escape(shown if len(shown) <= limit else f"{shown[:limit]}…")
