"""The plugin `refund_desk`: refuses blocked orders, approves small refunds, and hides card numbers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from codemode import Approved, CallAnswer, ConfigurationError, Plugin, PluginCall, Rejected

REFUND = "shop.refund"


class RefundDesk(Plugin):
    """Options: `limit`, the largest refund without a person, and `blocked`, the orders that nobody refunds."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self.limit = options.get("limit", 0)
        self.blocked = options.get("blocked", [])
        if not isinstance(self.limit, int):
            raise ConfigurationError("limit must be a whole number")

    async def before_call(self, call: PluginCall) -> str | None:
        """Refuse the refund of a blocked order."""
        if call.tool == REFUND and call.arguments["order"] in self.blocked:
            return f"order {call.arguments['order']} is disputed"
        return None

    async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
        """Remove the card number from an answer."""
        if call.tool != REFUND or answer.value is None:
            return None
        return replace(answer, value={name: part for name, part in answer.value.items() if name != "card"})

    async def answer_approval(self, call: PluginCall) -> Approved | Rejected | None:
        """Approve small refunds, reject huge ones, and leave the rest to a person."""
        if call.tool != REFUND:
            return None
        amount = call.arguments["amount"]
        if amount > 100 * self.limit:
            return Rejected(f"{amount} is more than anybody refunds")
        return Approved() if amount <= self.limit else None
