"""Results for tests of reports."""

from __future__ import annotations

from typing import Any

from codemode.bench.results import Result, Step, TurnRecord

SEARCH = Step("search({'queries': ['pay']})", "completed", "shop.pay(to)", name="search")
REFUSED = Step("shop.pays()", "refused", error="no tool", refusals=["unknown_tool"], held=1)
PAY = Step("shop.pay(to='<me>')", "completed", 1, calls=["shop.pay committed 1"])
FAILED = TurnRecord("pay", "", [Step("1 / 0", "failed", error="ZeroDivisionError")], status="failed")
TURN = TurnRecord(
    "Pay <it>",
    "paid",
    [SEARCH, REFUSED, PAY],
    requests=4,
    input_tokens=1000,
    output_tokens=20,
    cached_tokens=600,
    duration_s=3.0,
    model_s=2.5,
    tools_s=0.25,
)


def result(task: str = "a", *, solved: bool = True, turns: list[TurnRecord] | None = None, **fields: Any) -> Result:
    """An attempt with a model at a task of the suite `shop`."""
    usual: dict[str, Any] = {
        "suite": "shop",
        "model": "m",
        "mode": "code",
        "policy": "off",
        "reason": "" if solved else "not paid",
        "calls": 1,
        "tools": 9,
        "definitions": {"native": 900, "menu": 300, "code": 100},
        "duration_s": 3.25,
    }
    return Result(task=task, solved=solved, turns=[TURN] if turns is None else turns, **{**usual, **fields})


def gold(task: str = "a", **fields: Any) -> Result:
    """An attempt with the suite's own actions."""
    turns = [TurnRecord("Pay <it>", "paid", [PAY], duration_s=0.1, tools_s=0.1)]
    traces = {
        "traces": {"native": 2000, "code": 500},
        "traces_cached": {"native": 900, "code": 100},
        "traces_output": {"native": 50, "code": 40},
    }
    return result(task, turns=turns, **{"model": "gold", **traces, **fields})
