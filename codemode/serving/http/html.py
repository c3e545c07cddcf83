"""HTML pages without scripts: every text is escaped, and a page loads nothing."""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from typing import TYPE_CHECKING

from fastapi.responses import HTMLResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
article { margin: 1.5rem 0; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; margin: .5rem 0; }
td { padding: .15rem 1.5rem .15rem 0; vertical-align: top; }
pre {
  padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--line); border-radius: 4px;
}
code, pre { font: 14px/1.5 ui-monospace, monospace; }
.quiet { color: var(--quiet); }
"""

_STYLE_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

#: Nothing is loaded or run, and no other page may embed this one (CSP Level 3).
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Html(str):
    """Escaped HTML."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """Return an element. Children that are not `Html` are escaped, and so are the values of attributes."""
    given = "".join(f' {key.rstrip("_")}="{html.escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>{''.join(map(_escaped, children))}</{name}>")


def join(separator: str, parts: Iterable[Html]) -> Html:
    """Return the parts with an escaped separator between them."""
    return Html(html.escape(separator).join(parts))


def table(rows: Sequence[tuple[str, ...]]) -> Html:
    """Return a table without a head, or nothing for no rows."""
    lines = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", *lines) if rows else Html("")


def prose(text: str) -> Html:
    """Return paragraphs from text with blank lines between them and `code` in backticks."""
    paragraphs = [re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(part)) for part in text.split("\n\n") if part]
    return Html("".join(f"<p>{part}</p>" for part in paragraphs))


def page(title: str, *content: Html) -> HTMLResponse:
    """Return a whole page."""
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head = Html(f"{meta}{element('title', title)}<style>{_STYLE}</style>")
    body = element("body", element("h1", title), *content)
    whole = element("html", element("head", head), body, lang="en")
    return HTMLResponse(f"<!doctype html>\n{whole}\n", headers=_HEADERS)


def _escaped(child: str) -> str:
    return child if isinstance(child, Html) else html.escape(child)
