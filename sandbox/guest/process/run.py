"""One execution: its builtins, variables, scheduler and outcome."""

from __future__ import annotations

import gc
import random
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.channel import HostGone
from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.base.output import Errors, Output, Streams, make_print
from sandbox.guest.base.values import ValueInvalid, encode_result
from sandbox.guest.language import own
from sandbox.guest.language.access import CLOCK, FORMAT
from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.ending import VALUE
from sandbox.guest.language.leftovers import Leftovers
from sandbox.guest.library.facades.builtin_names import static_builtins
from sandbox.guest.library.facades.clocks import date_reader
from sandbox.guest.library.facades.descriptions import make_help
from sandbox.guest.library.facades.formats import format_of
from sandbox.guest.library.modules import Modules
from sandbox.guest.library.scene import Scene
from sandbox.guest.process.report import Reporter, clean, out_of_memory, out_of_time
from sandbox.guest.process.result_parts import PartSender, has_long
from sandbox.guest.scheduling.awaitables import awaitable
from sandbox.guest.scheduling.clock import Clock
from sandbox.guest.scheduling.ends import catchable
from sandbox.guest.scheduling.hub import Hub
from sandbox.guest.scheduling.loop import Loop, install, uninstall
from sandbox.guest.tools import Tool, ToolCalls, ToolError, ToolRejected
from sandbox.protocol.framing import frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from sandbox.guest.base.channel import Channel
    from sandbox.guest.language.compilation import Program

_WARN_UNAWAITED: Any = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
#: Notes of an outcome at most.
MOST_NOTES = 20

