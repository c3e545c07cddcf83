"""The access policy: ordered rules. The first that matches decides, else the default for the tool's effect."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import translate
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.saved import SAVED, program_of
from codemode.catalog.tool import Effect, Tool
from codemode.gateway.conditions import Condition
from codemode.settings import DEFAULT_ROLE, PolicySettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.settings import QuotaSettings, RuleSettings


class Decision(StrEnum):
    """A decision on a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"  # a person decides


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision with its rule and the configured reason.

    `low_risk`: a plugin may approve the call. `alone`: the reason is of this call alone, so that no grant covers it.
    """

    decision: Decision
    rule: str
    reason: str = ""
    low_risk: bool = False
    alone: bool = False


#: The ruling on writes where `read_only` is set, for a key or in the policy.
READ_ONLY = Ruling(Decision.DENY, "read_only", "only reads are allowed here")


_CALLS_DECIDE = Ruling(Decision.ALLOW, "default for saved programs: their calls are judged")


@dataclass(slots=True)
class Tally:
    """Number of calls of one execution by quota."""

    counts: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A call for the policy. `arguments` are those that will be sent. `read_only`: the caller may only read."""

    tool: Tool
    arguments: Mapping[str, Any]
    role: str = DEFAULT_ROLE
    read_only: bool = False


class AccessPolicy:
    """Rules, quotas and defaults. `decide` decides on calls, `may_use` on the existence of tools for a role."""

    def __init__(self, settings: PolicySettings | None = None) -> None:
        self._settings = settings or PolicySettings()
        self.rules = tuple(Rule(rule, number) for number, rule in enumerate(self._settings.rules, 1))
        self.quotas = tuple(Quota(quota, number) for number, quota in enumerate(self._settings.quotas, 1))
        self.roles = self._settings.known_roles()
        self._defaults = {effect: self._default(effect) for effect in Effect}
        self._concerns: WeakKeyDictionary[Tool, dict[str, _Concern]] = WeakKeyDictionary()

    def decide(self, request: AccessRequest) -> Decision:
        """Return the decision on a call."""
        return self.ruling(request).decision

    def ruling(self, request: AccessRequest) -> Ruling:
        """Return the decision on a call, with the rule that decides."""
        if self.only_reads(request.tool, read_only=request.read_only):
            return READ_ONLY
        for rule in self._concern(request).rules:
            if rule.holds(request):
                return rule.ruling
        return self.default(request.tool)

    def only_reads(self, tool: Tool, *, read_only: bool = False) -> bool:
        """Return whether `read_only`, of the caller or in the policy, denies every call of the tool."""
        return (read_only or self._settings.read_only) and tool.effect is not Effect.READ

    def default(self, tool: Tool) -> Ruling:
        """Return the default decision for a tool. A saved program is not asked about by default: its calls are."""
        ruling = self._defaults[tool.effect]
        return _CALLS_DECIDE if tool.source == SAVED and ruling.decision is Decision.ASK else ruling

    def _default(self, effect: Effect) -> Ruling:
        return Ruling(Decision(getattr(self._settings.default, effect)), f"default for {effect}")

    def _concern(self, request: AccessRequest) -> _Concern:
        """Return the rules and quotas for a tool and a role, which are found once."""
        by_role = self._concerns.setdefault(request.tool, {})
        known = by_role.get(request.role)
        if known is None:
            known = by_role[request.role] = _Concern(
                tuple(rule for rule in self.rules if rule.concerns(request.tool, request.role)),
                tuple(quota for quota in self.quotas if quota.concerns(request.tool, request.role)),
            )
        return known

    def may_use(self, tool: Tool, role: str) -> bool:
        """Return whether any call of the tool can be allowed. Otherwise the tool does not exist for the role."""
        program = program_of(tool)
        if program is not None and program.roles and role not in program.roles:
            return False
        for rule in self.rules:
            if not rule.concerns(tool, role):
                continue
            if rule.ruling.decision is not Decision.DENY:
                return True
            if not rule.is_conditional:
                return False
        return self.default(tool).decision is not Decision.DENY

    def guards(self, role: str, tool: Tool) -> bool:
        """Return whether a call without arguments is denied, or needs a person."""
        return self.decide(AccessRequest(tool, {}, role)) is not Decision.ALLOW

    def may_know(self, source: str, role: str) -> bool:
        """Return whether a role may know of a source that is unavailable.

        The source is known if a rule that does not deny names it, or if the role may use any tool of it. Otherwise it
        does not exist for the role.
        """
        for rule in self.rules:
            named = any(pattern.partition(".")[0] == source for pattern in rule.settings.tools)
            if named and rule.ruling.decision is not Decision.DENY and role in (rule.settings.roles or (role,)):
                return True
        return any(self.may_use(Tool(f"{source}.{source}", source=source, effect=effect), role) for effect in Effect)

    def count(self, request: AccessRequest, tally: Tally) -> Ruling | None:
        """Count an allowed call. Return a ruling against it if a quota is used up, else None."""
        concerned = self._concern(request).quotas
        for quota in concerned:
            if tally.counts[quota.number] >= quota.calls:
                reason = f"at most {quota.calls} calls of these tools in one execution"
                return Ruling(Decision.DENY, quota.label, reason)
        for quota in concerned:
            tally.counts[quota.number] += 1
        return None


