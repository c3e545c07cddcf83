"""`Agent`: answers messages with a model and the tools of a service."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from codemode.gateway.caller import LOCAL
from codemode.model.modes import mode_of_agent
from codemode.serving.agent.events import Ended
from codemode.serving.agent.fenced import FencedModel
from codemode.serving.agent.models import model_of
from codemode.serving.agent.toolbox import Toolbox
from codemode.serving.agent.transcript import read_history
from codemode.serving.agent.turn import Turn
from codemode.settings import AgentSettings, Secrets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.agent.events import AgentResult, Event
    from codemode.serving.agent.models import ChatModel, Model, ResponsesModel
    from codemode.serving.agent.transcript import Message
    from codemode.settings import AgentMode


class Agent:
    """A model with the tools of a service, within the view of one caller.

    `settings` default to the section `agent`, completed from the environment. `model` replaces the model that they
    name. `credentials` are the caller's credentials for upstream services. `settle` receives the outcome of a paused
    program and returns the one that the model reads, after a person has decided. An agent
    for one chat can name its `conversation`, whose programs share state (`CodeMode.execute`).

    `mode` overrides the mode of the settings and of the rules in `modes`. Raises ConfigurationError, and ModeRejected
    if a rule enforces another mode.
    """

    def __init__(
        self,
        service: CodeMode,
        settings: AgentSettings | None = None,
        *,
        model: Model | None = None,
        caller: Caller = LOCAL,
        credentials: Mapping[str, str] = MappingProxyType({}),
        conversation: str = "",
        settle: Callable[[ExecutionOutcome], Awaitable[ExecutionOutcome]] | None = None,
        mode: AgentMode | None = None,
    ) -> None:
        chosen = settings or service.settings.agent
        chosen = chosen if model is not None else chosen.completed()
        rules = service.settings.modes
        found = mode_of_agent(
            rules, chosen.mode, role=caller.role, model=chosen.model, wanted=mode or "", sees=service.visible
        )
        self.settings = chosen.model_copy(update={"mode": found})
        self._own: ChatModel | ResponsesModel | None = None
        if model is None:
            model = self._own = model_of(self.settings, Secrets())
        self._model = model if self.settings.use_function_calling else FencedModel(model)
        self._toolbox = Toolbox(service, self.settings, caller, credentials, conversation, settle)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections to the model's provider."""
        if self._own is not None:
            await self._own.aclose()

    async def run(
        self, message: str, *, history: Sequence[Mapping[str, Any] | Message] = (), plan: Any = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a message. Yields events as they happen; the last one is `Ended`.

        `history` holds earlier messages in chat completion format, as `AgentResult.messages`. `plan` is any JSON data;
        the model sees 1,500 characters of it. Closing the iterator cancels running calls. Raises ConfigurationError,
        and ValueError for an invalid history.
        """
        if not history:
            self._toolbox.begin()
        turn = Turn(
            self.settings, self._model, self._toolbox, message=message, history=read_history(history), plan=plan
        )
        async with aclosing(turn.events()) as events:
            async for event in events:
                yield event

    async def answer(
        self, message: str, *, history: Sequence[Mapping[str, Any] | Message] = (), plan: Any = None
    ) -> AgentResult:
        """Answer a message. Return the result, which reports how it ended."""
        result: AgentResult | None = None
        async with aclosing(self.run(message, history=history, plan=plan)) as events:
            async for event in events:
                if isinstance(event, Ended):
                    result = event.result
        if result is None:
            raise asyncio.CancelledError
        return result
