"""An outcome as a picture: its calls as bars on one clock, in one self-contained piece of HTML.

Everything in it comes from programs and services, so all text is escaped, and there is no script, style or link.
"""

from __future__ import annotations

import json
import math
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

_WIDTH, _ROW, _NAMES = 760, 20, 280

#: Characters of a label, and the most ticks of the clock. `static/waterfall.js` has the same rules.
_LABEL, _TICKS = _NAMES // 8 - 2, 6

#: The colour and the mark of each state. `static/waterfall.js` of the console has the same.
STATES = {
    "committed": ("#2da44e", "\N{CHECK MARK}"),
    "read": ("#2da44e", "\N{CHECK MARK}"),
    "reused": ("#57ab5a", "\N{CLOCKWISE OPEN CIRCLE ARROW}"),
    "running": ("#0969da", "\N{HORIZONTAL ELLIPSIS}"),
    "pending": ("#bf8700", "\N{DOUBLE VERTICAL LINE}"),
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
    labels = call_labels(shown)
    rows, place = [_ticks(end, _ROW * len(shown))], 0
    for number, lane in enumerate(_lanes(shown)):
        rows.append(_band(number, place, len(lane)))
        rows += [_row(call, labels[call.path], place + offset, end) for offset, call in enumerate(lane)]
        place += len(lane)
    height = _ROW * (len(shown) + 1)
    more = f", {len(calls) - len(shown)} more calls" if len(calls) > len(shown) else ""
    foot = f'<text x="2" y="{height - 6}">{_clock(end, end)} in all{more}</text>'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="The calls on one clock" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="monospace" font-size="12" fill="currentColor">{"".join(rows)}{foot}</svg>'
    )


def call_labels(calls: Iterable[LedgerEntry]) -> dict[str, str]:
    """Return a short name of each call by its path: the last part of its tool, and the arguments that tell it apart.

    These are the ones in which it differs from other calls of its tool, all of them if its tool is called once.
    """
    by_tool: dict[str, list[LedgerEntry]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append(call)
    labels = {}
    for tool, several in by_tool.items():
        texts = [{name: _compact(value) for name, value in call.arguments.items()} for call in several]
        differing = [name for name in {name: None for text in texts for name in text} if _differs(texts, name)]
        for call, text in zip(several, texts, strict=True):
            named = ", ".join(f"{name}={text[name]}" for name in differing if name in text)
            labels[call.path] = f"{_last_part(tool)}({named})"
    return labels


def _differs(texts: list[dict[str, str]], name: str) -> bool:
    return len(texts) == 1 or len({text.get(name) for text in texts}) > 1


def _last_part(tool: str) -> str:
    before, _, last = tool.rpartition(".")
    return f"…{last}" if "." in before else tool


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def tick_step(end: float) -> float:
    """Return the seconds between two ticks of a clock that ends at `end`: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(end / _TICKS))
    return next(step for times in (1, 2, 5, 10) if (step := times * power) * _TICKS >= end * (1 - 1e-9))


def _ticks(end: float, height: int) -> str:
    """Return the ticks of the clock, each a line with its seconds below."""
    step, scale = tick_step(end), (_WIDTH - _NAMES) / end
    places = [number * step for number in range(int(end / step + 1e-9) + 1)]
    return "".join(
        f'<path d="M{_NAMES + at * scale:.1f} 0V{height}" stroke="currentColor" opacity=".2"/>'
        f'<text x="{_NAMES + at * scale:.1f}" y="{height + _ROW - 6}" font-size="11" '
        f'text-anchor="{"end" if at > 0.9 * end else "middle"}">{_clock(at, end)}</text>'
        for at in places
    )


def _clock(at: float, end: float) -> str:
    """Return seconds as text, in the unit of a clock that ends at `end`."""
    return f"{at * 1000:.3g} ms" if end < 1 else f"{at:.3g} s"


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


def _row(call: LedgerEntry, label: str, place: int, end: float) -> str:
    scale = (_WIDTH - _NAMES) / end
    x, width = _NAMES + call.start_s * scale, max(call.duration_s * scale, 2.0)
    state = call.shown_state
    y, (colour, mark) = place * _ROW, STATES.get(state, _OTHER)
    whose = f" as {call.account}" if call.account else ""
    arguments = json.dumps(call.arguments, default=str)[:MAX_TEXT]
    title = f"{call.tool}({arguments}){whose} {state}: {call.error or call.preview}"
    return (
        f'<g data-path="{_text(call.path, MAX_LABEL)}" data-state="{_text(state, MAX_LABEL)}">'
        f"<title>{_text(title, MAX_TEXT)}</title>"
        f'<text x="2" y="{y + 14}">{mark} {_text(label, _LABEL)}</text>'
        f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{_ROW - 8}" rx="2" fill="{colour}"/></g>'
    )


def _text(text: str, limit: int) -> str:
    """Return text that is safe in HTML, with invisible characters escaped, shortened to `limit` characters."""
    shown = visible(str(text))
    return escape(shown if len(shown) <= limit else f"{shown[:limit]}…")
