"""Calls that reach other operations by their arguments, such as a GraphQL selection that names a nested mutation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.catalog.effects import exceeds, worst
from codemode.errors import ArgumentsInvalid
from codemode.gateway.policy import AccessRequest, Decision, Ruling

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.saved import SavedProgram
    from codemode.gateway.policy import AccessPolicy

_STRICTNESS = (Decision.ALLOW, Decision.ASK, Decision.DENY)


def requests_of(request: AccessRequest, catalog: Catalog) -> tuple[AccessRequest, ...]:
    """Return the request with the worst effect of all that it reaches, and a request for each reached tool.

    Raises ArgumentsInvalid if it reaches a tool that is not in the catalog, which is the caller's view.
    """
    tool = request.tool
    reached = tool.details.reaches(request.arguments) if tool.details.reaches is not None else ()
    if not reached:
        return (request,)
    others: list[AccessRequest] = []
    effects = [tool.effect, *(one.effect for one in reached if not one.key)]
    for one in reached:
        known = catalog.keyed(tool.source, one.key) if one.key else None
        if one.key and known is None:
            message = f"{one.name} is an operation of its own, and is not available here"
            raise ArgumentsInvalid(tool.id, message, valid=tool.parameter_names)
        if known is not None:
            others.append(replace(request, tool=known, arguments=one.arguments))
            effects.append(known.effect)
    effect = worst(effects)
    return (replace(request, tool=tool.changed(effect=effect) if exceeds(effect, tool.effect) else tool), *others)


def outside_header(program: SavedProgram, requests: tuple[AccessRequest, ...]) -> Ruling | None:
    """Return the ruling on a call of a saved program that reaches what its header does not allow, else None."""
    reason = next(filter(None, (program.forbids(request.tool) for request in requests)), "")
    return Ruling(Decision.DENY, f"header of {program.id}", reason) if reason else None


def strictest(policy: AccessPolicy, requests: tuple[AccessRequest, ...]) -> Ruling:
    """Return the strictest ruling on the requests of one call."""
    return max(map(policy.ruling, requests), key=lambda ruling: _STRICTNESS.index(ruling.decision))
