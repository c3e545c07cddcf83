"""Explain a decision of the policy: each rule in turn, up to the first that matches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from codemode.catalog.arguments import validate
from codemode.gateway.policy import READ_ONLY, AccessRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.gateway.policy import AccessPolicy, Rule


@dataclass(frozen=True, slots=True)
class Step:
    """One rule and its verdict: "decides", or why it does not match."""

    rule: str
    decision: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision on a call, or without arguments on all calls of a tool ("" if it depends on arguments)."""

    tool: str
    effect: str
    source: str
    tier: str
    role: str
    exists: bool
    decision: str
    rule: str
    reason: str
    steps: tuple[Step, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


def explain(
    policy: AccessPolicy, tool: Tool, role: str, arguments: Mapping[str, Any] | None, *, read_only: bool = False
) -> Explanation:
    """Return the decision with the verdict of each rule, for a key that is `read_only` or not.

    Raises ArgumentsInvalid.
    """
    request = None if arguments is None else AccessRequest(tool, validate(tool, arguments), role)
    if policy.only_reads(tool, read_only=read_only):
        steps: tuple[Step, ...] = (Step(READ_ONLY.rule, READ_ONLY.decision, _DECIDES),)
    else:
        steps = tuple(_steps(policy, tool, role, request))
    last = steps[-1]
    is_decided = last.verdict == _DECIDES
    rulings = (READ_ONLY, *(rule.ruling for rule in policy.rules))
    ruling = next((ruling for ruling in rulings if ruling.rule == last.rule), policy.default(tool))
    return Explanation(
        tool=tool.id,
        effect=tool.effect,
        source=tool.source,
        tier=tool.tier,
        role=role,
        exists=policy.may_use(tool, role),
        decision=last.decision if is_decided and not _depends(steps) else "",
        rule=last.rule if is_decided and not _depends(steps) else "",
        reason=ruling.reason if is_decided and not _depends(steps) else "",
        steps=steps,
    )


_DECIDES = "decides"
_DEPENDS = "decides if its conditions match: "


def _depends(steps: tuple[Step, ...]) -> bool:
    return any(step.verdict.startswith(_DEPENDS) for step in steps)


def _steps(policy: AccessPolicy, tool: Tool, role: str, request: AccessRequest | None) -> Iterator[Step]:
    for rule in policy.rules:
        verdict = _verdict(rule, tool, role, request)
        yield Step(rule.label, rule.ruling.decision, verdict)
        if verdict == _DECIDES:
            return
    default = policy.default(tool)
    yield Step(default.rule, default.decision, _DECIDES)


def _verdict(rule: Rule, tool: Tool, role: str, request: AccessRequest | None) -> str:
    why_not = rule.why_not(tool, role)
    if why_not:
        return f"is for {why_not}" if why_not.startswith("other") else why_not
    if request is None and rule.is_conditional:
        return _DEPENDS + ", ".join(condition.path for condition in rule.conditions)
    unmet = list(rule.unmet(request)) if request is not None else []
    if not unmet:
        return _DECIDES
    certainly = "certainly " if rule.ruling.decision == "allow" else ""
    return f"does not {certainly}match {', '.join(unmet)}"
