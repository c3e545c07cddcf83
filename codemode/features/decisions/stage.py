"""The stage of the remembered decisions in a run: it approves a call that a person has approved before.

It looks at calls that need a person, and at no other. So what the policy denies, or a flow rule, stays denied.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from codemode.executions.run.replay.questions import Questions, first_id
from codemode.executions.run.stage import Stage
from codemode.executions.types.plan import PLAN
from codemode.gateway.call import CallState
from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.remembered import Remembered
    from codemode.features.decisions.memory import Memory
    from codemode.gateway.call import JudgedCall

log = logging.getLogger(__name__)


class RememberedStage(Stage):
    """Approves the calls of one run that a remembered decision covers."""

    def __init__(self, staging: Staging, decisions: Decisions, memory: Memory) -> None:
        self._run = staging.run
        self._conversation = staging.assignment.conversation
        self._recording = decisions.recording
        self._comparison = decisions.comparison
        self._memory = memory
        self._in_order = asyncio.Lock()

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall:
        """See `codemode.executions.run.stage.Stage`. A reason that is of this call alone needs a person each time."""
        tool, ruling = judged.tool, judged.ruling
        if recorded is not None or tool is None or ruling is None or ruling.alone:
            return judged
        if judged.state is not CallState.PENDING or self._recording.request.settings.get(PLAN) is not None:
            return judged
        try:
            with self._run.floor.asking():
                async with self._in_order:
                    known = await asyncio.to_thread(self._memory.all)
        except (*UNAVAILABLE, ValueError) as error:
            log.error("remembered decisions cannot be read, so that people are asked: %s", error)
            return judged
        one = next((one for one in known if self._covers(one, tool, judged)), None)
        if one is None:
            return judged
        self._run.floor.answered[judged.call.path] = one.id
        return self._run.amend(judged.approved(f"{one.by}, remembered as {one.id}"))

    def _covers(self, one: Remembered, tool: Tool, judged: JudgedCall) -> bool:
        """Return whether a decision is for this call, now.

        The id of the approval follows from the definition and the location of its tool, and from the account. So it
        does not hold for a tool that has changed, or has got the name of another one, or for another account.
        """
        caller = self._run.caller
        if (one.owner, one.role) != (caller.id, caller.role) or not one.holds(self._memory.clock()):
            return False
        if one.conversation and one.conversation != self._conversation:
            return False
        if one.tool != tool.id or one.digest != self._comparison.identity(judged.call.path).digest:
            return False
        asked = Questions(one.execution, self._run.gateway, self._recording.journal.digest)
        return asked.id_of(judged, one.path, one.digest, "approval") == first_id(one.approval)
