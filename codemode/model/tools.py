"""`ModelTools`: what a model sees, and the answers to its calls. The one meaning of a call, for every interface."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codemode.catalog.arguments import validate
from codemode.catalog.definitions import TOOL_SEARCH
from codemode.catalog.inline import NOTHING_INLINE
from codemode.errors import ArgumentsInvalid, CodeModeError, RequestRepeated, WrongArgument
from codemode.executions.life.programs import Request
from codemode.gateway.caller import Caller
from codemode.model.answer import Answer, rejected
from codemode.model.arguments import ExecuteArguments, problem_of, read_arguments, read_native
from codemode.model.background import Background
from codemode.model.corrections import native_call, with_example
from codemode.model.decisions import Decisions, ways_to_decide
from codemode.model.deferred import ToolSearchArguments
from codemode.model.definitions import HAS_MENU, ONE_CALL, RUNS_PROGRAMS, Offer, offered, offered_deferred
from codemode.model.fitting_tools import first_message, later_message
from codemode.model.json_arguments import Malformed, read_text
from codemode.model.memory import Memories, Memory
from codemode.model.names import native_names, offered_name, tool_of, unknown_name
from codemode.model.outcome_text import Audience, shown_to_model
from codemode.model.shown_content import shown_content
from codemode.model.whole_results import LOAD_RESULT, LoadArguments
from codemode.search.request import SearchRequest
from codemode.shared.callbacks import ignore
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.menus.session import MenuSession
    from codemode.model.background import Running
    from codemode.model.definitions import Form
    from codemode.model.host import Host
    from codemode.search.result import Accepts, SearchAnswer
    from codemode.settings import ModeName

_NO_SANDBOX = "no program can run here at present; the operator can diagnose this with `codemode doctor`"


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What a client adds to a call.

    `credentials` are the caller's own for upstream services. A second call with the same `key` and a program runs
    nothing: the answer is how the first one stands. Keys are ignored without a journal. After `within_s` seconds the
    answer is that a recorded program still runs. `watch` receives the calls of the program. `settle` receives the
    outcome of a paused program and returns the one that is shown, after a person has decided.
    """

    credentials: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    within_s: float | None = None
    watch: Callable[[LedgerEntry], None] = ignore
    settle: Callable[[ExecutionOutcome], Awaitable[ExecutionOutcome]] | None = None


_PLAIN = CallOptions()


_TWO = ("search", "execute")


