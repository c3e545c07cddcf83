"""What can go wrong outside the sandbox, by whose fault it is.

    CodeModeError
    ├─ ConfigurationError    the operator's file, key or environment
    │  └─ EnvironmentIncomplete  a secret, package or profile that the configuration relies on is not here
    ├─ SourceError           an API surface that cannot be read
    ├─ ToolNotFound          a name that is in no catalog of the caller's view
    │  └─ SourceUnavailable  its namespace is known, its tools are not: the source could not be read yet
    ├─ SearchInvalid         a filter by what no tool has, a negative page
    ├─ WrongArgument         a method of the Python API was given a value of a wrong type
    ├─ ExecutionError        an execution as the journal has it
    │  ├─ ExecutionNotFound
    │  ├─ ExecutionEnded     there is nothing more to do for it
    │  ├─ LeaseHeld          another server has it
    │  ├─ LeaseLost          another server has taken it over: nothing more may be done for it here
    │  ├─ RequestRepeated    a request with this idempotency key has made an execution already
    │  ├─ RequestConflict    it was another request
    │  ├─ ApprovalRefused    an answer to no question, a second one, or one to other arguments
    │  ├─ ExecutionWaiting   it cannot go on yet: people have to decide, or its caller to bring credentials
    │  ├─ ExecutionChanged   what it has used is not what it was: nothing was run
    │  ├─ NondeterminismError  its program did something else than was recorded
    │  ├─ JournalDamaged     an entry of the journal makes no sense
    │  ├─ JournalFull        what it may not remove takes all the space that it may take: nothing was run
    │  └─ JournalUnavailable nothing can be recorded now, so that nothing may be done
    └─ CallError             one call of a tool
       ├─ ArgumentsInvalid
       ├─ AccessDenied
       ├─ CallerNotLetIn     its key was revoked or has expired while the program ran
       ├─ ApprovalRequired   a person has to allow the call first
       ├─ AddressNotAllowed  the operator has not allowed where the call would go
       ├─ CredentialsMissing nobody has given what the service asks for: the operator, the caller, or a login
       ├─ UpstreamError      the other side answered, and said no
       │  └─ AnswerInvalid   it said yes, but its answer cannot be used: too large, or not what was declared
       ├─ UpstreamTimeout
       └─ UpstreamUnreachable

Each has a stable `code`, which HTTP, the command line and the model see, and a message that says what to do next. No
message holds a secret. `for_model()` is what may be shown inside the sandbox: no paths, no hosts.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

#: URLs, absolute paths, and hosts with a port or as numbers: what a model is not told of a failure.
_PLACES = re.compile(r"\b\w+://\S+|(?<![\w.])~?/[\w./~-]+|\b[\w.-]+:\d{2,5}\b|\b\d+(?:\.\d+){3}\b")


class CodeModeError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "error"

    def for_model(self) -> str:
        """The message as a program may see it."""
        return str(self)


class ConfigurationError(CodeModeError):
    """The configuration is wrong; the message names the file, the key and what was expected."""

    code = "configuration_invalid"


class EnvironmentIncomplete(ConfigurationError):
    """Something that the configuration relies on is not on this machine: a secret, a package, a profile."""


class SourceError(CodeModeError):
    """A document or another API surface cannot be read; `location` is its file or URL, `pointer` the place in it.

    `told` is what a model may be told of it, where the message names hosts.
    """

    code = "source_invalid"

    def __init__(self, message: str, *, location: str = "", pointer: str = "", told: str = "") -> None:
        self.message = message
        self.location = location
        self.pointer = pointer
        self.told = told or _PLACES.sub("…", message)
        where = " ".join(part for part in (_shown(location), pointer) if part)
        super().__init__(f"{where}: {message}" if where else message)

    def at(self, location: str) -> SourceError:
        """The same error, of what the reader calls `location`."""
        return SourceError(self.message, location=location, pointer=self.pointer, told=self.told)


class ToolNotFound(CodeModeError):
    """No tool has that name; `nearest` are the ids that come closest."""

    code = "tool_not_found"

    def __init__(self, name: str, nearest: tuple[str, ...] = ()) -> None:
        self.name = name
        self.nearest = nearest
        hint = f"; nearest: {', '.join(nearest)}" if nearest else "; search for it first"
        super().__init__(f"there is no tool {name!r}{hint}")


class SourceUnavailable(ToolNotFound):
    """The tools of that namespace are not known at present; the message says why."""

    code = "source_unavailable"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self.args = (f"{name.partition('.')[0]} is unavailable: {reason}; it is tried again, so try later",)


class SearchInvalid(CodeModeError):
    """A search that cannot be made as it was asked for; `nearest` are valid values for what was not valid."""

    code = "search_invalid"

    def __init__(self, message: str, nearest: tuple[str, ...] = ()) -> None:
        self.nearest = nearest
        super().__init__(message)


class WrongArgument(CodeModeError, TypeError):
    """A method was given what it does not take; nothing was done."""

    code = "wrong_argument"


class ExecutionError(CodeModeError):
    """What was asked for an execution cannot be; `execution` is its id."""

    code = "execution_error"

    def __init__(self, message: str, *, execution: str = "") -> None:
        self.execution = execution
        super().__init__(message)


class ExecutionNotFound(ExecutionError):
    """No execution has that id, or none any more, or it is another's: which of these is not said."""

    code = "execution_not_found"

    def __init__(self, execution: str) -> None:
        message = f"there is no execution {execution[:80]!r}: it was never here, or retention has removed it"
        super().__init__(message, execution=execution)


