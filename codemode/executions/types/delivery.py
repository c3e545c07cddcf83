"""How an attempt to tell people what waits for them ended."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: `failed` is tried again. `gone`: the receiver wants no more messages. `outdated`: it was decided before.
Result = Literal["delivered", "failed", "gave_up", "gone", "outdated"]


class Delivery(NamedTuple):
    """One attempt, for audit records. `event`, `execution` and `approval` are the message's."""

    id: str
    event: str
    target: str
    execution: str
    approval: str
    result: Result
    attempt: int
    error: str
