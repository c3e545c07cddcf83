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

    from codemode.executions.ledger import LedgerEntry

#: Calls drawn; further ones are counted.
MAX_CALLS = 200

#: Characters of the value, the output and a label.
MAX_TEXT, MAX_LABEL = 2_000, 100

_WIDTH, _ROW, _NAMES = 760, 20, 260

_COLOURS = {
    "committed": "#2da44e",
    "reused": "#57ab5a",
    "pending": "#bf8700",
    "planned": "#0969da",
    "unknown": "#bf8700",
    "failed": "#cf222e",
    "denied": "#cf222e",
    "rejected": "#cf222e",
}


def outcome_html(title: str, texts: Iterable[str], calls: tuple[LedgerEntry, ...]) -> str:
    """Return an HTML fragment: the title, the texts that are not empty, and the waterfall of the calls."""
    parts = [f"<p><b>{_text(title, MAX_LABEL)}</b></p>"]
    parts += [f"<pre>{_text(text, MAX_TEXT)}</pre>" for text in texts if text]
    if calls:
        parts.append(waterfall_svg(calls))
    return f"<div>{''.join(parts)}</div>"


def waterfall_svg(calls: tuple[LedgerEntry, ...]) -> str:
    """Return the calls as an SVG image: one row per call, and one time axis in seconds."""
    shown = calls[:MAX_CALLS]
    end = max((call.start_s + call.duration_s for call in shown), default=0.0) or 1.0
    rows = "".join(_row(call, place, end) for place, call in enumerate(shown))
    height = _ROW * (len(shown) + 1)
    more = f", {len(calls) - len(shown)} more calls" if len(calls) > len(shown) else ""
    foot = f'<text x="{_NAMES}" y="{height - 6}">0 to {end:.2f} s{more}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}" '
        f'font-family="monospace" font-size="12" fill="currentColor">{rows}{foot}</svg>'
    )


def _row(call: LedgerEntry, place: int, end: float) -> str:
    scale = (_WIDTH - _NAMES) / end
    x, width = _NAMES + call.start_s * scale, max(call.duration_s * scale, 2.0)
    y, colour = place * _ROW, _COLOURS.get(str(call.state), "#6e7781")
    told = call.error or call.preview
    title = f"{call.tool}({json.dumps(call.arguments, default=str)[:MAX_TEXT]}) {call.shown_state}: {told}"
    return (
        f"<g><title>{_text(title, MAX_TEXT)}</title>"
        f'<text x="0" y="{y + 14}">{_text(call.tool, _NAMES // 8)}</text>'
        f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{_ROW - 8}" rx="2" fill="{colour}"/></g>'
    )


def _text(text: str, limit: int) -> str:
    """Return text that is safe in HTML, with invisible characters escaped, shortened to `limit` characters."""
    shown = visible(str(text))
    return escape(shown if len(shown) <= limit else f"{shown[:limit]}…")
