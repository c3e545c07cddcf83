"""The interface of transports: how the gateway sends calls to one source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from codemode.shared.callbacks import ignore
from codemode.transports.auth.credentials import NOBODY, CallerCredentials

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.auth.account import Account


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the whole answer, its items, and the arguments of the next page (None after the last).

    `next_query` is that of the next request (see `CallContext.query`). `is_counted` means that the answer did not say
    that there is a next page, or that there is none. `total` is the length of the whole list, if stated. `note` says
    why the list may continue although nothing leads further. `is_list` is false if the answer has no list that is
    recognised.

    An answer with `status` is no page, but the whole answer to a call, with its headers (names in lower case).
    """

    value: Any
    items: list[Any]
    next_arguments: dict[str, Any] | None
    next_query: str = ""
    is_counted: bool = False
    total: int | None = None
    note: str = ""
    is_list: bool = True
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)


async def _send_freely() -> None:
    """Allow every send."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """On whose behalf a call is sent, and whom to notify while it is sent.

    `owner` is the caller's id: content references are valid for that id only. `credentials` are the caller's own
    secrets. `account` is whose credentials of the source are used, None if it has no choice of them. `idempotency_key`
    identifies the call to services that accept such a key ("" for none).

    A transport awaits `before_send` right before the request may have an effect, and again before each further attempt.
    If the hook raises, the transport sends nothing and lets the exception pass. `on_progress` takes each progress
    message of the service, `on_note` what the caller should know of an answer beside its value, `on_page` the headers
    of an answer that describe a page of a list, and `on_label` what a server says of who wrote an answer and who may
    read it (`_meta.ifc` of MCP servers).

    `query` is that of the URL of the next page, as the service gave it. It is sent instead of the arguments in the
    query, or after them if it begins with `&`; `/SEGMENT?QUERY` is sent below the operation's path. `answers` holds
    what people answered to the service's questions about this call, by `codemode.transports.questions.question_key`.
    `wait_out` waits the seconds that a service asked for, outside of the call's time limit, and returns whether the
    call may be sent again. Without it, a transport waits within that limit.
    """

    owner: str = ""
    credentials: CallerCredentials = NOBODY
    account: Account | None = None
    idempotency_key: str = ""
    before_send: Callable[[], Awaitable[None]] = _send_freely
    on_progress: Callable[[str], None] = ignore
    on_note: Callable[[str], None] = ignore
    on_page: Callable[[Mapping[str, str]], None] = ignore
    on_label: Callable[[Mapping[str, Any]], None] = ignore
    query: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)
    wait_out: Callable[[float], Awaitable[bool]] | None = None


class Transport(Protocol):
    """Sends the calls of one source. Only its transport knows the source's credentials.

    Every implementation awaits `context.before_send()` itself, after a call has waited for its turn. A call that ends
    before that counts as not sent. `tests/unit/codemode/transports/test_contract.py` checks all transports for this.
    """

    @property
    def idempotency_header(self) -> str:
        """The request header that carries `context.idempotency_key`, "" if the service accepts no such key."""

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Send validated arguments and return JSON data. Raises CallError."""

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Send validated arguments and return one page of a list. Raises CallError, also if the tool has no pages."""

    async def aclose(self) -> None:
        """Close the connections."""


class AnsweringTransport(Transport, Protocol):
    """A transport of tools whose answers have a status and headers (`Details.headers`)."""

    async def call_response(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Send validated arguments and return the whole answer. Raises CallError."""

    async def call_result(self, tool: Tool, first: Page, context: CallContext, wait_s: float) -> Page:
        """Wait for the end of the work that `first` answered about, and return the last answer. Raises CallError."""
