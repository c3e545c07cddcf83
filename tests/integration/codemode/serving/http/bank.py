"""A bank whose payments are asked."""

from __future__ import annotations

import asyncio
from typing import Annotated

from codemode import tool

AGENT, OTHER, BOSS = ({"Authorization": f"Bearer {key}"} for key in ("agent", "other", "boss"))


ASK = {"rules": [{"name": "a person looks", "tools": "bank.pay", "decision": "ask", "reason": "money leaves"}]}


PAYS = "paid = [bank.pay(to=name, amount=amount) for name, amount in (('ann', 10), ('bob', 20))]\nsum(paid)"


class Bank:
    """Money that is sent, and a gate that calls wait at."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int]] = []
        self.taken_back: list[str] = []
        self.gate = asyncio.Event()
        self.waiting = asyncio.Event()

    @tool(effect="write")
    def pay(self, to: Annotated[str, "Who gets it"], amount: int) -> int:
        """Send money."""
        self.sent.append((to, amount))
        return amount

    @tool(effect="write")
    def take_back(self, to: str) -> str:
        """Take money back."""
        self.taken_back.append(to)
        return "back"

    @tool(revert="take_back(to=result.to)")
    def lend(self, to: str) -> dict[str, str]:
        """Lend money."""
        return {"to": to}

    @tool(effect="read")
    async def wait(self) -> str:
        """Wait for the gate."""
        self.waiting.set()
        await self.gate.wait()
        return "open"
