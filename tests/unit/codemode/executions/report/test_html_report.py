"""An outcome as an HTML page."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from codemode.executions.report.html_report import MAX_CALLS, MAX_TEXT, outcome_page
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.gateway.call import CallState
from sandbox import Failure, Usage

HOSTILE = "<script>alert(1)</script>\"'><img src=http://evil.example onerror=x>\u202e"


def outcome(text: str = "", calls: int = 1) -> ExecutionOutcome:
    entry = LedgerEntry("1", f"t{text}", {"a": text}, CallState.FAILED, 0.0, 0.1, preview=text, error=text)
    return ExecutionOutcome(
        id=f"ex_1{text}",
        status="failed",
        result={"value": text},
        has_value=True,
        output=text,
        output_truncated=False,
        failure=Failure(type=f"ToolError{text}", message=text),
        calls=(entry,) * calls,
        usage=Usage(wall_s=1.5),
        isolation=(),
        limit=None,
        notes=(text,),
    )


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value or "" for name, value in attrs if name in ("src", "href"))


def test_text_of_programs_and_services_becomes_no_element() -> None:
    harmless, hostile = _Tags(outcome_page("1", outcome("x"))), _Tags(outcome_page(HOSTILE, outcome(HOSTILE)))
    assert hostile.names == harmless.names
    assert hostile.attributes == harmless.attributes
    assert not harmless.names & {"script", "link", "img", "iframe"}
    assert not harmless.links
    assert "\u202e" not in outcome_page(HOSTILE, outcome(HOSTILE))


def test_the_policy_allows_the_style_of_the_page_and_nothing_else() -> None:
    page = outcome_page("1", outcome())
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.replace("&#x27;", "'") == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert " style=" not in page


def test_it_shows_program_picture_ledger_output_and_result() -> None:
    page = outcome_page("gym.a(name='x')\n", outcome("told"))
    assert "<pre>gym.a(name=&#x27;x&#x27;)</pre>" in page
    assert "<svg " in page
    assert '<code>ttold(a=&#x27;told&#x27;)</code><td class="state">failed' in page
    assert "<h2>Output</h2>\n<pre>told</pre>" in page
    assert "&quot;value&quot;: &quot;told&quot;" in page
    assert "<h1>failed: 1 call in 1.50 s</h1>" in page


def test_long_texts_and_ledgers_are_cut_and_counted() -> None:
    page = outcome_page("x" * (MAX_TEXT + 5), outcome(calls=MAX_CALLS + 7))
    assert "x… 5 more characters" in page
    assert "7 more calls" in page
