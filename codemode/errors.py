"""Errors outside the sandbox, grouped by who can fix them.

    CodeModeError
    ├─ ConfigurationError    a mistake in the operator's file, key or environment
    │  ├─ EnvironmentIncomplete  a secret, package or profile is missing on this machine
    │  └─ ConfigurationUntrusted  found in a folder, and not trusted by anybody (codemode.settings)
    ├─ SourceError           an API surface that cannot be read
    ├─ ToolNotFound          the name is not in the caller's catalog
    │  └─ SourceUnavailable  the namespace is known, but its source could not be read yet
    ├─ SearchInvalid         for example an unknown filter value or a negative page
    ├─ WrongArgument         a method of the Python API received a value of the wrong type
    ├─ ExecutionError        a request about a recorded execution
    │  ├─ ExecutionNotFound
    │  ├─ ExecutionEnded     it has ended
    │  ├─ LeaseHeld          another server runs it
    │  ├─ LeaseLost          another server has taken it over
    │  ├─ RequestRepeated    this idempotency key was used for the same request
    │  ├─ RequestConflict    this idempotency key was used for a different request
    │  ├─ ApprovalRefused    no such approval, a second answer, or different arguments
    │  ├─ ExecutionWaiting   it waits for people, or for its caller's credentials
    │  ├─ ExecutionChanged   something it depends on has changed; nothing was run
    │  ├─ ExecutionFailed    a program did not complete (`raise_for_status`)
    │  ├─ NondeterminismError  the program differed from its record
    │  ├─ JournalDamaged     a journal entry is invalid
    │  ├─ JournalFull        its space limit is reached; nothing was run
    │  └─ JournalUnavailable it cannot be read or written; nothing was sent
    └─ CallError             one call of a tool
       ├─ ArgumentsInvalid
       ├─ AccessDenied
       │  └─ ReadOnly        the key or the server may only read
       ├─ CredentialsRevoked     the key was revoked or expired while the program ran
       ├─ CallerUnknown      the key cannot be checked now
       ├─ ApprovalRequired   a person must approve the call first
       ├─ AddressNotAllowed  the operator has not allowed the call's address
       ├─ CredentialsMissing the operator, the caller or a login must provide them
       ├─ UpstreamError      the service returned an error
       │  └─ AnswerInvalid   the answer is too large, or not what was declared
       ├─ UpstreamTimeout
       └─ UpstreamUnreachable

Each error has a stable `code`, which HTTP, the command line and the model see, and a message that says what to do next.
Messages hold no secrets. `for_model()` returns the message for the sandbox, without paths and hosts.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

#: URLs, absolute paths, hosts with a port, and IP addresses: hidden from the model.
_PLACES = re.compile(r"\b\w+://\S+|(?<![\w.])~?/[\w./~-]+|(?<![\w.-])[\w.-]++:\d{2,5}\b|\b\d+(?:\.\d+){3}\b")


class CodeModeError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "error"

    def for_model(self) -> str:
        """Return the message that a program may see."""
        return str(self)


class ConfigurationError(CodeModeError):
    """The configuration is invalid; the message names the file, the key and the expected value."""

    code = "configuration_invalid"


class EnvironmentIncomplete(ConfigurationError):
    """A secret, package or profile that the configuration needs is missing on this machine."""


class SourceError(CodeModeError):
    """An API surface cannot be read. `location` is its file or URL, `pointer` the place in it.

    `told` is the message for the model; by default the message without hosts and paths.
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
        """Return the same error with another location."""
        return SourceError(self.message, location=location, pointer=self.pointer, told=self.told)


class ToolNotFound(CodeModeError):
    """No tool has that name; `nearest` holds the closest ids."""

    code = "tool_not_found"

    def __init__(self, name: str, nearest: tuple[str, ...] = ()) -> None:
        self.name = name
        self.nearest = nearest
        hint = f"; nearest: {', '.join(nearest)}" if nearest else "; search for it first"
        super().__init__(f"there is no tool {name!r}{hint}")


class SourceUnavailable(ToolNotFound):
    """The source behind that namespace could not be read; the message says why."""

    code = "source_unavailable"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self.args = (f"{name.partition('.')[0]} is unavailable: {reason}; it is retried automatically, so try later",)


class SearchInvalid(CodeModeError):
    """A search request is invalid; `nearest` holds valid values. `filter` is the filter whose value no tool has."""

    code = "search_invalid"

    def __init__(self, message: str, nearest: tuple[str, ...] = (), filter: str = "") -> None:  # noqa: A002
        self.nearest = nearest
        self.filter = filter
        super().__init__(message)


