"""The access policy: its rules, rules without effect, and the decision on a call."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.errors import CodeModeError
from codemode.features.budgets.budgets import Budgets
from codemode.gateway.explanation import explain
from codemode.gateway.lint import without_effect
from codemode.serving.console.roles import require_operator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def routes(console: Console) -> list[Route]:
    """Return the route `/policy`."""
    service = console.service

    async def policy(request: Request) -> Response:
        require_operator(request, service)
        asked = request.query_params
        explained, mistake = _explained(service, asked)
        data = {
            "rules": await asyncio.to_thread(_rules, service),
            "defaults": service.settings.policy.default.model_dump(mode="json"),
            "quotas": [one.settings.model_dump(mode="json") for one in service.discovery.policy.quotas],
            "budgets": await service.part(Budgets).spent(),
            "explanation": explained,
        }
        return console.page(
            request,
            "policy/policy.html",
            title="Policy",
            data=data,
            asked=asked,
            mistake=mistake,
            roles=service.discovery.policy.roles,
        )

    return [Route("/policy", policy)]


def _rules(service: CodeMode) -> list[dict[str, Any]]:
    """Return the rules with the number of tools that they concern, and why a rule never decides."""
    policy = service.discovery.policy
    problems = {one.place[-1]: one.text for one in without_effect(policy, service.catalog)}
    return [
        {
            "label": rule.label,
            "decision": str(rule.ruling.decision),
            "reason": rule.ruling.reason,
            "tools": sum(any(rule.concerns(tool, role) for role in policy.roles) for tool in service.catalog),
            "matches": rule.settings.model_dump(
                mode="json", exclude_defaults=True, exclude={"name", "decision", "reason"}
            ),
            "problem": problems.get(number, ""),
        }
        for number, rule in enumerate(policy.rules)
    ]


def _explained(service: CodeMode, asked: Mapping[str, str]) -> tuple[dict[str, Any] | None, str]:
    """Return the decision on the call of the form, or what is wrong with the form."""
    tool, role, text = asked.get("tool", "").strip(), asked.get("role", ""), asked.get("arguments", "").strip()
    if not tool:
        return None, ""
    try:
        arguments = json.loads(text) if text else None
    except ValueError as error:
        return None, f"the arguments are not JSON: {error}"
    if arguments is not None and not isinstance(arguments, dict):
        return None, 'the arguments are not a JSON object: write {"name": "value"}'
    try:
        found = explain(
            service.discovery.policy, service.catalog.find(tool), role or service.discovery.policy.roles[0], arguments
        )
    except CodeModeError as error:
        return None, str(error)
    return found.to_json(), ""
