"""Questions to a person: may a call be made, or how did an earlier call end?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.executions.replay.dependencies import meaning

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.executions.journal.base import PendingCall
    from codemode.gateway.call import JudgedCall
    from codemode.gateway.gateway import Gateway

#: Hexadecimal digits of the keyed digest that identifies a question.
_DIGITS = 24

_UNKNOWN = "it was sent, and the server died before the answer arrived: check whether it took effect"


def question_of(
    asked: PendingCall, judged: JudgedCall, gateway: Gateway, digest: Callable[[Any], str], attempt: int
) -> PendingCall:
    """Return the question `asked` with its id, reason, host and time.

    The id is the same in each replay, as long as the call has the same arguments, definition and location. `digest` is
    the journal's.
    """
    means = meaning(judged.tool, gateway, digest)
    named = digest([asked.execution, asked.path, asked.digest, asked.kind, attempt, means])[:_DIGITS]
    reason = judged.ruling.reason or judged.ruling.rule if judged.ruling else ""
    return replace(
        asked,
        id=f"ap_{named}",
        reason=_UNKNOWN if asked.kind == "unknown" else reason,
        host=gateway.destination(judged.tool).host if judged.tool is not None else "",
        asked_us=time.time_ns() // 1000,
    )
