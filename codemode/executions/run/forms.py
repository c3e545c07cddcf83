"""The forms of a call: whole lists (`.items`, `.pages`) and whole answers (`.response`, `.result`).

Each is one call of the program. What the host sends for it has a path below that of the call, and its own place in the
ledger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.tool import Effect
from codemode.errors import ArgumentsInvalid
from codemode.executions.run.paging import WholeList, whole_list
from codemode.transports.base import Page
from codemode.transports.http.long_running import LONGEST_WAIT_S, WAIT_S

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool

RESPONSE, RESULT = "response", "result"

#: Extra argument of `.result`: seconds to wait for the end of the work.
WAIT = "wait_s"

#: Ends of the paths of the first answer, and of the wait for the result.
OF_RESPONSE, OF_RESULT = "/response", "/result"


class WholeAnswer(NamedTuple):
    """A request for an answer with status and headers (kind `response`), or for the end of the work (`result`)."""

    tool: Tool
    kind: str

    @property
    def extra_names(self) -> tuple[str, ...]:
        """The arguments that it accepts beside those of the tool."""
        return (WAIT,) if self.kind == RESULT else ()

    def problem(self) -> str:
        """Return why the tool has no such answer, "" if it has."""
        return (
            "" if self.tool.details.headers is not None else f"{self.tool.id} is no HTTP operation: it has no headers"
        )


def form_of(name: str, catalog: Catalog) -> WholeList | WholeAnswer | None:
    """Return the form in `name`, a tool id followed by its kind. Return None if there is none."""
    base, _, kind = name.rpartition(".")
    if name not in catalog and kind in (RESPONSE, RESULT) and base in catalog:
        return WholeAnswer(catalog.get(base), kind)
    return whole_list(name, catalog)


def wait_in(form: WholeAnswer, arguments: dict[str, Any]) -> float:
    """Take the seconds to wait for a result out of the arguments. Raises ArgumentsInvalid."""
    wait = arguments.pop(WAIT, WAIT_S) if form.kind == RESULT else 0.0
    if type(wait) in (int, float) and 0 <= wait <= LONGEST_WAIT_S:
        return float(wait)
    message = f"{WAIT} must be a number of seconds from 0 to {LONGEST_WAIT_S:,.0f}, not {wait!r}"
    raise ArgumentsInvalid(form.tool.id, message, parameter=WAIT)


def reading(tool: Tool) -> Tool:
    """Return the tool as the read of the work that it began. The result is not that of its document."""
    return tool.changed(effect=Effect.READ, details=lambda: replace(tool.details, returns=None))


def response_of(page: Page) -> dict[str, Any]:
    """Return an answer as a program receives it from `.response`."""
    return {"status": page.status, "headers": page.headers, "value": page.value}


def seen_of(answer: Any) -> Any:
    """Return an answer of any form as placeholders name its parts."""
    if not isinstance(answer, Page):
        return answer
    return response_of(answer) if answer.status else answer.value
