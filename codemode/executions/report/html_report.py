"""A program and its outcome as one HTML page, to keep or to send: program, waterfall, ledger, output and result.

Everything in it comes from programs and services, so all text is escaped. The page has no script, loads nothing, and
says so in its content security policy (CSP Level 3, section 3.3).
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from codemode.executions.types.waterfall import waterfall_svg
from codemode.text.counted import counted
from codemode.text.visible import visible

if TYPE_CHECKING:
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome

#: Characters of a result or an output. Longer ones are cut: the page is for people.
MAX_TEXT = 200_000
#: Calls in the ledger; further ones are counted.
MAX_CALLS = 2_000

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
pre { background: #8882; border-radius: 6px; padding: .8rem; overflow: auto; }
.picture { overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #8884; }
td { overflow-wrap: anywhere; } th, td.number, td.state { white-space: nowrap; } td.number { text-align: right; }
"""
_DIGEST = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


def outcome_page(code: str, outcome: ExecutionOutcome) -> str:
    """Return a self-contained HTML page. It shows what the outcome shows: arguments are redacted, results are not."""
    value = json.dumps(outcome.value, indent=2, ensure_ascii=False) if outcome.has_value else ""
    title = f"{outcome.status}: {counted(len(outcome.calls), 'call')} in {outcome.usage.wall_s:.2f} s"
    texts = (("Program", code.strip("\n")), *outcome.sections(value))
    sections = (*(_preformatted(title, text) for title, text in texts), _calls(outcome.calls))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(outcome.id)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_text(title)}</h1>\n<p>{_text(outcome.id)}</p>\n{''.join(sections)}</body>\n</html>\n"
    )


def _preformatted(title: str, text: str) -> str:
    return f"<h2>{title}</h2>\n<pre>{_text(text)}</pre>\n"


def _calls(calls: tuple[LedgerEntry, ...]) -> str:
    if not calls:
        return ""
    rows = "".join(map(_row, calls[:MAX_CALLS]))
    more = f"<p>{len(calls) - MAX_CALLS:,} more calls</p>\n" if len(calls) > MAX_CALLS else ""
    return (
        f'<h2>Calls</h2>\n<div class="picture">{waterfall_svg(calls)}</div>\n<table>\n<tr><th>call<th>state<th>start, s'
        f"<th>ms<th>answer</tr>\n{rows}</table>\n{more}"
    )


def _row(call: LedgerEntry) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return (
        f"<tr><td><code>{_text(f'{call.tool}({arguments})')}</code>"
        f'<td class="state">{_text(call.shown_state)}'
        f'<td class="number">{call.start_s:.3f}<td class="number">{call.duration_s * 1000:,.1f}'
        f"<td>{_text(call.error or call.preview)}</tr>\n"
    )


def _text(text: str) -> str:
    """Return text that is safe in HTML, with invisible characters escaped, and cut to the limit."""
    shown = visible(text)
    return escape(shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}… {len(shown) - MAX_TEXT:,} more characters")
