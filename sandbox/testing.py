"""Fakes that ship: tools that answer from a script and record what was asked, and a sandbox without processes.

    from sandbox import Sandbox
    from sandbox.testing import Tools

    tools = Tools({"shop.price": lambda fruit: 30, "shop.buy": CallFailed("sold out", status=409)})
    async with Sandbox() as sandbox:
        outcome = await sandbox.run(program, names=tools.names, call=tools)
    assert tools.calls[0].arguments == {"fruit": "apple"}

`FakeSandbox` takes the place of `Sandbox` where the test is about what goes in and what is made of the outcome, and no
program needs to run.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sandbox.errors import CallFailed, ProgramRefused, ProgramStopped
from sandbox.host.arguments import check_limits, check_program
from sandbox.outcome import Call, CallSite, Failure, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from datetime import datetime

    from sandbox.host.recording import Recording
    from sandbox.limits import Limits

#: A value; an error to raise; a function of the arguments, plain or async; or `Script`.
Answer = Any


class Script:
    """Answers for one call after the other; the last one repeats."""

    def __init__(self, *answers: Answer) -> None:
        if not answers:
            raise ValueError("a script needs an answer")
        self._answers = list(answers)

    def next(self) -> Answer:
        """Return the answer for this call."""
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Tools:
    """A call handler: answers from a mapping of dotted names, records every call and how many were under way at once.

    A name that is missing fails as `tool_not_found`. After `hold(name)` the calls of that name wait for `release`.
    """

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers = dict(answers or {})
        self.calls: list[Call] = []
        self.under_way = 0
        self.most_at_once = 0
        self.cancelled: list[Call] = []
        self._arrived = asyncio.Condition()
        self._held: dict[str, asyncio.Event] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The root names, as `Sandbox.run(names=…)` takes them."""
        return tuple(sorted({name.partition(".")[0] for name in self.answers}))

    def of(self, tool: str) -> list[dict[str, Any]]:
        """Return the arguments of each call of one tool, in the order in which they came."""
        return [call.arguments for call in self.calls if call.tool == tool]

    def hold(self, tool: str) -> None:
        """Let the calls of a tool wait."""
        self._held[tool] = asyncio.Event()

    def release(self, tool: str) -> None:
        """Answer the calls of a tool that wait, and those to come."""
        self._held.pop(tool).set()

    async def wait_for(self, count: int) -> None:
        """Wait until so many calls have come."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.calls) >= count)

    async def __call__(self, call: Call) -> Any:
        """Answer one call. Raises CallFailed, or what the answer is or raises."""
        self.calls.append(call)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            async with self._arrived:
                self._arrived.notify_all()
            held = self._held.get(call.tool)
            if held is not None:
                await held.wait()
            return await self._answer(call)
        except asyncio.CancelledError:
            self.cancelled.append(call)
            raise
        finally:
            self.under_way -= 1

    async def _answer(self, call: Call) -> Any:
        if call.tool not in self.answers:
            message = f"there is no tool {call.tool}"
            raise CallFailed(message, kind="tool_not_found", status=404)
        answer = self.answers[call.tool]
        if isinstance(answer, Script):
            answer = answer.next()
        if isinstance(answer, BaseException):
            raise answer
        if callable(answer):
            answer = answer(**call.arguments)
        return await answer if inspect.isawaitable(answer) else answer


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program of `FakeSandbox` goes: the call sites that preflight sees, its calls in order, its outcome.

    A call that fails ends the program as an unhandled error would.
    """

    outcome: Outcome
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    sites: tuple[CallSite, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeRun:
    """One program that `FakeSandbox` was given, with what it was given for it, and the answers of its calls."""

    code: str
    names: tuple[str, ...]
    inputs: dict[str, Any]
    limits: Limits | None
    seed: bytes | None
    now: datetime | None
    recording: Recording | None
    answers: list[Any] = field(default_factory=list)


class FakeSandbox:
    """Has the methods of `Sandbox`, starts no process and runs no program: it ends them as it is told.

    `endings` are outcomes, or Endings where calls are to be made; the last one repeats. `ran` is what was asked of it.
    """

    def __init__(self, *endings: Ending | Outcome) -> None:
        self._script = Script(*(endings or (Outcome(Status.COMPLETED),)))
        self.ran: list[FakeRun] = []
        self.is_open = False

    async def __aenter__(self) -> FakeSandbox:
        self.is_open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.is_open = False

    async def run(
        self,
        code: str,
        *,
        names: Collection[str] = (),
        call: Callable[[Call], Awaitable[Any]] | None = None,
        preflight: Callable[[tuple[CallSite, ...]], Awaitable[None]] | None = None,
        seed: bytes | None = None,
        now: datetime | None = None,
        limits: Limits | None = None,
        inputs: Mapping[str, Any] | None = None,
        recording: Recording | None = None,
    ) -> Outcome:
        """Record the program, make the calls of its ending, and return its outcome.

        Raises TypeError, ValueError where the arguments are none that a sandbox takes.
        """
        check_limits(limits)
        check_program(code, names=names, inputs=inputs or {}, call=call, seed=seed)
        ran = FakeRun(code, tuple(names), dict(inputs or {}), limits, seed, now, recording)
        self.ran.append(ran)
        told = self._script.next()
        ending = told if isinstance(told, Ending) else Ending(told)
        try:
            if preflight is not None:
                await preflight(ending.sites)
            for number, (tool, arguments) in enumerate(ending.calls, start=1):
                ran.answers.append(await _ask(call, Call(number, str(number), tool, arguments)))
        except ProgramRefused as refused:
            return Outcome(
                Status.REFUSED, failure=Failure("PolicyViolation", str(refused), refusals=tuple(refused.refusals))
            )
        except ProgramStopped as stopped:
            return Outcome(Status.FAILED, failure=stopped.failure)
        except CallFailed as failed:
            return Outcome(Status.FAILED, failure=Failure("ToolError", str(failed)))
        usage = replace(ending.outcome.usage, calls=ending.outcome.usage.calls or len(ending.calls))
        return replace(ending.outcome, usage=usage)


async def _ask(call: Callable[[Call], Awaitable[Any]] | None, asked: Call) -> Any:
    if call is None:
        message = f"{asked.tool} cannot be called: this program was given no tools"
        raise CallFailed(message, kind="no_tools")
    return await call(asked)
