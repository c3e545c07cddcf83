"""What the calls of programs teach a service: shapes of answers, differences from schemas, usage."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.catalog.observed import ObservedShapes
from codemode.executions.journal.configured import store_of
from codemode.gateway.answer_checks import AnswerChecks
from codemode.gateway.call import CallState
from codemode.menus.usage import MenuUsage
from codemode.model.inlining import Inlining
from codemode.model.memory import Memories
from codemode.settings import Secrets
from codemode.shared.closing import save_and_close

if TYPE_CHECKING:
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore


class Knowledge:
    """What is learned. `answer_checks` are the answers that differ from their schemas, counted by tool."""

    def __init__(self, settings: Settings, store: ValueStore | None) -> None:
        #: What the servers of the project share. None means the store of the settings.
        self.store = store = store or store_of(settings, Secrets())
        self.shapes = ObservedShapes(store.value("shapes"))
        self.answer_checks = AnswerChecks(store.value("answers"))
        self.inlining = Inlining(store.value("usage"), self.shapes)
        self.menu_usage = MenuUsage(settings.learned() / "menu-usage.jsonl", keeps=settings.menu.record_usage)
        #: What conversations remember.
        self.memories = Memories()

    async def open(self) -> None:
        """Open the store, and load what earlier programs taught."""
        self.store.open()
        for load in (self.shapes.load, self.answer_checks.load, self.inlining.usage.load):
            await asyncio.to_thread(load)

    async def aclose(self) -> None:
        """Save what is unsaved, and close the store."""
        await save_and_close(self.store, self.answer_checks.save, self.inlining.usage.save)

    async def learn(self, outcome: ExecutionOutcome, caller: Caller) -> None:
        """Store what the calls of a program taught."""
        for learned in (self.shapes, self.answer_checks, self.inlining.usage):
            if learned.is_unsaved:
                await asyncio.to_thread(learned.save)
        made = [call for call in outcome.calls if call.state in (CallState.COMMITTED, CallState.READ)]
        self.inlining.usage.called(caller.role, {call.tool for call in made})
        for call in made:
            self.menu_usage.called(call.tool, who=caller.id)