class ExecutionEnded(ExecutionError):
    """The execution has come to an end; the message says to which."""

    code = "execution_ended"


class LeaseHeld(ExecutionError):
    """Another server works on the execution."""

    code = "execution_held"


class LeaseLost(ExecutionError):
    """Another server has taken the execution over; nothing was recorded."""

    code = "execution_lost"


class TooSlow(ExecutionError):
    """Who follows an execution reads its events more slowly than they come, and asks again from the last one on."""

    code = "events_too_slow"

    def __init__(self, execution: str, after: int) -> None:
        message = f"events came faster than they were read; ask again for those after {after} (Last-Event-ID)"
        super().__init__(message, execution=execution)


class RequestRepeated(ExecutionError):
    """The caller has made this request before: `execution` is what came of it."""

    code = "request_repeated"


class RequestConflict(ExecutionError):
    """The caller has used this idempotency key for another request, which made `execution`."""

    code = "request_conflict"


class ApprovalRefused(ExecutionError):
    """An answer that cannot be taken; nothing was recorded, also not of other answers given with it."""

    code = "approval_refused"


class ApprovalForbidden(ApprovalRefused):
    """Who answers may not: the role is no approver's, or the execution is of the same key. Nothing was recorded."""

    code = "approval_forbidden"


class ExecutionWaiting(ExecutionError):
    """The execution cannot go on yet: it waits for people, or for credentials of its caller; the message says which."""

    code = "execution_waiting"


class ExecutionChanged(ExecutionError):
    """What the execution has used is not what it was; nothing was run. `changes` name each of them."""

    code = "execution_changed"

    def __init__(self, message: str, *, execution: str = "", changes: tuple[str, ...] = ()) -> None:
        self.changes = changes
        super().__init__(message, execution=execution)


class NondeterminismError(ExecutionError):
    """The program did something else than what was recorded of it; the message has the first difference."""

    code = "nondeterminism"


class JournalDamaged(ExecutionError):
    """The journal has something of the execution that makes no sense; the message says which entry."""

    code = "journal_damaged"


class JournalFull(ExecutionError):
    """What the journal may not remove takes all the space that it may take; nothing was run.

    The message says which bound was reached, whose, and what to do.
    """

    code = "journal_full"


class JournalUnavailable(ExecutionError):
    """The journal cannot be written or read: the disk is full, it is locked, its server is away. Nothing was recorded.

    `str()` says where and why, `for_model()` does not.
    """

    code = "journal_unavailable"

    def for_model(self) -> str:
        """The message without the place."""
        return "what this execution does cannot be recorded now; nothing was sent, try again later"


class CallError(CodeModeError):
    """One call of a tool did not succeed."""

    code = "call_failed"


