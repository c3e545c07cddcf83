"""The tools of one caller, from which every adapter makes the tools of its framework."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codemode.errors import ApprovalRefused, CodeModeError, ConfigurationError, RequestRepeated, WrongArgument
from codemode.executions.journal.records import Decision
from codemode.gateway.caller import LOCAL, Caller
from codemode.search.request import SearchRequest
from codemode.serving.executions import run_or_continue
from codemode.serving.model_text import shown_to_model
from codemode.serving.two_tools import ExecuteArguments, problem_of
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.records import PendingCall
    from codemode.service import CodeMode


@dataclass(frozen=True, slots=True)
class Function:
    """A tool as a model sees it. `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a tool call. `outcome` and `data`, its JSON form for models, are those of a program."""

    text: str
    ok: bool = True
    outcome: ExecutionOutcome | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Toolset:
    """`search`, `execute` and the pins of a caller.

    `approver` is the caller in whose name the framework's user decides on pending calls. Without one, a paused program
    is answered with what it waits for, and the model can continue it later. Programs share the state of the
    `conversation` with this id. Raises ConfigurationError if the approver may not decide.
    """

    def __init__(
        self, service: CodeMode, caller: Caller = LOCAL, approver: Caller | None = None, conversation: str = ""
    ) -> None:
        WrongArgument.unless(caller, Caller, "caller", "Caller(id, role) creates one")
        if approver is not None:
            _check_approver(service, caller, approver)
        self._service = service
        self._caller = caller
        self._approver = approver
        self._conversation = conversation

    @property
    def asks(self) -> bool:
        """Whether there is an approver."""
        return self._approver is not None

    async def functions(self) -> list[Function]:
        """Return the definitions of the tools."""
        return [
            Function(one["name"], one["description"], one["parameters"])
            for one in (definition["function"] for definition in await self._service.definitions(self._caller))
        ]

    async def call(self, name: str, arguments: Mapping[str, Any], key: str = "") -> Answer:
        """Call a tool. Mistakes of the model and errors are answered, not raised.

        A repeated call with the same `key`, and a program, does not run again: the answer is how the execution stands.
        Keys are ignored without a journal.
        """
        try:
            if name == "search":
                request = SearchRequest.model_validate(arguments)
                return Answer((await self._service.search(**request.model_dump(), caller=self._caller)).text)
            if name == "execute":
                return await self._run(ExecuteArguments.model_validate(arguments), key, self._conversation)
            program = await self._service.program_of(name, arguments, self._caller)
        except ValidationError as error:
            return Answer(f"{name}: {problem_of(error)}", ok=False)
        except CodeModeError as error:
            return Answer(error.for_model(), ok=False)
        if program is None:
            return Answer(f"there is no tool {name!r}: search finds tools, execute calls them in a program", ok=False)
        return await self._run(ExecuteArguments(code=program), key)

    async def questions(self, answer: Answer) -> Sequence[PendingCall]:
        """Return the calls that the approver must decide on. Empty without an approver, or if nothing is paused."""
        if self._approver is None or answer.outcome is None or answer.outcome.status != "paused":
            return ()
        return await self.pending(answer.outcome.id)

    async def pending(self, execution: str) -> Sequence[PendingCall]:
        """Return the pending calls of an execution of the caller. Empty without an approver.

        Raises ExecutionNotFound, also for an execution of another caller.
        """
        if self._approver is None:
            return ()
        await self._service.executions.get(execution, self._caller)
        waiting = await self._service.executions.approvals(self._approver, execution)
        return [call for call in waiting if call.kind == "approval"]

    async def decide(self, execution: str, verdicts: Mapping[str, bool]) -> Answer:
        """Record the approver's verdicts by approval id, true to approve and false to reject, and continue.

        Ids that are no longer pending are ignored. Raises WrongArgument for another form of the verdicts, and
        ExecutionNotFound.
        """
        example = "{approval id: True or False}"
        WrongArgument.unless(verdicts, dict, "verdicts", example)
        for verdict in verdicts.values():
            WrongArgument.unless(verdict, bool, "each verdict", example)
        approver = self._approver
        if approver is not None:
            decisions = [
                Decision(
                    call.id, call.digest, "approved" if verdicts[call.id] else "rejected", approver.id, via="framework"
                )
                for call in await self.pending(execution)
                if call.id in verdicts
            ]
            with suppress(ApprovalRefused):  # another approver was faster
                await self._service.executions.decide(decisions, approver)
        return await self._run(ExecuteArguments(resume_from=execution))

    async def _run(self, asked: ExecuteArguments, key: str = "", conversation: str = "") -> Answer:
        keeps = self._service.settings.keeps_journal
        try:
            return self._answer(await self._outcome(asked, key if keeps else "", conversation), can_resume=keeps)
        except CodeModeError as error:
            return Answer(error.for_model(), ok=False)
        except SandboxError:
            return Answer("no program can run at present; the operator should run `codemode doctor`", ok=False)

    async def _outcome(self, asked: ExecuteArguments, key: str, conversation: str) -> ExecutionOutcome:
        try:
            return await run_or_continue(self._service, asked, self._caller, key=key, conversation=conversation)
        except RequestRepeated as repeated:
            return await run_or_continue(self._service, ExecuteArguments(resume_from=repeated.execution), self._caller)

    def _answer(self, ended: ExecutionOutcome, *, can_resume: bool) -> Answer:
        text, data = shown_to_model(ended, self._service.hooks, can_resume=can_resume)
        return Answer(text, ended.ok, ended, data)


def shown(questions: Sequence[PendingCall]) -> list[dict[str, Any]]:
    """Return pending calls as JSON data for a person: `id`, `tool`, `arguments`, `reason` and `host`."""
    names = ("id", "tool", "arguments", "reason", "host")
    return [{name: value for name, value in call.to_json().items() if name in names} for call in questions]


def _check_approver(service: CodeMode, caller: Caller, approver: Caller) -> None:
    WrongArgument.unless(approver, Caller, "approver", "Caller(id, role) creates one")
    roles = service.settings.policy.approvers
    problem = ""
    if not service.settings.keeps_journal:
        problem = "pauses need the journal: set `journal.enabled: true`"
    elif approver.role not in roles:
        problem = f"the role {approver.role} is not in policy.approvers ({', '.join(sorted(roles)) or 'empty'})"
    elif approver.id == caller.id:
        problem = f"{approver.id} is the caller too, and nobody approves the calls of the same key"
    if problem:
        message = f"approver {approver.id}: {problem}"
        raise ConfigurationError(message)