class WrongArgument(CodeModeError, TypeError):
    """A method received a value of the wrong type; nothing was done."""

    code = "wrong_argument"

    @classmethod
    def unless(cls, value: object, kind: type, name: str, hint: str = "") -> None:
        """Raise unless the value of the argument `name` is of this class. `hint` says what to pass instead."""
        if not isinstance(value, kind):
            message = f"{name} must be {kind.__name__}, not {type(value).__name__}"
            raise cls(f"{message}: {hint}" if hint else message)


class ExecutionError(CodeModeError):
    """A request about an execution was rejected; `execution` is its id."""

    code = "execution_error"

    def __init__(self, message: str, *, execution: str = "") -> None:
        self.execution = execution
        super().__init__(message)


class ExecutionNotFound(ExecutionError):
    """No execution has that id, it was removed, or it belongs to someone else; the message does not say which."""

    code = "execution_not_found"

    def __init__(self, execution: str) -> None:
        message = f"there is no execution {execution[:80]!r}; it never existed, or retention removed it"
        super().__init__(message, execution=execution)


class ResultNotFound(ExecutionNotFound):
    """No result of the caller has that handle, or it is no longer kept."""

    code = "result_not_found"

    def __init__(self, handle: str) -> None:
        message = f"there is no result {handle[:80]!r}; it never existed, or is no longer kept: run its program again"
        ExecutionError.__init__(self, message)


class ExecutionEnded(ExecutionError):
    """The execution has ended; the message says how."""

    code = "execution_ended"


class LeaseHeld(ExecutionError):
    """Another server runs the execution."""

    code = "execution_held"


class LeaseLost(ExecutionError):
    """Another server has taken over the execution; nothing was recorded."""

    code = "execution_lost"


class TooSlow(ExecutionError):
    """A client reads events more slowly than they arrive. It can ask again from the last one."""

    code = "events_too_slow"

    def __init__(self, execution: str, after: int) -> None:
        message = f"events arrived faster than they were read; ask again with Last-Event-ID: {after}"
        super().__init__(message, execution=execution)


class RequestRepeated(ExecutionError):
    """The caller has made this request before; `execution` is the id of its execution."""

    code = "request_repeated"


class ProgramWaiting(RequestRepeated):
    """The same program of the caller waits for a person; `execution` is the id of its execution. Nothing was run."""

    code = "program_waiting"


class RequestForgotten(ExecutionError):
    """The caller has made this request before, and retention has removed its execution. Nothing was run."""

    code = "request_forgotten"


class RequestConflict(ExecutionError):
    """The caller has used this idempotency key for a different request, whose execution is `execution`."""

    code = "request_conflict"


class ApprovalRefused(ExecutionError):
    """A decision was rejected; none of the decisions of the request was recorded."""

    code = "approval_refused"


class ApprovalForbidden(ApprovalRefused):
    """The caller may not decide: wrong role, or the same key started the execution. Nothing was recorded."""

    code = "approval_forbidden"


class ExecutionWaiting(ExecutionError):
    """The execution still waits for people or for its caller's credentials; the message says for which."""

    code = "execution_waiting"


class ExecutionChanged(ExecutionError):
    """Something the execution depends on has changed; nothing was run. `changes` names each change."""

    code = "execution_changed"

    def __init__(self, message: str, *, execution: str = "", changes: tuple[str, ...] = ()) -> None:
        self.changes = changes
        super().__init__(message, execution=execution)


class ExecutionFailed(ExecutionError):
    """A program did not complete: raised by `ExecutionOutcome.raise_for_status`. `outcome` is its outcome."""

    code = "execution_failed"

    def __init__(self, message: str, *, execution: str = "", outcome: Any = None) -> None:
        self.outcome = outcome
        super().__init__(message, execution=execution)


class NondeterminismError(ExecutionError):
    """The program differed from its record; the message shows the first difference."""

    code = "nondeterminism"


class JournalDamaged(ExecutionError):
    """The journal holds an invalid entry of this execution; the message says which."""

    code = "journal_damaged"


class JournalFull(ExecutionError):
    """The journal's space limit is reached, and it may remove nothing more; nothing was run.

    The message says which limit was reached, whose, and what to do.
    """

    code = "journal_full"


class JournalUnavailable(ExecutionError):
    """The journal cannot be read or written: disk full, locked, or server unreachable. Nothing was recorded.

    `str()` says where and why, `for_model()` does not.
    """

    code = "journal_unavailable"

    def for_model(self) -> str:
        """Return the message without the location."""
        return "this execution cannot be recorded now; nothing was sent, try again later"


class CallError(CodeModeError):
    """A tool call failed."""

    code = "call_failed"


class ArgumentsInvalid(CallError):
    """The arguments do not match the tool's schema; nothing was sent. `parameter` is the first invalid one."""

    code = "arguments_invalid"

    def __init__(self, tool: str, message: str, *, parameter: str = "", valid: tuple[str, ...] = ()) -> None:
        self.tool = tool
        self.parameter = parameter
        self.valid = valid
        super().__init__(f"{tool}: {message}")


