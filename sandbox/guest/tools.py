"""Tools as programs see them: lazy namespaces, calls, errors, and answers that also read by attribute."""

from __future__ import annotations

import keyword
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.base.values import CALLED, ArgumentInvalid, encode_arguments, encode_data_arguments
from sandbox.guest.language.access import DATA
from sandbox.guest.language.kinds import SHOWN_AS
from sandbox.guest.scheduling.hub import Slot
from sandbox.guest.scheduling.identity import here
from sandbox.guest.scheduling.loop import NumberedFuture
from sandbox.protocol.guest_messages import NAME_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from sandbox.guest.base.channel import Channel
    from sandbox.guest.scheduling.hub import Hub
    from sandbox.guest.scheduling.loop import Loop

#: Repeats of one call, with equal arguments and no waiting between, after which a note is made.
SAME_CALL = 250


class Record(dict[str, Any]):
    """A dict that a tool returned. Its fields also read as attributes, see `attributes.METHODS_OF_DICT`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        message = f"the answer has no field {name!r}; it has {', '.join(map(str, self)) or 'none'}"
        raise AttributeError(message, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __missing__(self, key: Any) -> Any:
        raise KeyError(key)  # a hint finds the keys of this frame's `self`

    def __copy__(self) -> Record:
        return Record(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (dict, (dict(self),))


Record.__name__ = Record.__qualname__ = "dict"
Record.__module__ = "builtins"
SHOWN_AS[Record] = dict
DATA.add(Record)


class ToolError(Exception):
    """Raised if a call fails. `status` is the HTTP status or None, `kind` a short word, `body` the body of the answer.

    `retry_after_s` is the server's advice in seconds (also as `retry_after`, which programs guess).
    """

    def __init__(
        self,
        message: str = "",
        *,
        kind: str = "failed",
        status: int | None = None,
        body: Any = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.message = message
        self.kind = kind
        self.status = self.status_code = status
        self.body = body
        self.retry_after_s = self.retry_after = retry_after_s
        shows_status = status is not None and status >= 400 and str(status) not in message
        super().__init__(f"{status}: {message}" if shows_status else message)


class CallLimitExceeded(RuntimeError):
    """Raised if a program makes more calls than it may."""


CallLimitExceeded.__module__ = "builtins"


class ToolRejected(ToolError):
    """Raised if a person rejects a call. Nothing was sent."""

    @property
    def reason(self) -> str:
        """The reason that the person gave, or ""."""
        return str(self.body or "")


for _error in (ToolError, ToolRejected):
    _error.__module__ = "builtins"

#: Kinds of errors that have a class of their own.
_ERRORS: dict[str, type[ToolError]] = {"rejected": ToolRejected}


class Tool:
    """A namespace or an operation; only the host knows which. Attributes go deeper, calls are sent to the host."""

    __slots__ = ("_calls", "_path")

    def __init__(self, calls: ToolCalls, path: str) -> None:
        self._calls = calls
        self._path = path

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The host's description."""
        return self._calls.description(self._path)

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__"):
            return (self._path if name == "__qualname__" else self._path.rpartition(".")[2]) or "tools"
        if name.startswith("_"):
            message = f"{self._path} has no operation or group {name!r}"
            raise AttributeError(message, name=name)
        return Tool(self._calls, f"{self._path}.{name}" if self._path else name)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Make the call and return its answer."""
        return self._calls.call(self._path, args, kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tool) and other._path == self._path

    def __hash__(self) -> int:
        return hash(self._path)

    def __repr__(self) -> str:
        return f"<tool {self._path or 'tools'}>"

    def __str__(self) -> str:
        path = self._path or "tools"
        return f"<tool {path}: help({path}) says what it takes>"

    def __dir__(self) -> list[str]:
        self._calls.unlisted(self._path or "tools")
        return []

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: object) -> Tool:
        return self

    def __iter__(self) -> Any:
        message = f"{self._path} is a namespace or an operation, not data: call it, as in {self._path}(...)"
        raise TypeError(message)

    def __getitem__(self, key: object) -> Any:
        what = self._path or "tools"
        message = f"{what} was not called: write {what}(...)[{key!r}]"
        if isinstance(key, str) and "." not in self._path:
            name = re.sub(r"\W+", "_", key).strip("_") if self._path else key
            name = f"{name}_" if keyword.iskeyword(name) else name
            message = f"{what} is a namespace, not a dict: write {what}.{name}"
        raise TypeError(message)


CALLED.add(Tool)


def tool_path(tool: Tool) -> str:
    """Return the dotted name of a tool."""
    return tool._path


#: Attributes of an operation that read all pages of its list. Programs look for them in the answer.
_WALKS = frozenset(("items", "pages"))


class PendingCall:
    """A deferred call. It starts when it is awaited, or when asyncio takes it."""

    __slots__ = ("_calls", "_future", "_request", "_tool")

    def __init__(self, calls: ToolCalls, tool: str, request: bytes) -> None:
        self._calls = calls
        self._tool = tool
        self._request = request
        self._future: CallFuture | None = None

    def start(self) -> CallFuture:
        """Start the call, unless it was started before."""
        if self._future is None:
            self._future = self._calls.start(self._tool, self._request)
        return self._future

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.start().__await__()

    def __getattr__(self, name: str) -> Any:
        self._refuse(f".{name}", f", or await {self._tool}.{name}(...) for a whole list" if name in _WALKS else "")

    def __getitem__(self, key: object) -> Any:
        self._refuse(f"[{key!r}]")

    def __iter__(self) -> Any:
        self._refuse("")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<call of {self._tool}, not awaited yet>"

    def _refuse(self, step: str, besides: str = "") -> NoReturn:
        call = f"{self._tool}(...)"
        instead = f"(await {call}){step}" if step else f"await {call}"
        message = f"the result of {call} is used before it was awaited: write {instead}{besides}"
        raise TypeError(message)


class CallFuture(NumberedFuture):
    """The answer of a call that was started. Its cancellation is sent to the host."""

    _abandon: Callable[[], None] | None = None

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the call."""
        is_cancelled = super().cancel(msg)
        if is_cancelled and self._abandon is not None:
            self._abandon()
        return is_cancelled

    def _answer(self, value: Any, error: ToolError | None) -> None:
        """Take the answer, unless the call was cancelled."""
        self._abandon = None
        if self.done():
            return
        if error is None:
            self.set_result(value)
        else:
            self.set_exception(error)


