"""Check a policy against a catalog: rules that never decide, and patterns without a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.withheld import Withheld
from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound
from codemode.gateway.policy import Globs
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.gateway.policy import AccessPolicy, Rule
    from codemode.settings import Settings


class Finding(NamedTuple):
    """A problem of one part of the policy: its place in the settings, and a message."""

    place: tuple[str | int, ...]
    text: str


def require_known_tools(settings: Settings, policy: AccessPolicy, catalog: Catalog) -> None:
    """Check that every pattern matches a tool, and that pins, `definitions.inline` and `modes` name some.

    Raises ConfigurationError.

    A typing mistake must not disable a rule.
    """
    findings = (
        *unknown_tools(settings, policy, catalog),
        *_unknown_pins(settings, catalog),
        *_unknown_inline(settings, catalog),
        *_unknown_sources(settings, catalog),
    )
    found = [f"{settings.place(*one.place)}: {one.text}" for one in findings]
    if found:
        raise ConfigurationError("\n".join(found))


def unknown_tools(settings: Settings, policy: AccessPolicy, catalog: Catalog) -> Iterator[Finding]:
    """Yield patterns that match no tool.

    Patterns of sources without tools at present are skipped, and of tools that wait for the operator.
    """
    silent, ids = _silent(settings, catalog), (*(tool.id for tool in catalog), *_waiting(catalog))
    parts = [("rules", rule.settings.tools) for rule in policy.rules]
    parts += [("quotas", quota.settings.tools) for quota in policy.quotas]
    numbers = {"rules": 0, "quotas": 0}
    for section, patterns in parts:
        number = numbers[section]
        numbers[section] += 1
        for place, pattern in enumerate(patterns):
            globs = Globs((pattern,))
            if pattern.partition(".")[0] in silent or any(globs.fit(id_) for id_ in ids):
                continue
            text = f"no tool matches {pattern!r}{_nearest(pattern, catalog)}"
            yield Finding(("policy", section, number, "tools", place), text)


def _silent(settings: Settings, catalog: Catalog) -> set[str]:
    """Return the namespaces that are configured and have no tools at present."""
    return {*settings.sources, *settings.own_namespaces} - set(catalog.namespaces)


def _waiting(catalog: Catalog) -> frozenset[str]:
    return frozenset(id_ for id_, why in catalog.withheld.items() if why is Withheld.WAITING)


def _unknown_pins(settings: Settings, catalog: Catalog) -> Iterator[Finding]:
    silent, waiting = _silent(settings, catalog), _waiting(catalog)
    for place, pin in enumerate(settings.pins):
        if pin not in catalog and pin not in waiting and pin.partition(".")[0] not in silent:
            yield Finding(("pins", place), f"there is no tool {pin!r}{_nearest(pin, catalog)}")


def _unknown_inline(settings: Settings, catalog: Catalog) -> Iterator[Finding]:
    silent, waiting = _silent(settings, catalog), _waiting(catalog)
    for place, name in enumerate(settings.definitions.inline):
        if name in waiting or name.partition(".")[0] in silent:
            continue
        try:
            catalog.members(name)
        except SourceUnavailable:
            continue
        except ToolNotFound:
            names = (*(tool.id for tool in catalog), *catalog.groups, *catalog.namespaces)
            text = f"there is no tool, group or source {name!r}{did_you_mean(name, names)}"
            yield Finding(("definitions", "inline", place), text)


def _unknown_sources(settings: Settings, catalog: Catalog) -> Iterator[Finding]:
    known = {*settings.sources, *(tool.source for tool in catalog), *_silent(settings, catalog)}
    for number, rule in enumerate(settings.modes):
        for place, name in enumerate(rule.sources):
            if name not in known:
                text = f"there is no source {name!r}{did_you_mean(name, known)}"
                yield Finding(("modes", number, "sources", place), text)


def without_effect(policy: AccessPolicy, catalog: Catalog) -> Iterator[Finding]:
    """Yield rules that never decide."""
    for number, rule in enumerate(policy.rules):
        if not any(rule.tools.fit(tool.id) for tool in catalog):
            continue  # reported by unknown_tools
        text = _never_decides(rule, policy.rules[:number], policy.roles, catalog.tools)
        if text:
            yield Finding(("policy", "rules", number), text)


def _never_decides(rule: Rule, before: Iterable[Rule], roles: Iterable[str], tools: Iterable[Tool]) -> str:
    """Return why a rule never decides, or ""."""
    concerned = [(tool, role) for role in roles for tool in tools if rule.concerns(tool, role)]
    if not concerned:
        return "it matches no tool: no tool that it names has its effects, sources, tiers or arguments"
    earlier = [other for other in before if not other.is_conditional]
    hiding = {next((other.label for other in earlier if other.concerns(*one)), "") for one in concerned}
    if "" in hiding:
        return ""
    return f"it is never reached: {', '.join(sorted(hiding))} decides before it"


def _nearest(pattern: str, catalog: Catalog) -> str:
    alias = next((tool.id for tool in catalog if pattern in tool.aliases or pattern.lower() == tool.id.lower()), None)
    names = [tool.id for tool in catalog]
    if "*" in pattern:
        names = sorted({f"{id_.rpartition('.')[0]}.*" for id_ in names} | {f"{name}.*" for name in catalog.namespaces})
    return f"; did you mean {alias!r}?" if alias else did_you_mean(pattern, names)