class ArgumentsInvalid(CallError):
    """Arguments do not fit the tool's schema; nothing was sent. `parameter` is the first one that is wrong."""

    code = "arguments_invalid"

    def __init__(self, tool: str, message: str, *, parameter: str = "", valid: tuple[str, ...] = ()) -> None:
        self.tool = tool
        self.parameter = parameter
        self.valid = valid
        super().__init__(f"{tool}: {message}")


class AccessDenied(CallError):
    """The policy does not allow the call; nothing was sent. `rule` is what decided."""

    code = "access_denied"

    def __init__(self, tool: str, rule: str, reason: str = "") -> None:
        self.tool = tool
        self.rule = rule
        why = f": {reason}" if reason else ""
        super().__init__(f"{tool} is not allowed with these arguments by {rule}{why}; nothing was sent")


class CallerNotLetIn(CallError):
    """Who started the program, or waits for its end, would not be let in any more; no `tool` was sent anything."""

    code = "caller_not_let_in"

    def __init__(self, tool: str = "") -> None:
        if not tool:
            super().__init__("the key, or token, was revoked or has expired: nothing more is told")
            return
        message = f"{tool} is not called: the key that started this program was revoked, or has expired, while it ran"
        super().__init__(f"{message}; nothing was sent")


class ApprovalRequired(CallError):
    """The policy asks for a person's approval; nothing was sent. `rule` is what decided."""

    code = "approval_required"

    def __init__(self, tool: str, rule: str, reason: str = "") -> None:
        self.tool = tool
        self.rule = rule
        why = f": {reason}" if reason else ""
        super().__init__(f"{tool} needs a person's approval by {rule}{why}; nothing was sent")


class UpstreamError(CallError):
    """The other side answered with an error status.

    `status` is the HTTP status, `body` the decoded answer (JSON or text), `retry_after_s` its advice in seconds.
    """

    code = "upstream_error"

    def __init__(
        self, message: str, *, status: int | None = None, body: Any = None, retry_after_s: float | None = None
    ) -> None:
        self.status = status
        self.body = body
        self.retry_after_s = retry_after_s
        super().__init__(message.encode("utf-8", "replace").decode())  # halves of surrogate pairs fit no answer of ours


class AnswerInvalid(UpstreamError):
    """The other side answered with a success whose content cannot be used: too large, cut off, not JSON."""

    code = "upstream_answer_invalid"


class EndUnknown(UpstreamError):
    """The last attempt at a write was answered with an error; whether an earlier one did the work is unknown."""


class AddressNotAllowed(CallError):
    """The operator has not allowed where the call would go; nothing was sent. `str()` says what to write."""

    code = "address_not_allowed"

    def for_model(self) -> str:
        """The message without the address."""
        return (
            "the operator has not configured where this tool is reached; nothing was sent, and trying again is no use"
        )


class CredentialsMissing(CallError):
    """What the service asks for is not there; nothing was sent. `str()` says what to write, bring or run.

    `hint` is what a model may be told of it.
    """

    code = "credentials_missing"

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)

    def for_model(self) -> str:
        """The message without the lines of the configuration."""
        return f"{self.hint}; nothing was sent, and trying again is no use"


class UpstreamTimeout(CallError):
    """The other side did not answer in time; whether it did the work is unknown."""

    code = "upstream_timeout"


class UpstreamUnreachable(CallError):
    """No connection; nothing was sent. `str()` names the address for the operator, `for_model()` does not."""

    code = "upstream_unreachable"

    def __init__(self, message: str, *, source: str = "") -> None:
        self.source = source
        super().__init__(message)

    def for_model(self) -> str:
        """The message without the address."""
        return f"the service behind {self.source or 'this tool'} cannot be reached; nothing was sent, try again later"


def _shown(location: str) -> str:
    """A file as it is; a URL without the password and the values of a query, which may be keys."""
    if "://" not in location:
        return location
    address, mark, query = location.partition("?")
    named = "&".join(f"{part.partition('=')[0]}=…" for part in query.split("&"))
    return re.sub(r"://[^/]*@", "://…@", address) + (mark and f"?{named}")
