"""Calls beside one that fails: what was under way is let finish, and recorded as it ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

OWNER = Caller("key-1", "default")

FORMS = {
    "gather": "import asyncio\nawait asyncio.gather(*[shop.refund(n=n) for n in range(24)])",
    "asyncio.run": "import asyncio\nasync def main():\n"
    "    await asyncio.gather(*[shop.refund(n=n) for n in range(24)])\nasyncio.run(main())",
    "TaskGroup": "import asyncio\nasync with asyncio.TaskGroup() as group:\n    for n in range(24):\n"
    "        group.create_task(shop.refund(n=n))",
    "caught": "import asyncio\ntry:\n    async with asyncio.TaskGroup() as group:\n        for n in range(24):\n"
    "            group.create_task(shop.refund(n=n))\nexcept* ToolError as errors:\n    print(len(errors.exceptions))",
    "threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
    "    list(pool.map(lambda n: shop.refund(n=n), range(24)))",
}


class Shop:
    """Refunds all but every fifth, each after `latency_s`. `refunded` lists what it has done."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.refunded: list[int] = []
        self.refused: list[int] = []
        self.released = asyncio.Event()
        self.begun: list[int] = []

    async def refund(self, n: int) -> dict[str, int]:
        """Refund an order."""
        if n % 5 == 3:
            self.refused.append(n)
            message = f"order {n} is too old"
            raise ValueError(message)
        await asyncio.sleep(self.latency_s * (1 + n % 3))
        self.refunded.append(n)
        return {"refunded": n}

    async def pay(self, n: int) -> int:
        """Pay a bill."""
        self.begun.append(n)
        await self.released.wait()
        return n

    async def release(self) -> list[int]:
        """Let the payments finish, and return which are under way."""
        self.released.set()
        return self.begun


def service(folder: Path, shop: Shop, **limits: Any) -> CodeMode:
    sections = {"policy": {"default": {"write": "allow"}}, "state_folder": str(folder), "limits": limits}
    functions = {"shop": [shop.refund, shop.pay, shop.release]}
    return CodeMode.from_settings(Settings.model_validate(sections), functions=functions)


def states(outcome: Any) -> Counter[str]:
    return Counter(str(call.state) for call in outcome.calls)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("latency_s", [0.003, 0.06, 0.3])
async def test_no_call_that_the_service_answered_is_unknown(tmp_path: Path, form: str, latency_s: float) -> None:
    shop = Shop(latency_s)
    async with service(tmp_path, shop) as cm:
        outcome = await cm.execute(FORMS[form], caller=OWNER)
        stored = await cm.executions.get(outcome.id, OWNER)
        repaired = await cm.execute(FORMS["threads"].replace("24", "3"), caller=OWNER, resume_from=outcome.id)
    assert outcome.status == ("completed" if form == "caught" else "failed")
    counted = states(outcome)
    assert counted["unknown"] == 0
    assert counted["committed"] == len(shop.refunded)
    assert counted["failed"] == len(shop.refused)
    assert Counter(call["state"] for call in stored.outcome["calls"]) == counted
    assert repaired.status == "completed"


async def test_a_call_that_its_program_gave_up_is_recorded_as_it_ended(tmp_path: Path) -> None:
    shop = Shop(0)
    program = (
        "import asyncio\ntasks = [asyncio.create_task(shop.pay(n=n)) for n in (1, 2)]\nawait asyncio.sleep(0.01)\n"
        "for task in tasks:\n    task.cancel()\nshop.release()"
    )
    async with service(tmp_path, shop) as cm:
        outcome = await cm.execute(program, caller=OWNER)
    assert sorted(outcome.value) == [1, 2]
    assert states(outcome) == {"committed": 3}


async def test_what_takes_longer_than_finish_s_stays_unknown_for_a_true_reason(tmp_path: Path) -> None:
    shop = Shop(0)
    program = "import asyncio\nawait asyncio.gather(shop.pay(n=1), shop.refund(n=3))"
    async with service(tmp_path, shop, finish_s=0) as cm:
        outcome = await cm.execute(program, caller=OWNER)
        repaired = await cm.execute("shop.pay(n=1)", caller=OWNER, resume_from=outcome.id)
    assert states(outcome) == {"unknown": 1, "failed": 1}
    assert repaired.status == "paused"
    assert repaired.pending[0].reason == "it was sent, and no answer was recorded: check whether it took effect"


async def test_what_the_others_answered_is_in_the_answer_to_the_model(tmp_path: Path) -> None:
    shop = Shop(0.01)
    async with service(tmp_path, shop) as cm:
        answer = await cm.tools(caller=OWNER).call("execute", {"code": FORMS["gather"]})
        assert answer.outcome is not None
        small = await cm.tools(caller=OWNER).call("execute", {"code": "shop.refund(n=1)\nshop.refund(n=3)"})
    for n in shop.refunded:
        assert f'shop.refund(n={n}) -> {{"refunded": {n}}}' in answer.text + small.text
    assert f"resume_from='{answer.outcome.id}'" in answer.text
    assert 'they answered:\n  shop.refund(n=1) -> {"refunded": 1}\n' in small.text