class AccessDenied(CallError):
    """The policy denies the call; nothing was sent. `rule` is the deciding rule."""

    code = "access_denied"

    def __init__(self, tool: str, rule: str, reason: str = "") -> None:
        self.tool = tool
        self.rule = rule
        why = f": {reason}" if reason else ""
        super().__init__(f"{tool} is not allowed with these arguments by {rule}{why}; nothing was sent")


class ReadOnly(AccessDenied):
    """The call would change something, and its key or server may only read; nothing was sent."""

    def __init__(self, tool: str, rule: str) -> None:
        self.tool = tool
        self.rule = rule
        how = "use a key without read_only, or pass dry_run to list the writes of the program"
        CallError.__init__(
            self, f"{tool} is not a read, and only reads are allowed here ({rule}); nothing was sent: {how}"
        )


class OutsideHeader(AccessDenied):
    """A saved program calls a tool that its header does not allow; nothing was sent."""

    code = "outside_header"

    def __init__(self, tool: str, rule: str, reason: str) -> None:
        self.tool = tool
        self.rule = rule
        CallError.__init__(self, f"{tool} cannot be called here: {reason}; nothing was sent")


class CredentialsRevoked(CallError):
    """The caller's key or token is no longer valid; nothing was sent."""

    code = "credentials_revoked"

    def __init__(self, tool: str = "") -> None:
        if not tool:
            super().__init__("the key or token was revoked or has expired")
            return
        message = f"{tool} was not called: the key that started this program was revoked or expired while it ran"
        super().__init__(f"{message}; nothing was sent")


class CallerUnknown(CallError):
    """The caller's key cannot be checked now, because the database of keys does not answer; nothing was sent."""

    code = "caller_unknown"

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"{tool} was not called: the key that started this program cannot be checked now; nothing was sent,"
            " try again later"
        )


class ApprovalRequired(CallError):
    """The policy requires a person's approval; nothing was sent. `rule` is the deciding rule."""

    code = "approval_required"

    def __init__(self, tool: str, rule: str, reason: str = "") -> None:
        self.tool = tool
        self.rule = rule
        why = f": {reason}" if reason else ""
        super().__init__(f"{tool} needs a person's approval by {rule}{why}; nothing was sent")


class UpstreamError(CallError):
    """The service returned an error.

    `status` is the HTTP status, `body` the decoded answer (JSON or text), `retry_after_s` the advised delay in seconds.
    """

    code = "upstream_error"

    def __init__(
        self, message: str, *, status: int | None = None, body: Any = None, retry_after_s: float | None = None
    ) -> None:
        self.status = status
        self.body = body
        self.retry_after_s = retry_after_s
        # A lone surrogate could not be encoded in our own answers.
        super().__init__(message.encode("utf-8", "replace").decode())


class AnswerInvalid(UpstreamError):
    """The service reported success, but the content is unusable: too large, truncated, or not JSON."""

    code = "upstream_answer_invalid"


class EndUnknown(UpstreamError):
    """The last attempt at a write failed; an earlier attempt may have succeeded."""


class AddressNotAllowed(CallError):
    """The operator has not allowed the call's address; nothing was sent. `str()` says what to configure."""

    code = "address_not_allowed"

    def for_model(self) -> str:
        """Return the message without the address."""
        return "the operator has not configured this tool's address; nothing was sent, and retrying will not help"


class CredentialsMissing(CallError):
    """Credentials that the service requires are missing; nothing was sent. `str()` says how to provide them.

    `hint` is the message for the model.
    """

    code = "credentials_missing"

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)

    def for_model(self) -> str:
        """Return the message without configuration details."""
        return f"{self.hint}; nothing was sent, and retrying will not help"


class UpstreamTimeout(CallError):
    """The service did not answer in time; it may have done the work."""

    code = "upstream_timeout"


class UpstreamUnreachable(CallError):
    """The service cannot be reached; nothing was sent. `str()` names the address, `for_model()` does not."""

    code = "upstream_unreachable"

    def __init__(self, message: str, *, source: str = "") -> None:
        self.source = source
        super().__init__(message)

    def for_model(self) -> str:
        """Return the message without the address."""
        return f"the service behind {self.source or 'this tool'} cannot be reached; nothing was sent, try again later"


def _shown(location: str) -> str:
    """Return a file path as is; a URL without its password and query values, which may be keys."""
    if "://" not in location:
        return location
    address, mark, query = location.partition("?")
    named = "&".join(f"{part.partition('=')[0]}=…" for part in query.split("&"))
    return re.sub(r"://[^/]*@", "://…@", address) + (mark and f"?{named}")
