"""The engines, and tools for their programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sandbox import CallFailed, MontySandbox, Sandbox
from sandbox.testing import Tools

if TYPE_CHECKING:
    from sandbox import Engine, Outcome

ENGINES = {"process": Sandbox, "monty": MontySandbox}
NAMES = ("gym", "search(queries, limit)")
SEED, START = b"s" * 32, datetime(2031, 5, 6, 7, 8, 9, 123457, tzinfo=UTC)


def tools() -> Tools:
    return Tools(
        {
            "gym.members.list": lambda limit=2, **_: [{"id": n, "name": f"m{n}"} for n in range(limit)],
            "gym.members.add": lambda **fields: fields,
            "gym.broken": CallFailed("the service is broken", kind="upstream_error", status=503),
            "search": lambda **arguments: f"found {arguments}",
        }
    )


async def run(engine: Engine, code: str, answers: Tools | None = None, **options: Any) -> Outcome:
    return await engine.run(code, names=NAMES, call=answers or tools(), **options)
