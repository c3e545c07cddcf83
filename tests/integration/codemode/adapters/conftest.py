"""A shop whose refunds a manager approves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import codemode
from codemode import Caller, CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CLERK = Caller("clerk")
MANAGER = Caller("mia", "approver")

#: Two calls, of which the second waits for the manager.
REFUND = "shop.note(text='asked')\nshop.refund(order=7)"


@dataclass
class Shop:
    """The service, and what its tools did."""

    service: CodeMode
    done: list[str] = field(default_factory=list)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    done: list[str] = []

    @codemode.tool(effect="read")
    def count_orders() -> int:
        """Count the orders."""
        return 3

    @codemode.tool(effect="write")
    def note(text: str) -> str:
        """Write a note."""
        done.append(f"note {text}")
        return text

    @codemode.tool(effect="write")
    def refund(order: int) -> str:
        """Refund an order."""
        done.append(f"refund {order}")
        return f"order {order} is refunded"

    sections: dict[str, Any] = {
        "state_folder": tmp_path / "state",
        "policy": {"rules": [{"tools": "shop.refund", "decision": "ask", "reason": "a manager agrees"}]},
    }
    functions = {"shop": [count_orders, note, refund]}
    async with CodeMode.from_settings(Settings.model_validate(sections), functions=functions) as service:
        yield Shop(service, done)