class ModelTools:
    """The tools of one caller in one conversation.

        tools = cm.tools(caller=Caller("ann"), conversation="chat-7")
        definitions = await tools.definitions("responses")
        answer = await tools.call("execute", {"code": "shop.count_orders()"})     # arguments also as JSON text

    Programs share the state of the `conversation` with this id. A namespace is introduced by the first search that
    finds it. `approver` is the caller in whose name `decide` decides. `shows` are the media types of content that the
    client shows, None for all. `background` runs the programs. `memory` continues a conversation, and `memories` has
    the beginnings of others. `asks_in_client` says that `approvals.in_client` concerns the client. Raises
    ConfigurationError if the approver may not decide.
    """

    def __init__(
        self,
        host: Host,
        caller: Caller,
        conversation: str = "",
        *,
        mode: ModeName = "code",
        approver: Caller | None = None,
        shows: Collection[str] | None = (),
        background: Background | None = None,
        memory: Memory | None = None,
        memories: Memories | None = None,
        asks_in_client: bool = False,
    ) -> None:
        WrongArgument.unless(caller, Caller, "caller", "Caller(id, role) creates one")
        self.caller = caller
        #: The mode in force.
        self.mode: ModeName = mode
        self._host = host
        self._conversation = conversation
        self._decisions = Decisions(host, caller, approver)
        self._shows = shows
        self._background = background or Background(host.programs)
        self._asks_in_client = asks_in_client
        self._memory = memory or Memory()
        self._memories = memories or Memories()

    def introduce_again(self) -> None:
        """Say conventions again, with the next hits: another conversation begins with the same object."""
        self._memory.forget()

    async def offer(self, message: str = "", history: Iterable[Any] = (), summary: str = "") -> Offer:
        """Return the tools for the next request, as the caller may see them. A menu depends on the message.

        In the mode `code`, the prompt has signatures for the first message, if the definitions lack some. A later
        message is to be sent with the offer's `addition`.

        Raises ModeRejected if the mode is `native` and there are too many tools.
        """
        history = tuple(history)
        offer = await (self._deferred(history) if self.mode == "deferred" else self._offer(message, history, summary))
        return replace(offer, tools=(*offer.tools, LOAD_RESULT)) if self._loads else offer

    @property
    def _loads(self) -> bool:
        return self._memory.loads and self.mode in ONE_CALL

    async def _deferred(self, history: Sequence[Any]) -> Offer:
        catalog, settings = (await self._host.view(self.caller)).catalog, self._host.settings
        await self._memory.deferred.continued(history, self._find, catalog)
        return offered_deferred(catalog, settings, self._memory.deferred.tools(catalog, settings.native_tools))

    async def _offer(self, message: str, history: Sequence[Any], summary: str) -> Offer:
        menu = await (await self._menus()).offer(message, history, summary) if self.mode in HAS_MENU else None
        catalog = (await self._host.view(self.caller)).catalog
        first = first_message(message, history)
        beginning = self._memories.begin(self._memory, self.caller, first, history)
        inline = await self._inline(catalog) if self.mode in RUNS_PROGRAMS else NOTHING_INLINE
        offer = offered(self.mode, catalog, self._host.settings, menu, inline)
        if self.mode != "code" or inline.is_whole or not self._host.settings.definitions.inline_tokens:
            return offer
        later, find, told = later_message(message, history), self._find, self._memory.told
        fitting = beginning.fitting
        prompt = await fitting.prompt(first, catalog, find, told, inline=inline.text)
        addition = await fitting.addition(later, find, told, inline=inline.text) if later is not None else ""
        return replace(offer, prompt=prompt, addition=addition)

    async def definitions(self, form: Form = "chat") -> list[dict[str, Any]]:
        """Return the tools in the form of an API: `chat` and `responses` of OpenAI, `anthropic`, or `mcp`."""
        return [one.in_form(form) for one in (await self.offer()).tools]

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str, *, options: CallOptions = _PLAIN, near: Sequence[str] = ()
    ) -> Answer:
        """Answer a call, offered or not, within the caller's view. Mistakes and errors are answered, not raised.

        `near` are the offered names, from which an answer to an unknown one suggests.
        """
        given: Any = arguments
        try:
            if name not in _TWO:
                name = offered_name(name, near or await self._callable())
            given = read_text(name, arguments) if isinstance(arguments, str) else arguments
            return await self._answer(name, given, options, near)
        except Malformed as error:
            return self._malformed(str(error), name, error.given)
        except ValidationError as error:
            return self._malformed(f"{name}: {problem_of(error)}", name, given)
        except (CodeModeError, SandboxError) as error:
            return rejected(error_text(error))

    def _malformed(self, problem: str, name: str, given: Any) -> Answer:
        text = with_example(problem, name, given) if self.mode in RUNS_PROGRAMS else problem
        return rejected(text, malformed=True)

    async def resume(self, execution: str, *, options: CallOptions = _PLAIN) -> Answer:
        """Continue an execution after a decision, or wait for it, in every mode. Errors are answered, not raised."""
        try:
            return await self._run(Request("", resume_from=execution), options, ())
        except (CodeModeError, SandboxError) as error:
            return rejected(error_text(error))

    async def begin(self, name: str, arguments: Mapping[str, Any], *, options: CallOptions = _PLAIN) -> Running | None:
        """Start a call of `execute` that is asked for later by the id of its execution.

        Return None, and start nothing, for calls that run no program which the journal records. Raises the errors of
        `ModelPrograms.perform`.
        """
        if name != "execute" or self.mode not in RUNS_PROGRAMS or not self._host.settings.keeps_journal:
            return None
        try:
            asked, notes = self._asked(arguments)
        except ValidationError:
            return None  # `call` says what is wrong
        if not asked.code or asked.dry_run:
            return None
        running = await self._background.begin(self._completed(asked.request(), options), self.caller)
        return replace(running, notes=notes)

    async def pending(self, execution: str) -> Sequence[PendingCall]:
        """Return the calls of an execution of the caller on which the approver must decide, none without approver.

        Raises ExecutionNotFound, also for an execution of another caller.
        """
        return await self._decisions.pending(execution)

    async def decide(self, execution: str, verdicts: Mapping[str, bool], *, options: CallOptions = _PLAIN) -> Answer:
        """Record the approver's verdicts by call id, true to approve and false to reject, and continue.

        Ids that are no longer pending are ignored. Raises WrongArgument for another form of the verdicts, and
        ExecutionNotFound.
        """
        await self._decisions.record(execution, verdicts)
        return await self.resume(execution, options=options)

    # --- calls ------------------------------------------------------------------------------------------------

    async def _answer(self, name: str, given: Mapping[str, Any], options: CallOptions, near: Sequence[str]) -> Answer:
        if self.mode in RUNS_PROGRAMS and name == "search":
            return await self._search(given)
        if self.mode in RUNS_PROGRAMS and name == "execute":
            return await self._execute(given, options)
        if self.mode in ONE_CALL and name == LOAD_RESULT.name:
            return await self._load(given, options)
        if self.mode == "deferred" and name == TOOL_SEARCH:
            arguments, _ = read_arguments(ToolSearchArguments, given)
            asked = ToolSearchArguments.model_validate(arguments)
            return await self._memory.deferred.answer(asked, self._find, self._host.settings.pins)
        if self.mode in HAS_MENU:
            answer = await (await self._menus()).handle(name=name, arguments=given)
            if answer is not None:
                text = "\n\n".join(part for part in (answer.text, answer.skills) if part)
                return Answer(text, loaded=tuple(answer.loaded))
        return await self._native(name, given, options, near)

    async def _search(self, given: Mapping[str, Any]) -> Answer:
        arguments, notes = read_arguments(SearchRequest, given)
        request = SearchRequest.model_validate({"introduce": False, **arguments})
        answer = await self._find(request)
        return Answer(
            "\n".join([*(f"# {note}" for note in notes), answer.introduced(self._memory.told)]), hits=answer.hits
        )

    async def _find(self, request: SearchRequest, accepts: Accepts | None = None) -> SearchAnswer:
        async with self._background.turn(self.caller):
            return await self._host.find(request, self.caller, accepts, self._conversation)

    def _asked(self, given: Mapping[str, Any]) -> tuple[ExecuteArguments, tuple[str, ...]]:
        arguments, notes = read_arguments(ExecuteArguments, given)
        return ExecuteArguments.model_validate(arguments), notes

    async def _execute(self, given: Mapping[str, Any], options: CallOptions) -> Answer:
        asked, notes = self._asked(given)
        return await self._run(asked.request(), options, notes, dry_run=asked.dry_run)

    async def _load(self, given: Mapping[str, Any], options: CallOptions) -> Answer:
        arguments, notes = read_arguments(LoadArguments, given)
        program = LoadArguments.model_validate(arguments).program()
        return await self._run(Request(program), options, notes, made_a_call=True)

    async def _native(self, name: str, given: Mapping[str, Any], options: CallOptions, near: Sequence[str]) -> Answer:
        catalog = (await self._host.view(self.caller)).catalog
        tool = tool_of(name, catalog) if self.mode != "off" else None
        if tool is None:
            raise Malformed(unknown_name(name, catalog, near or (await self.offer()).names, self.mode))
        arguments, notes = read_native(tool, given)
        try:
            validate(tool, arguments)
        except ArgumentsInvalid as error:
            return rejected(f"{error.for_model().rstrip('.')}. {native_call(tool, name, arguments)}", malformed=True)
        asked = ExecuteArguments(code=f"{tool.id}(**{arguments!r})")
        return await self._run(asked.request(), options, notes, made_a_call=True)

    async def _run(
        self,
        request: Request,
        options: CallOptions,
        notes: Sequence[str],
        *,
        dry_run: bool = False,
        made_a_call: bool = False,
    ) -> Answer:
        request = self._completed(request, options)
        ended = await self._outcome(request, options, dry_run=dry_run)
        if ended.status == "paused" and options.settle is not None:
            ended = await options.settle(ended)
        ended = replace(ended, notes=(*ended.notes, *notes)) if notes else ended
        return await self.shown(ended, made_a_call=made_a_call)

    def _completed(self, request: Request, options: CallOptions) -> Request:
        """Return a request with what the client and the conversation add."""
        is_keyed = self._host.settings.keeps_journal and request.code
        return replace(
            request,
            credentials=options.credentials,
            key=options.key if is_keyed else "",
            conversation=self._conversation if self.mode in RUNS_PROGRAMS else "",
            watch=options.watch,
        )

    async def _outcome(self, request: Request, options: CallOptions, *, dry_run: bool) -> ExecutionOutcome:
        within_s = options.within_s
        try:
            return await self._background.run(request, self.caller, dry_run=dry_run, within_s=within_s)
        except RequestRepeated as repeated:
            again = replace(request, code="", resume_from=repeated.execution, key="")
            return await self._background.run(again, self.caller, within_s=within_s)

    async def shown(self, ended: ExecutionOutcome, *, made_a_call: bool = False) -> Answer:
        """Return an outcome as the answer to a call: as text, as data, and with its images and files."""
        can_resume = self._host.settings.keeps_journal and self.mode in RUNS_PROGRAMS
        is_asked = self._decisions.has_approver
        ways = "" if is_asked else ways_to_decide(ended, self._host.settings, asks_in_client=self._asks_in_client)
        text, data = shown_to_model(
            ended, self._host.hooks, Audience(can_resume, made_a_call, ways, runs_programs=self.mode in RUNS_PROGRAMS)
        )
        changes_offer = self.mode in ONE_CALL and "shortened" in data and not self._memory.loads
        self._memory.loads |= changes_offer
        types = self._shows
        content = () if types == () else await shown_content(self._host, ended, self.caller, media_types=types)
        waiting = tuple(call.id for call in ended.pending)
        return Answer(text, ended.status, data, ended, tuple(content), waiting, changes_offer=changes_offer)

    async def _callable(self) -> Collection[str]:
        return (*_TWO, TOOL_SEARCH, *native_names((await self._host.view(self.caller)).catalog))

    async def _inline(self, catalog: Catalog) -> Inline:
        """Return the signatures of this conversation. What they introduce is not introduced again."""
        beginning = self._memory.beginning
        if beginning.inline is None or beginning.inline[0]() is not catalog:
            beginning.inline = (weakref.ref(catalog), await self._host.inline(self.caller))
        inline = beginning.inline[1]
        self._memory.told |= inline.introduced
        return inline

    async def _menus(self) -> MenuSession:
        if self._memory.menu is None:
            self._memory.menu = await self._host.menu_session(self.caller)
        return self._memory.menu


def error_text(error: CodeModeError | SandboxError) -> str:
    """Return the message of an error for a model."""
    return error.for_model() if isinstance(error, CodeModeError) else _NO_SANDBOX
