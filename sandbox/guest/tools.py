"""What a program sees of tools: namespaces that bind lazily, calls, errors, and answers that also read by attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import DATA
from sandbox.guest.language.kinds import SHOWN_AS
from sandbox.guest.process.identities import IDENTITIES
from sandbox.guest.process.values import CALLED, ArgumentInvalid, encode_arguments
from sandbox.guest.scheduling.hub import Slot
from sandbox.guest.scheduling.identity import here
from sandbox.guest.scheduling.loop import NumberedFuture
from sandbox.protocol.guest_messages import NAME_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from sandbox.guest.process.channel import Channel
    from sandbox.guest.scheduling.hub import Hub
    from sandbox.guest.scheduling.loop import Loop

#: The same call, with the same arguments, so many times in a row and no waiting between: worth a remark.
SAME_CALL = 250


class Record(dict[str, Any]):
    """A dict that a tool returned. Its fields also read as attributes; the methods of dict win."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            pass
        message = f"the answer has no field {name!r}; it has {', '.join(map(str, self)) or 'none'}"
        raise AttributeError(message, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __missing__(self, key: Any) -> Any:
        raise KeyError(key)  # from here, where a hint finds the keys there are

    def __copy__(self) -> Record:
        return Record(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (dict, (dict(self),))


Record.__name__ = Record.__qualname__ = "dict"
Record.__module__ = "builtins"
SHOWN_AS[Record] = dict
DATA.add(Record)


class ToolError(Exception):
    """A call failed. `status` is the HTTP status where there was one, `kind` a short word, `body` what came with it.

    `retry_after_s` is the advice of the other side in seconds (also as `retry_after`, which programs guess).
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


class ToolRejected(ToolError):
    """A person was asked whether the call may be made, and said no: nothing was sent. `reason` is what they said."""

    @property
    def reason(self) -> str:
        """The words of the person, "" where there were none."""
        return str(self.body or "")


for _error in (ToolError, ToolRejected):
    _error.__module__ = "builtins"

#: The kinds of errors that have a class of their own.
_ERRORS: dict[str, type[ToolError]] = {"rejected": ToolRejected}


class Tool:
    """A namespace, or an operation in one: which it is, the host knows. Attributes go deeper, a call calls."""

    __slots__ = ("_calls", "_path")

    def __init__(self, calls: ToolCalls, path: str) -> None:
        self._calls = calls
        self._path = path

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The description, which the host gives when it is asked."""
        return self._calls.description(self._path)

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__"):
            return (self._path if name == "__qualname__" else self._path.rpartition(".")[2]) or "tools"
        if name.startswith("_"):
            message = f"{self._path} has no operation or group {name!r}"
            raise AttributeError(message, name=name)
        return Tool(self._calls, f"{self._path}.{name}" if self._path else name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make the call."""
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
        if not self._path or (isinstance(key, str) and key.isidentifier() and "." not in self._path):
            message = f"{what} is a namespace, not a dict: write {what}.{key}"
        raise TypeError(message)


CALLED.add(Tool)


def tool_path(tool: Tool) -> str:
    """Return the dotted name of a tool."""
    return tool._path


class PendingCall:
    """A call that is handed over un-run; it starts when it is awaited, or when asyncio takes it."""

    __slots__ = ("_calls", "_future", "_request", "_tool")

    def __init__(self, calls: ToolCalls, tool: str, request: bytes) -> None:
        self._calls = calls
        self._tool = tool
        self._request = request
        self._future: CallFuture | None = None

    def start(self) -> CallFuture:
        """Make the call, once."""
        if self._future is None:
            self._future = self._calls.start(self._tool, self._request)
        return self._future

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.start().__await__()

    def __getattr__(self, name: str) -> Any:
        step = f".{name}"
        raise self._unused(step)

    def __getitem__(self, key: object) -> Any:
        step = f"[{key!r}]"
        raise self._unused(step)

    def __iter__(self) -> Any:
        raise self._unused("")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<call of {self._tool}, not awaited yet>"

    def _unused(self, step: str) -> TypeError:
        call = f"{self._tool}(...)"
        instead = f"(await {call}){step}" if step else f"await {call}"
        return TypeError(f"the result of {call} is used before it was awaited: write {instead}")


class CallFuture(NumberedFuture):
    """The answer of a call that was started. Cancelling it tells the host."""

    def __init__(self, *, loop: Loop) -> None:
        super().__init__(loop=loop)
        self._abandon: Callable[[], None] | None = None

    def cancel(self, msg: Any | None = None) -> bool:
        """Give up on the call."""
        if not super().cancel(msg):
            return False
        if self._abandon is not None:
            self._abandon()
        return True


class ToolCalls:
    """Makes the calls of one program."""

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

    def begin(self, limit: int, parameters: Mapping[str, Sequence[str]]) -> None:
        """Take the number of calls that a program may make, and what tools take where that is known."""
        self._limit, self._parameters = limit, parameters

    def call(self, tool: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call and block for its answer."""
        request = self._request(tool, args, kwargs)
        slot = Slot(f"{tool}(...)")
        call_id = self._send(tool, request, lambda message: self._finish_slot(slot, message))
        slot.abandon = lambda: self._channel.cancel(call_id)
        return self._hub.wait(slot)

    def description(self, path: str) -> str | None:
        """Ask the host what there is to know of a tool or a namespace; None where it answers no such question."""
        return self.call("describe", (path,), {}) if "describe" in self._parameters else None

    def later(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function; a tool is handed over un-run."""
        if type(function) is not Tool:
            return function(*args, **kwargs)
        return PendingCall(self, function._path, self._request(function._path, args, kwargs))

    def start(self, tool: str, request: bytes) -> CallFuture:
        """Start a call and return the future of its answer."""
        future = CallFuture(loop=self._loop)
        call_id = self._send(tool, request, lambda message: _finish_future(future, message))
        future._abandon = lambda: self._channel.cancel(call_id)
        return future

    def _request(self, tool: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        if args:
            named = self._named(tool, args)
            if named.keys() & kwargs.keys():
                message = f"{tool}() got multiple values for {', '.join(sorted(named.keys() & kwargs.keys()))}"
                raise TypeError(message)
            kwargs = {**named, **kwargs}
        try:
            return IDENTITIES.steady_json(encode_arguments(kwargs))
        except ArgumentInvalid as error:
            message = f"{tool}(): {error}"
            raise TypeError(message) from None

    def _named(self, tool: str, args: tuple[Any, ...]) -> dict[str, Any]:
        """Give positional arguments their names, where the host said how they are called."""
        names = self._parameters.get(tool, ())
        if len(args) <= len(names):
            return dict(zip(names, args, strict=False))
        if names:
            message = f"{tool}({', '.join(names)}) takes {len(names)} positional arguments, {len(args)} given"
            raise TypeError(message)
        given = ", ".join(repr(value)[:40] for value in args)
        message = f"{tool}() takes keyword arguments only: name each of them ({given} has no name)"
        raise TypeError(message)

    def _send(self, tool: str, request: bytes, answer: Callable[[dict[str, Any]], None]) -> int:
        self._hub.check_calm()
        if len(tool) > NAME_CHARACTERS:
            message = f"there is no tool {tool[:40]}…"
            raise ToolError(message, kind="tool_not_found")
        self._count(tool, request)
        return self._channel.call(here().next(), tool, request, answer)

    def _count(self, tool: str, request: bytes) -> None:
        self._made += 1
        is_same = (tool, request) == self._last
        self._repeats = self._repeats + 1 if is_same else 1
        self._last = (tool, request)
        if self._made > self._limit:
            message = f"the program made {self._limit:,} calls, more are not allowed in one execution; {self._habit()}"
            raise RuntimeError(message)
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
        """Say, once, why a program that looks for names in a namespace sees none."""
        if not self._asked_for_names:
            self._asked_for_names = True
            self._note(f"dir({path}) is empty: only the host knows what {path} has; search for operations by name")

    def waited(self) -> None:
        """The program slept: what it asks again may have changed."""
        self._repeats = 0

    def _finish_slot(self, slot: Slot, message: dict[str, Any]) -> None:
        error = message.get("error")
        self._hub.finish(slot, message.get("ok"), None if error is None else tool_error(error))


def _finish_future(future: CallFuture, message: dict[str, Any]) -> None:
    future._abandon = None
    if future.done():
        return
    error = message.get("error")
    if error is None:
        future.set_result(message.get("ok"))
    else:
        future.set_exception(tool_error(error))


def tool_error(fields: dict[str, Any]) -> ToolError:
    """Build the exception of a call that failed."""
    return _ERRORS.get(fields["kind"], ToolError)(
        fields["message"],
        kind=fields["kind"],
        status=fields["status"],
        body=fields["body"],
        retry_after_s=fields["retry_after_s"],
    )
