"""The content of a message: what waits, who asked for it, and where to answer. No secrets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.text.counted import counted
from codemode.text.times import rfc3339
from codemode.text.visible import marked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.types.records import PendingCall, StoredExecution

#: Longest value that is shown, in characters.
_LONGEST = 80

#: Tools of an ended execution that are named.
_MOST_TOOLS = 10

_TITLES = {
    "approval.asked": "A call waits for approval",
    "login.asked": "A call waits for a login",
    "approval.expiring": "A call will soon expire without an answer",
    "call.unknown": "Nobody knows whether a call took effect",
    "test": "Test message of codemode",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A message, the same for all targets.

    - `id`: the same in all attempts, for receivers to recognize a repetition.
    - `tools`: the tool of the call, or the tools of an ended execution's unknown calls.
    - `arguments`: names of arguments, or names with values.
    - `planned`: the same of what a plan lists for arguments that differ from it.
    - `also_waiting`: tools of the other calls of the execution that wait, one for each.
    - `requester`, `role`: the owner of the execution.
    - `asked`, `expires`: RFC 3339 times, "" if unknown.
    - `link`: the page to answer on, "" without a public URL.
    """

    id: str
    event: str
    project: str
    execution: str
    approval: str = ""
    tools: tuple[str, ...] = ()
    arguments: Mapping[str, Any] | tuple[str, ...] = ()
    planned: Mapping[str, Any] | tuple[str, ...] = ()
    also_waiting: tuple[str, ...] = ()
    reason: str = ""
    host: str = ""
    requester: str = ""
    role: str = ""
    asked: str = ""
    expires: str = ""
    link: str = ""

    @property
    def title(self) -> str:
        """One line that says what has happened."""
        return f"{_TITLES[self.event]}: {', '.join(self.tools)}" if self.tools else _TITLES[self.event]

    def facts(self) -> dict[str, str]:
        """Return the facts for people, by label."""
        shown = {
            "Tool": ", ".join(self.tools),
            "Arguments": _named(self.arguments),
            "In the plan": _named(self.planned),
            "Also waiting": _counted(self.also_waiting),
            "Reason": self.reason,
            "Host": self.host,
            "Requested by": f"{self.requester} (role {self.role})" if self.requester else "",
            "Asked": self.asked,
            "Expires": self.expires,
            "Project": self.project,
            "Execution": self.execution,
            "Approval": self.approval,
        }
        return {label: marked(" ".join(text.split())) for label, text in shown.items() if text}

    def text(self) -> str:
        """Return the whole message as text."""
        lines = [marked(self.title), "", *(f"{label}: {text}" for label, text in self.facts().items())]
        return "\n".join([*lines, "", self.link] if self.link else lines)

    def data(self) -> dict[str, Any]:
        """Return the message as JSON data."""
        more = {"planned": self.planned, "also_waiting": self.also_waiting}
        shown = {"arguments": self.arguments} | {name: value for name, value in more.items() if value}
        values = {name: list(one) if isinstance(one, tuple) else dict(one) for name, one in shown.items()}
        names = ("execution", "approval", "reason", "host", "requester", "role", "asked", "expires", "project", "link")
        return {"tools": list(self.tools), **values} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class NoticeWriter:
    """Writes notices for one project."""

    project: str
    public_url: str = ""
    show_arguments: bool = False

    def of_call(
        self, id_: str, event: str, call: PendingCall, stored: StoredExecution, others: Sequence[PendingCall] = ()
    ) -> Notice:
        """Return the notice about a pending call, and about the others of its execution."""
        return Notice(
            id_,
            event,
            self.project,
            call.execution,
            approval=call.id,
            tools=(call.tool,),
            arguments=self._values(call.arguments),
            planned=self._values(call.planned or {}),
            also_waiting=tuple(other.tool for other in others),
            reason=call.reason,
            host=call.host,
            requester=stored.request.owner,
            role=stored.request.role,
            asked=rfc3339(call.asked_us),
            expires=rfc3339(stored.expires_us) if stored.expires_us else "",
            link=call.asks["url"] if call.kind == "login" and call.asks else self._link("approvals", call.id),
        )

    def of_end(self, id_: str, event: str, stored: StoredExecution, tools: tuple[str, ...]) -> Notice:
        """Return the notice about an execution that ended with unknown calls of these tools."""
        return Notice(
            id_,
            event,
            self.project,
            stored.request.id,
            tools=tools[:_MOST_TOOLS],
            reason=f"the execution ended as {stored.status}; check what became of these calls",
            requester=stored.request.owner,
            role=stored.request.role,
            link=self._link("executions", stored.request.id),
        )

    def of_test(self, id_: str) -> Notice:
        """Return a test message."""
        reason = "somebody ran `codemode notify test`; nothing waits"
        return Notice(id_, "test", self.project, "", reason=reason, link=self.public_url)

    def _values(self, values: Mapping[str, Any]) -> Mapping[str, Any] | tuple[str, ...]:
        return {name: _shown(value) for name, value in values.items()} if self.show_arguments else tuple(values)

    def _link(self, page: str, id_: str) -> str:
        return f"{self.public_url.rstrip('/')}/console/{page}/{id_}" if self.public_url else ""


def _counted(tools: tuple[str, ...]) -> str:
    """Return the number of calls, and their tools with the most calls first."""
    if not tools:
        return ""
    counts = Counter(tools).most_common(_MOST_TOOLS)
    return f"{counted(len(tools), 'more call')}: {', '.join(f'{tool} ({count})' for tool, count in counts)}"


def _named(values: Mapping[str, Any] | tuple[str, ...]) -> str:
    if isinstance(values, tuple):
        return ", ".join(values)
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _shown(value: Any) -> Any:
    """Return a short value, and … for any other."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return marked(value) if isinstance(value, str) and len(value) <= _LONGEST else "…"
