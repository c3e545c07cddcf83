"""The page of one tool: what a model sees of it, what the policy decides, and what it was called with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.catalog import tokens
from codemode.catalog.definitions import whole_definition
from codemode.catalog.observed import is_undocumented
from codemode.catalog.saved import program_of
from codemode.catalog.stubs import examples_of, full, stub
from codemode.gateway.explanation import explain
from codemode.serving.console.roles import looking_as, roles_for
from codemode.serving.console.session import caller_of
from codemode.serving.executions import outcome_json
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

#: Executions whose calls are read, the newest ones.
READ_EXECUTIONS = 20


def tool_routes(console: Console) -> list[Route]:
    """Return the routes below `/catalog/{name}`. A name is an id or an exact alias."""
    service = console.service

    async def show(request: Request) -> Response:
        caller = looking_as(request, service)
        view = await service.view(caller)
        tool = view.catalog.find(request.path_params["name"])
        returns = view.gateway.result_schema(tool, caller)
        ruled = explain(service.discovery.policy, tool, caller.role, None, read_only=caller.read_only)
        data = {
            **described(tool, returns),
            "destination": view.gateway.destination(tool).host,
            "policy": ruled.to_json(),
            "role": caller.role,
        }
        return console.page(
            request,
            "catalog/tool.html",
            title=tool.id,
            data=data,
            roles=roles_for(request, service),
            has_journal=service.settings.keeps_journal,
        )

    async def calls(request: Request) -> Response:
        caller = caller_of(request)
        tool = (await service.view(caller)).catalog.find(request.path_params["name"])
        data = {"tool": tool.id, "calls": await recent_calls(service, caller, tool), "executions": READ_EXECUTIONS}
        return console.page(request, "catalog/calls.html", title=f"Calls of {tool.id}", data=data)

    return [Route("/catalog/{name}", show), Route("/catalog/{name}/calls", calls)]


def described(tool: Tool, returns: Schema | None) -> dict[str, Any]:
    """Return what is known of a tool. `returns` is the schema of its result, declared or learned from its answers."""
    learned = returns if is_undocumented(tool) else None
    signature, documentation = stub(tool, observed=learned), full(tool, observed=learned)
    return {
        "id": tool.id,
        "source": tool.source,
        "key": tool.key,
        "author": program.author if (program := program_of(tool)) is not None else "",
        "summary": tool.summary,
        "description": tool.description,
        "effect": tool.effect.value,
        "effect_because": _because(tool),
        "tier": tool.tier,
        "tags": list(tool.tags),
        "aliases": list(tool.aliases),
        "related": list(tool.related),
        "deprecated": tool.deprecated,
        "revert": tool.revert,
        "signature": signature,
        "signature_tokens": tokens.count(signature),
        "documentation": documentation,
        "documentation_tokens": tokens.count(documentation),
        "examples": list(examples_of(tool)),
        "parameters": [
            {
                "name": parameter.name,
                "required": parameter.required,
                "sent_in": parameter.location.value,
                "description": parameter.description,
            }
            for parameter in tool.parameters
        ],
        "schema": whole_definition(tool)["function"]["parameters"],
        "returns": None if returns is None else returns.value,
        "is_learned": learned is not None,
    }


def _because(tool: Tool) -> str:
    if tool.effect_said:
        return "declared by the author or the operator"
    return f"because of the word {tool.effect_word!r}" if tool.effect_word else "from its method and words"


async def recent_calls(service: CodeMode, caller: Caller, tool: Tool) -> list[dict[str, Any]]:
    """Return the recorded calls of a tool in the newest executions that the caller may see, newest first.

    Raises ConfigurationError if executions are not recorded.
    """
    found = []
    for listed in await service.executions.list(caller, limit=READ_EXECUTIONS):
        stored = await service.executions.get(listed.request.id, caller)
        started = rfc3339(stored.request.start_us)
        found += [
            {"execution": stored.request.id, "execution_started": started, **call}
            for call in outcome_json(stored)["calls"]
            if call["tool"] == tool.id
        ]
    return found