@dataclass(frozen=True, slots=True)
class _Concern:
    """The rules and quotas that can decide on calls of one tool in one role, in order."""

    rules: tuple[Rule, ...]
    quotas: tuple[Quota, ...]


class Rule:
    """One rule, compiled."""

    def __init__(self, settings: RuleSettings, number: int) -> None:
        self.settings = settings
        self.label = f"rule {number}" + (f" ({settings.name})" if settings.name else "")
        self.ruling = Ruling(Decision(settings.decision), self.label, settings.reason, settings.low_risk)
        self.tools = Globs(settings.tools)
        self.conditions = tuple(Condition(path, values) for path, values in settings.where.items())

    @property
    def is_conditional(self) -> bool:
        """Whether the rule has conditions on arguments."""
        return bool(self.conditions)

    def why_not(self, tool: Tool, role: str) -> str:
        """Return why the rule does not concern a tool and a role, or ""."""
        rule = self.settings
        if not self.tools.fit(tool.id):
            return "other tools"
        if rule.effects and tool.effect not in rule.effects:
            return f"other effects than {tool.effect}"
        if rule.sources and tool.source not in rule.sources:
            return "other sources"
        if rule.tiers and tool.tier not in rule.tiers:
            return "other tiers"
        if rule.roles and role not in rule.roles:
            return "other roles"
        strict = self.ruling.decision is Decision.ALLOW
        must = [condition for condition in self.conditions if not condition.may_be_absent]
        strange = next((one.path for one in must if not one.concerns(tool, undeclared=not strict)), None)
        return f"the tool has no argument {strange!r}" if strange else ""

    def concerns(self, tool: Tool, role: str) -> bool:
        """Return whether the rule can decide on some call of the tool."""
        return not self.why_not(tool, role)

    def unmet(self, request: AccessRequest) -> Iterator[str]:
        """Yield the paths of conditions that do not match. To allow, all values must certainly match, else one may."""
        allows = self.ruling.decision is Decision.ALLOW
        for condition in self.conditions:
            holds = condition.surely_holds if allows else condition.may_hold
            if not holds(request.tool, request.arguments):
                yield condition.path

    def holds(self, request: AccessRequest) -> bool:
        """Return whether all conditions match."""
        return next(self.unmet(request), None) is None


class Quota:
    """One quota, compiled."""

    def __init__(self, settings: QuotaSettings, number: int) -> None:
        self.settings = settings
        self.number = number
        self.label = f"quota {number}"
        self.calls = settings.calls
        self.tools = Globs(settings.tools)

    def concerns(self, tool: Tool, role: str) -> bool:
        """Return whether calls of the tool count."""
        return self.tools.fit(tool.id) and (not self.settings.roles or role in self.settings.roles)


class Globs:
    """Shell patterns on tool ids. Without patterns, every id matches."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        self._compiled = tuple(re.compile(translate(pattern)) for pattern in self.patterns)

    def fit(self, id_: str) -> bool:
        """Return whether a pattern matches."""
        return not self._compiled or any(pattern.match(id_) for pattern in self._compiled)