class ToolCalls:
    """Sends the calls of one program."""

    def __init__(self, hub: Hub, loop: Loop, channel: Channel, note: Callable[[str], None]) -> None:
        self._hub = hub
        self._loop = loop
        self._channel = channel
        self._limit = 0
        self._parameters: Mapping[str, Sequence[str]] = {}
        self._note = note
        self._last: tuple[str, bytes] = ("", b"")
        self._repeats = 0
        self._made = 0
        self._asked_for_names = False

    @property
    def made(self) -> int:
        """The number of calls so far."""
        return self._made

    def begin(self, limit: int, parameters: Mapping[str, Sequence[str]]) -> None:
        """Set the limit of calls, and the parameters of tools where they are known."""
        self._limit, self._parameters = limit, parameters

    def call(self, tool: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call and block until its answer."""
        slot = Slot(f"{tool}(...)")
        call_id = self._send(tool, self._request(tool, args, kwargs), partial(self._hub.finish, slot))
        slot.abandon = lambda: self._channel.cancel(call_id)
        return self._hub.wait(slot)

    def description(self, path: str) -> str | None:
        """Return the host's description of a tool or a namespace, or None if it describes nothing."""
        return self.call("describe", (path,), {}) if "describe" in self._parameters else None

    def later(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function, or defer the call if it is a tool."""
        if type(function) is not Tool:
            return function(*args, **kwargs)
        return PendingCall(self, function._path, self._request(function._path, args, kwargs))

    def start(self, tool: str, request: bytes) -> CallFuture:
        """Start a call and return the future of its answer."""
        future = CallFuture(loop=self._loop)
        call_id = self._send(tool, request, future._answer)
        future._abandon = lambda: self._channel.cancel(call_id)
        return future

    def _request(self, tool: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        if args:
            named = self._named(tool, args)
            if named.keys() & kwargs.keys():
                message = f"{tool}() got multiple values for {', '.join(sorted(named.keys() & kwargs.keys()))}"
                raise TypeError(message)
            kwargs = {**named, **kwargs}
        encoded = encode_data_arguments if tool in self._parameters else encode_arguments
        try:
            return IDENTITIES.steady_json(encoded(kwargs))
        except ArgumentInvalid as error:
            message = f"{tool}(): {error}"
            raise TypeError(message) from None

    def _named(self, tool: str, args: tuple[Any, ...]) -> dict[str, Any]:
        """Name positional arguments, if the host sent the names. `*names` takes all of them as a list."""
        names = self._parameters.get(tool, ())
        if names and names[0].startswith("*"):
            return {names[0][1:]: list(args)}
        if len(args) <= len(names):
            return dict(zip(names, args, strict=False))
        if names:
            message = f"{tool}({', '.join(names)}) takes {len(names)} positional arguments, {len(args)} given"
            raise TypeError(message)
        given = ", ".join(repr(value)[:40] for value in args)
        message = f"{tool}() takes keyword arguments only: name each of them ({given} has no name)"
        raise TypeError(message)

    def _send(self, tool: str, request: bytes, answer: Callable[[Any, ToolError | None], None]) -> int:
        self._hub.check_calm()
        if len(tool) > NAME_CHARACTERS:
            message = f"there is no tool {tool[:40]}…"
            raise ToolError(message, kind="tool_not_found")
        self._count(tool, request)

        def take(message: dict[str, Any]) -> None:
            error = message.get("error")
            answer(message.get("ok"), None if error is None else tool_error(error))

        return self._channel.call(here().next(), tool, request, take)

    def _count(self, tool: str, request: bytes) -> None:
        self._made += 1
        is_same = (tool, request) == self._last
        self._repeats = self._repeats + 1 if is_same else 1
        self._last = (tool, request)
        if self._made > self._limit:
            message = f"the program made {self._limit:,} calls, more are not allowed in one execution; {self._habit()}"
            raise CallLimitExceeded(message)
        if self._repeats == SAME_CALL:
            self._note(self._habit())

    def _habit(self) -> str:
        tool, request = self._last
        if self._repeats < SAME_CALL:
            return f"the last was {tool}()"
        arguments = request.decode()[:200]
        return (
            f"the last {self._repeats:,} in a row were {tool}() with {arguments}: "
            "change an argument inside the loop, or leave the loop"
        )

    def unlisted(self, path: str) -> None:
        """Note, once, why `dir()` of a namespace is empty."""
        if not self._asked_for_names:
            self._asked_for_names = True
            self._note(f"dir({path}) is empty: only the host knows what {path} has; search for operations by name")

    def waited(self) -> None:
        """Count repeats anew after a sleep: the answer may have changed."""
        self._repeats = 0


def tool_error(fields: dict[str, Any]) -> ToolError:
    """Return the exception of a failed call, from the fields that the host sent."""
    options = {name: fields[name] for name in ("kind", "status", "body", "retry_after_s")}
    return _ERRORS.get(fields["kind"], ToolError)(fields["message"], **options)
