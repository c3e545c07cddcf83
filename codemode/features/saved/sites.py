"""The calls that a program would make, as its source shows them. The program is parsed in a sandbox, and not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox import ProgramRefused, Refusal

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox import CallSite, Engine

_LOOKED_AT = Refusal("not_run", "the program was looked at, and not run", 1)


@dataclass(frozen=True, slots=True)
class Sites:
    """The call sites of a program. `refused` says why the language refuses it, "" if it does not."""

    calls: tuple[CallSite, ...] = ()
    refused: str = ""


async def call_sites(engine: Engine, code: str, names: Collection[str], variables: Collection[str]) -> Sites:
    """Return the call sites of a program that sees the namespaces `names` and the `variables`."""
    found: list[CallSite] = []
    is_read = False

    async def preflight(sites: Collection[CallSite]) -> None:
        nonlocal is_read
        is_read = True
        found.extend(sites)
        raise ProgramRefused([_LOOKED_AT])

    async def call(_: Any) -> None:
        """Answer no call: none is made."""

    inputs = dict.fromkeys(variables)
    ended = await engine.run(code, names=names, call=call, preflight=preflight, inputs=inputs)
    if is_read:
        return Sites(tuple(found))
    failure = ended.failure
    refusals = failure.refusals if failure is not None else ()
    reasons = [f"line {one.line}: {one.message}" for one in refusals] or [failure.message if failure else ended.status]
    return Sites(refused="; ".join(reasons))
