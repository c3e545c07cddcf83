"""One turn of the agent loop: ask the model, make its calls, return the results, until it answers."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from codemode.catalog.tokens import estimate
from codemode.errors import ConfigurationError
from codemode.model.answer import rejected
from codemode.model.corrections import with_example
from codemode.model.json_arguments import Malformed, read_text
from codemode.model.names import offered_name
from codemode.serving.agent.doubts import Doubts
from codemode.serving.agent.events import (
    Action,
    AgentResult,
    Asked,
    CallEnded,
    CallStarted,
    Ended,
    ModeChanged,
    Repaired,
    TextDelta,
    ToolsRequested,
)
from codemode.serving.agent.models import CHOICES, ModelRequest, ModelUnreachable
from codemode.serving.agent.prompt import system_prompt
from codemode.serving.agent.toolbox import data_url
from codemode.serving.agent.transcript import (
    AssistantMessage,
    ModelAnswer,
    TokenUsage,
    ToolMessage,
    ToolRequest,
    UserMessage,
    answered,
    chat_messages,
    without_images,
)
from codemode.serving.agent.written_calls import programs, with_calls, written_calls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from codemode.model.answer import Answer
    from codemode.model.definitions import Offer
    from codemode.serving.agent.events import AgentStatus, Event
    from codemode.serving.agent.models import Model
    from codemode.serving.agent.toolbox import Tools
    from codemode.serving.agent.transcript import Message
    from codemode.settings import AgentSettings


#: Characters shown of each call result when a limit ends the turn.
_OBSERVED = 200

_IMAGES = "These are the images in the results of your calls, in order."
_EMPTY = "Your answer was empty: make a call, or answer the user."
_CUT = "Your answer was cut off at its length limit: shorten it, or use several steps."
_DONE = "Not done again: this exact call has changed something already. Use its result, or do what is left. {}"
_ENOUGH = "You have made this exact call {} times with the same answer: use it, or do something else."


class Turn:
    """Answers one message. Iterate over `events`; the last one is `Ended`."""

    def __init__(
        self,
        settings: AgentSettings,
        model: Model,
        toolbox: Tools,
        *,
        message: str,
        history: Sequence[Message],
        plan: Any,
    ) -> None:
        self._settings = settings
        self._model = model
        self._toolbox = toolbox
        self._message = message
        self._plan = plan
        self._messages: list[Message] = [*history, UserMessage(message)]
        known = [settings.instructions, json.dumps(plan, default=str), *(one.text for one in self._messages)]
        may_call = settings.tool_choice != "none"
        self._doubts = Doubts(known, checks_figures=settings.figures == "check" and may_call)
        self._malformed = 0
        self._programs = 0  # in the last answer, which call tools
        self._began = time.monotonic()
        self._iterations = 0
        self._usage = TokenUsage()
        self._actions: list[Action] = []
        self._repairs = 0
        self._is_repeating = False
        self._text = ""
        self._answer = ModelAnswer()
        self._made: dict[str, tuple[Answer, int]] = {}

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events. Raises ConfigurationError if `tool_choice` names a tool that is not offered."""
        while (bound := self._bound()) is None:
            offer = await self._toolbox.offer(self._message, chat_messages(self._messages))
            if offer.addition and self._messages[-1] == UserMessage(self._message):
                self._messages[-1] = UserMessage(f"{self._message}\n\n{offer.addition}")
            self._iterations += 1
            yield Asked(self._iterations, len(offer.definitions), offer.summary)
            try:
                async for delta in self._ask(offer):
                    yield delta
            except ModelUnreachable as error:
                yield self._end("unreachable", str(error))
                return
            answer = await self._read(self._answer, offer)
            self._count(answer, offer)
            if answer.refusal or answer.finish == "content_filter":
                yield self._end("refused", answer.refusal or "the model's provider withheld the answer")
                return
            problem = None
            if answer.calls:
                async for event in self._calls(answer, offer):
                    yield event
                    problem = event.problem if isinstance(event, Repaired) else problem
            else:
                objection = self._objection(answer)
                if objection is None:
                    yield self._end("completed", answer.text)
                    return
                yield Repaired(objection)
                problem = objection if objection in (_CUT, _EMPTY) else None  # a doubt is raised only once
            if problem is not None and self._repairs >= self._settings.repairs:
                yield self._end("repeating" if self._is_repeating else "malformed", self._achieved(problem))
                return
            self._repairs = 0 if problem is None else self._repairs + 1
        yield self._end(bound, self._achieved(f"stopped at the limit agent.{bound}"))

    # --- requests ---------------------------------------------------------------------------------------------

    async def _ask(self, offer: Offer) -> AsyncGenerator[TextDelta, None]:
        """Ask the model once. Yield text as it streams, and store the whole answer."""
        self._answer = ModelAnswer()
        async for piece in self._model.ask(self._request(offer)):
            if isinstance(piece, ModelAnswer):
                self._answer = piece
            elif piece:
                yield TextDelta(piece)

    def _request(self, offer: Offer) -> ModelRequest:
        system = system_prompt(self._toolbox.mode, self._settings.instructions, plan=self._plan, menu=offer.prompt)
        return ModelRequest(system, tuple(self._messages), offer.definitions, self._choice(offer))

    def _choice(self, offer: Offer) -> str:
        """Return the tool choice. A forced call is forced only until it was made; then the model may answer."""
        choice = self._settings.tool_choice or "auto"
        if choice == "none" or (choice != "auto" and self._actions):
            return "none" if choice == "none" else "auto"
        if choice in CHOICES or choice in offer.names:
            return choice
        native = choice.replace(".", "-")
        if native in offer.names:
            return native
        message = f"agent.tool_choice: {choice!r} is not offered; there are: {', '.join(offer.names[:20])}"
        raise ConfigurationError(message)

    async def _read(self, answer: ModelAnswer, offer: Offer) -> ModelAnswer:
        """Turn calls in the answer's text into real ones, if it has no others."""
        if answer.calls or self._settings.tool_choice == "none":
            return answer
        runnable: list[str] = []
        if "execute" in offer.names:
            calling = await self._toolbox.calling()
            runnable = [code for code in programs(answer.text) if calling.search(code)]
        self._programs = len(runnable)
        names = await self._toolbox.names(offer)
        calls = written_calls(answer.text, names, runnable if len(runnable) == 1 else ())
        return with_calls(answer, calls) if calls else answer

    # --- answers ----------------------------------------------------------------------------------------------

    def _count(self, answer: ModelAnswer, offer: Offer) -> None:
        """Add the request's tokens. Estimate them if the provider reports none."""
        usage = answer.usage
        if usage is None:
            sent = [
                offer.prompt,
                json.dumps(chat_messages(without_images(self._messages))),
                json.dumps(offer.definitions),
            ]
            written = answer.text + "".join(call.arguments for call in answer.calls)
            usage = TokenUsage(sum(map(estimate, sent)), estimate(written))
        self._usage += usage
        self._text = answer.text or self._text

    def _objection(self, answer: ModelAnswer) -> str | None:
        """Return what is wrong with an answer without calls, and ask for a better one; None if it is final."""
        problem = self._unusable(answer)
        if problem is not None or self._bound() is not None:
            return problem
        doubt = self._doubts.about(answer.text, programs=self._programs)
        if doubt is not None:
            self._messages.append(UserMessage(doubt))
        return doubt

    def _unusable(self, answer: ModelAnswer) -> str | None:
        """Return what makes an answer without calls unusable, and ask for a better one; None if nothing does."""
        if answer.text.strip() and answer.finish != "length":
            self._messages.append(AssistantMessage(answer.text))
            return None
        if answer.text.strip():
            self._messages.append(AssistantMessage(answer.text))
        problem = _CUT if answer.finish == "length" else _EMPTY
        self._messages.append(UserMessage(problem))
        return problem

    async def _calls(self, answer: ModelAnswer, offer: Offer) -> AsyncGenerator[Event, None]:
        """Make the calls of an answer, limited in parallel. Their results keep the order of the calls.

        The last event is Repaired if no call could be made, and ModeChanged if the next calls are made in another mode.
        """
        done: dict[str, Answer] = {}
        size = self._settings.max_parallel_tool_calls
        self._messages.append(AssistantMessage(answer.text, tuple(map(_resendable, answer.calls))))
        if self._bound(besides_iterations=True) is None:
            for start in range(0, len(answer.calls), size):
                async for event in self._batch(answer.calls[start : start + size], answer, offer, done):
                    yield event
        for call in answer.calls:
            text = done[call.id].text if call.id in done else "not made: a limit was reached"
            self._messages.append(ToolMessage(call.id, call.name, text))
        for one in done.values():
            self._doubts.hear(one.text, ok=one.ok, unshown=one.unshown)
            self._malformed += one.did_nothing
        images = tuple(data_url(image) for one in done.values() for image in one.content)
        if images:  # a tool message can only have text
            self._messages.append(UserMessage(_IMAGES, images))
        faults = [one.text for one in done.values() if one.malformed]
        if (change := self._change_of_mode()) is not None:
            yield change
        elif faults and len(faults) == len(done):
            yield Repaired(faults[0])
        else:
            self._is_repeating = False

    def _change_of_mode(self) -> ModeChanged | None:
        """Change from code to menus if the settings let the agent choose, and the model wrote too much in vain."""
        if self._settings.mode != "auto" or self._toolbox.mode != "code":
            return None
        if self._malformed < self._settings.menu_after:
            return None
        self._toolbox.mode = "menu"
        return ModeChanged("menu", self._malformed)

    async def _batch(
        self, calls: Sequence[ToolRequest], answer: ModelAnswer, offer: Offer, done: dict[str, Answer]
    ) -> AsyncGenerator[Event, None]:
        """Make calls in parallel. Yield an event when each starts and ends."""
        tasks: dict[asyncio.Task[Answer], tuple[ToolRequest, dict[str, Any]]] = {}
        began = time.monotonic()
        try:
            for call in calls:
                try:
                    arguments = read_text(call.name, call.arguments, cut_off=answer.finish == "length")
                except Malformed as error:
                    text = with_example(str(error), offered_name(call.name, offer.names), error.given)
                    done[call.id] = rejected(text, malformed=True)
                    yield CallEnded(call.id, call.name, text, ok=False, duration_s=0.0)
                    continue
                yield CallStarted(call.id, call.name, arguments)
                tasks[asyncio.create_task(self._one(call.name, arguments, offer))] = call, arguments
            waiting = set(tasks)
            while waiting:
                ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(ended, key=[*tasks].index):
                    call, arguments = tasks[task]
                    done[call.id] = task.result()
                    yield self._event_of(call, arguments, task.result(), time.monotonic() - began)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answer:
        """Make a call, unless it has had the same answer too often, or would change something a second time."""
        key = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        before, times = self._made.get(key, (None, 0))
        if before is not None and before.changed_something and not self._may_repeat(arguments):
            self._is_repeating = True
            return rejected(_DONE.format(before.text), malformed=True)
        if times >= self._settings.repeats:
            self._is_repeating = True
            return rejected(_ENOUGH.format(times), malformed=True)
        found = await self._toolbox.call(name, arguments, offer)
        is_same = before is not None and found.result == before.result
        self._made[key] = found, times + 1 if is_same else 1
        return found

    def _may_repeat(self, arguments: dict[str, Any]) -> bool:
        """Whether a call may change something a second time. Resuming repeats nothing that was done."""
        return self._settings.repeat_writes or bool(arguments.get("resume_from"))

    def _event_of(self, call: ToolRequest, arguments: dict[str, Any], found: Answer, duration_s: float) -> Event:
        if found.loaded is not None:
            return ToolsRequested(call.id, call.name, arguments, found.text, found.loaded)
        if not found.malformed:
            self._actions.append(Action(call.name, arguments, found.text, ok=found.ok))
        return CallEnded(call.id, call.name, found.text, found.ok, duration_s, found.outcome)

    # --- ends -------------------------------------------------------------------------------------------------

    def _bound(self, *, besides_iterations: bool = False) -> AgentStatus | None:
        """Return the limit that is reached, or None."""
        settings = self._settings
        if settings.tokens is not None and self._usage.total >= settings.tokens:
            return "tokens"
        cost = self._cost()
        if settings.cost is not None and cost is not None and cost >= settings.cost:
            return "cost"
        return "iterations" if not besides_iterations and self._iterations >= settings.most_iterations else None

    def _cost(self) -> float | None:
        price, usage = self._settings.price, self._usage
        return None if price is None else price.of(usage.input, usage.output, usage.cached)

    def _achieved(self, why: str) -> str:
        """Summarize the text and calls so far, for a turn that ends without an answer."""
        lines = [f"- {action.name}: {_line(action.observation)}" for action in self._actions]
        done = ["Done so far:", *lines] if lines else ["Nothing was done."]
        return "\n".join([*([self._text.strip()] if self._text.strip() else []), f"({why})", *done])

    def _end(self, status: AgentStatus, text: str) -> Ended:
        return Ended(
            AgentResult(
                status=status,
                text=text,
                messages=tuple(chat_messages(answered(self._messages))),
                actions=tuple(self._actions),
                usage=self._usage,
                cost=self._cost(),
                iterations=self._iterations,
                duration_s=time.monotonic() - self._began,
                mode=self._toolbox.mode,
                figures=self._doubts.figures(text) if status == "completed" else (),
            )
        )


def _resendable(call: ToolRequest) -> ToolRequest:
    """Return the call with valid arguments: some providers parse them again, and fail if they are not JSON."""
    try:
        is_object = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    return call if is_object else ToolRequest(call.id, call.name, "{}")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _OBSERVED else f"{line[:_OBSERVED]}…"
