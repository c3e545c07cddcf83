"""A reviewer: the limits that its mode sets, around the opinion of a function or a model."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.executions.plugins.plugin import Approved, Plugin, Rejected
from codemode.gateway.policy import Globs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.executions.plugins.plugin import PluginCall
    from codemode.settings import ReviewerSettings

    Opinion = Callable[[PluginCall], Awaitable[Approved | Rejected | None]]

log = logging.getLogger(__name__)


class Reviewer(Plugin):
    """Asks for an opinion on pending calls, and reduces it to what the mode allows.

    A rejection counts in both modes. An approval counts in mode `approve` only, for a call that its policy rule marks
    as low-risk and that is not destructive. A review that fails or takes too long has no opinion: a person decides.
    """

    kind = "reviewer"

    def __init__(self, settings: ReviewerSettings, opinion: Opinion) -> None:
        super().__init__()
        self.name = settings.name
        self.can_approve = settings.mode == "approve"
        self._settings = settings
        self._opinion = opinion
        self._tools = Globs(settings.tools)

    async def answer_approval(self, call: PluginCall) -> Approved | Rejected | None:
        """See `Plugin`. Calls that this reviewer cannot decide on are not shown to it."""
        if not self._concerns(call):
            return None
        try:
            async with asyncio.timeout(self._settings.timeout_s) as limit:
                opinion = await self._opinion(call)
        except TimeoutError:
            if not limit.expired():
                raise
            log.warning(
                "reviewer %s gave no answer on %s within %g s; a person decides",
                self.name,
                call.tool,
                self._settings.timeout_s,
            )
            return None
        return opinion if isinstance(opinion, Rejected) or self._may_approve(call) else None

    def _concerns(self, call: PluginCall) -> bool:
        effects = self._settings.effects
        return self._tools.fit(call.tool) and (not effects or call.effect in effects)

    def _may_approve(self, call: PluginCall) -> bool:
        return self.can_approve and call.low_risk and call.effect != Effect.DESTRUCTIVE