#: The builtins of the program. A run adds its own to this dict. A copy would write to the reference
#: count of each value, and so copy their pages in a worker that was just forked.
_BUILTINS = static_builtins()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended."""

    status: str
    value: bytes | None = None
    failure: dict[str, Any] | None = None


class Run:
    """Runs one compiled program. The fork server makes it once, before a program is known."""

    _program: Program
    _limits: dict[str, int]

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.notes: list[str] = []
        self._output = channel.output = Output()
        self._errors = Errors()
        self._clock = clock = Clock()
        self._hub = Hub(channel, clock)
        self._loop = Loop(self._hub, self._note)
        self._calls = ToolCalls(self._hub, self._loop, channel, self._note)
        self._roots: dict[str, Sequence[str]] = {}
        self._main = ModuleType("__main__")
        self._variables = vars(self._main)
        self._variables.clear()
        self._variables.update({"__name__": "__main__", "__doc__": None, "__builtins__": _BUILTINS})
        self._scene = Scene(
            clock=clock,
            hub=self._hub,
            loop=self._loop,
            calls=self._calls,
            streams=Streams(self._output, self._errors),
            random=random.Random(),  # noqa: S311 - repeatable on purpose
            variables=self._variables,
            note=self._note,
        )
        self._modules = Modules(self._scene, self._root)
        _BUILTINS.update(self._bound())

    def begin(self, message: dict[str, Any], program: Program) -> None:
        """Take the program and the message that started it."""
        self._program = program
        if program.note:
            self._note(program.note)
        own.begin(self._variables)
        CLOCK[:], FORMAT[:] = [date_reader(self._clock)], [format_of]
        self._limits = message["limits"]
        self._output.allow(self._limits["output_bytes"])
        self._clock.start(message["now"])
        self._calls.begin(self._limits["calls"], message["parameters"])
        self._scene.is_async = program.is_async
        self._roots = {name: message["parameters"].get(name, ()) for name in message["names"]}
        self._modules.begin(self._roots, bytes.fromhex(message["seed"]))
        self._variables.update({name: self._root(name) for name in self._roots})
        self._variables.update(message["inputs"])
        if program.unimported:
            self._import(program.unimported)

    def _import(self, unimported: Sequence[tuple[str, str, bool]]) -> None:
        """Import the modules that the program uses without an import. An input of the same name is meant instead."""
        left_out = [one for one in unimported if one[0] not in self._variables]
        for name, module, is_member in left_out:
            modules = self._modules
            self._variables[name] = (
                modules.import_from(module, name) if is_member else modules.import_module(module, name)
            )
        if left_out:
            lines = (
                f"from {module} import {name}" if member else f"import {module}" for name, module, member in left_out
            )
            self._note(f"imported for the program, which left it out: {'; '.join(lines)}")

    def forget(self) -> None:
        """Remove the result and the namespaces: enough after a program that binds no names."""
        for name in (VALUE, *self._roots):
            self._variables.pop(name, None)

    # --- names -----------------------------------------------------------------------------------------------------

    def _bound(self) -> dict[str, Any]:
        """Return the builtins that belong to this run."""
        show = make_print(self._output, self._scene.streams.stdout)
        return {
            "print": show,
            "help": make_help(self._calls, show),
            "tools": self._root("tools"),
            "ToolError": ToolError,
            "ToolRejected": ToolRejected,
            ".import": self._modules.import_module,
            ".from": self._modules.import_from,
            ".star": self._modules.import_all,
            ".call_import": self._modules.import_by_call,
            ".later": self._calls.later,
            ".awaitable": awaitable,
            ".everything": catchable,
        }

    def _root(self, name: str) -> Tool:
        return Tool(self._calls, "" if name == "tools" else name)

    def _note(self, text: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(clean(str.__str__(text)[:1_000]))

    def _unawaited(self, coroutine: Any) -> None:
        """Note a coroutine that was not awaited; CPython warns on standard error."""
        name = str.__str__(coroutine.__qualname__)
        text = f"{name}() was not awaited, and did nothing: write await {name}(...)"
        if text not in self.notes:
            self._note(text)

    # --- running -----------------------------------------------------------------------------------------------------

    def execute(self) -> Ended:
        """Run the program and return its outcome."""
        if "__del__" in self._program.text:
            gc.disable()  # objects are then freed at the same moment in each run
        install(self._loop)
        sys.modules["__main__"] = self._main  # where the library looks for the names in annotations
        warnings._warn_unawaited_coroutine = self._unawaited  # type: ignore[attr-defined]
        streams = self._scene.streams
        try:
            with redirect_stdout(streams.stdout), redirect_stderr(streams.stderr):
                return self._ended()
        finally:
            uninstall()
            warnings._warn_unawaited_coroutine = _WARN_UNAWAITED  # type: ignore[attr-defined]
            if self._errors.remark:
                self._note(self._errors.remark)

    def _ended(self) -> Ended:
        digits = sys.get_int_max_str_digits()
        try:
            try:
                value, has_value = self._value()
            finally:
                sys.set_int_max_str_digits(digits)  # the host reads no longer numbers
            return Ended("completed", self._encode(value) if has_value else None)
        except HostGone:
            raise
        except MemoryError:
            return Ended("out_of_memory", failure=out_of_memory())
        except BaseException as error:  # noqa: BLE001  # all that a program raises is its outcome
            reporter = Reporter(self._program, self._variables, self._roots)
            return Ended("failed", failure=reporter.failure(error))

    def last_word(self, frame: FrameType | None) -> dict[str, Any]:
        """Report the line or the wait at which the host ended the program."""
        while frame is not None and frame.f_code.co_filename != FILENAME:
            frame = frame.f_back
        return out_of_time(self._program.text, frame.f_lineno if frame is not None else None, self._hub.waits())

    def _value(self) -> tuple[Any, bool]:
        try:
            self._run_code()
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
            self._note("the program ended itself with exit(); leave that out: a program ends with its last statement")
            self._hub.see_off()
            return None, False
        value = self._settled(self._variables.get(VALUE) if self._program.returns else self._last_variable())
        return value, value is not None

    def _last_variable(self) -> Any:
        """Return the variable that a program without a result fills at its end, if it made calls and printed nothing.

        Else note how it could end.
        """
        leftovers = Leftovers(self._program.text)
        if missing := leftovers.last_call():
            self._note(f"nothing calls the function that the program ends with: write {missing} below it")
            return None
        name = leftovers.last_variable()
        if not self._output.is_empty or name not in self._variables or name in self._roots:
            return None
        value = self._variables[name]
        if self._calls.made and not has_long(value) and self._is_data(value):
            return value
        self._note(f"nothing was given back or printed: write {name} alone in the last line to see what it holds")
        return None

    def _is_data(self, value: Any) -> bool:
        try:
            self._encode(value)
        except ValueInvalid:
            return False
        return True

    def _run_code(self) -> None:
        code: Any = self._program.code
        if self._program.is_async:
            self._hub.prepare()
            self._loop.run_main(eval(code, self._variables))  # noqa: S307  # the program, after the policy
        else:
            exec(code, self._variables)  # noqa: S102  # the program, after the policy
        self._hub.see_off()

    def _settled(self, value: Any) -> Any:
        """Await an awaitable that is the result of a program."""
        for _ in range(3):
            if not hasattr(type(value), "__await__"):
                break
            value = self._loop.run_main(value)
        return value

    def _encode(self, value: Any) -> bytes:
        with suppress(RecursionError):
            has_named_tuples = self._program.makes_named_tuples
            most, depth = self._limits["result_bytes"], self._limits["result_depth"]
            data = None
            if has_long(value) and not has_named_tuples:
                part_bytes = self._limits["frame_bytes"]
                sender = PartSender(self._send_part, limit_bytes=most, part_bytes=part_bytes, limit_depth=depth)
                data = sender.send_most(value)
            if data is None:
                data = encode_result(value, limit_bytes=most, limit_depth=depth, has_named_tuples=has_named_tuples)
            return IDENTITIES.steady_json(data)
        message = "the result is nested too deeply"
        raise ValueInvalid(message)

    def _send_part(self, part: bytes) -> None:
        self.channel.send(frame(IDENTITIES.steady_json(part)))
        self.channel.flush()
