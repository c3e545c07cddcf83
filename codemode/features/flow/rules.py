"""The rules on the flow of text: the operator's, then the built-in ones. The first that matches decides."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect
from codemode.features.flow.folding import plain
from codemode.features.flow.marks import fields, letters
from codemode.gateway.conditions import Condition
from codemode.gateway.policy import Decision, Globs, Ruling
from codemode.settings.flow import FromMark, SecrecyMark

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.features.flow.reading import Origin, Reading
    from codemode.settings.flow import FlowRuleSettings, FlowSettings

    OriginOf = Callable[[str], Awaitable[Origin | None]]

#: Words of arguments that say where something goes, or what is carried out.
_DIRECTION_WORDS = (
    "to cc bcc recipient recipients receiver payee payees beneficiary iban account email emails mail address phone "
    "participants attendees invitees members member url uri urls link links href endpoint webhook callback redirect "
    "host hostname domain server path filepath filename file folder directory dir destination target command cmd shell "
    "script code sql expression channel user username users role permission permissions token password key "
    "person assignee contact guest approver reviewer watcher subscriber"
)
DIRECTIONS = frozenset(_DIRECTION_WORDS.split())

#: Of these, the words for an address that a read may visit.
ADDRESSES = frozenset(
    ("url", "urls", "uri", "link", "links", "href", "endpoint", "webhook", "host", "hostname", "domain")
)

#: Texts that are a link; a link, a mail address or an IBAN (ISO 13616). They say where something goes by themselves.
_LINK = r"(?:[a-z][a-z0-9+.-]{1,15}:)?//\S{3,}|www\.\S{3,}|[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}[/?]\S*"
_MAIL, _IBAN = r"[^\s@]{1,100}@[^\s@]{1,250}", r"[A-Z]{2}\d\d(?:\s?[0-9A-Z]){11,30}"
_IS_LINK = re.compile(_LINK, re.IGNORECASE)
_IS_DIRECTION = re.compile(f"{_LINK}|{_MAIL}|{_IBAN}", re.IGNORECASE)

_CHANGES, _READS = frozenset({Effect.WRITE, Effect.DESTRUCTIVE}), frozenset({Effect.READ})


@dataclass(frozen=True, slots=True)
class FlowCall:
    """A call to judge. `shown` says what untrusted text has reached the model in the conversation, or ""."""

    tool: Tool
    arguments: Mapping[str, Any]
    role: str
    shown: str


@dataclass(frozen=True, slots=True)
class FlowRule:
    """One rule.

    `untrusted` and `private` are paths of arguments whose text must come from such a place. `to_an_address`: the call
    must name a link or a host, which a read may visit. `carries`: such a link is an outsider's, and has text of others.
    """

    label: str
    decision: Decision
    reason: str = ""
    tools: Globs = field(default_factory=lambda: Globs(()))
    effects: frozenset[Effect] = _CHANGES
    sources: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    untrusted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    after_untrusted: bool = False
    in_conversation: bool = False
    to_an_address: bool = False
    carries: bool = False

    def concerns(self, tool: Tool, role: str) -> bool:
        """Return whether the rule can decide on a call of the tool."""
        return (
            self.tools.fit(tool.id)
            and tool.effect in self.effects
            and (not self.sources or tool.source in self.sources)
            and (not self.roles or role in self.roles)
        )

    async def ruling(self, call: FlowCall, reading: Reading) -> Ruling | None:
        """Return the rule's decision on a call, None if it does not match."""
        if self.to_an_address and not any(_is_meant(_ADDRESS, *each) for each in _texts(call.tool, call.arguments)):
            return None
        if not all(condition.may_hold(call.tool, call.arguments) for condition in self.conditions):
            return None
        reasons = []
        async for reason in self._reasons(call, reading):
            if reason is None:
                return None
            reasons.append(reason)
        return Ruling(self.decision, self.label, "; ".join([*reasons, self.reason] if self.reason else reasons))

    async def _reasons(self, call: FlowCall, reading: Reading) -> AsyncIterator[str | None]:
        """Yield what each condition on the flow of text has found, None if it has found nothing."""
        if self.in_conversation:
            yield f"the model has read what outsiders wrote: {call.shown}" if call.shown else None
        if self.after_untrusted:
            origin = await reading.has_untrusted()
            yield f"the program has read what outsiders wrote: {origin}" if origin is not None else None
        for path in self.untrusted:
            yield await self._origin(call, path, reading.untrusted)
        for path in self.private:
            yield await self._origin(call, path, lambda text: reading.private(text, call.tool.source), _PRIVATE)
        if self.carries:
            yield await self._origin(call, _ADDRESS, reading.carried, _CARRIES)

    async def _origin(self, call: FlowCall, path: str, origin_of: OriginOf, more: str = "") -> str | None:
        """Return which argument at a path has marked text, and where that comes from."""
        for at, text in _texts(call.tool, call.arguments):
            origin = await origin_of(text) if _is_meant(path, at, text) else None
            if origin is not None:
                return f"`{'.'.join(at)}` comes from {origin}{more}"
        return None


#: Stand for every argument that says where something goes, or what is carried out, and for an address.
_DIRECTION, _ADDRESS = "@direction", "@address"

_PRIVATE, _CARRIES = ", which is private", ", and has text of another answer"

BUILT_IN = (
    FlowRule("flow: directions", Decision.ASK, untrusted=(_DIRECTION,)),
    FlowRule("flow: directions", Decision.ASK, effects=_READS, carries=True),
    FlowRule("flow: private text", Decision.ASK, private=("*",)),
    FlowRule("flow: private text", Decision.ASK, effects=_READS, private=(_DIRECTION,)),
    FlowRule("flow: conversation", Decision.ASK, in_conversation=True),
    FlowRule("flow: conversation", Decision.ASK, effects=_READS, in_conversation=True, to_an_address=True),
)

STRICT = FlowRule("flow: strict", Decision.ASK, after_untrusted=True)


class FlowRules:
    """All rules in order."""

    def __init__(self, settings: FlowSettings) -> None:
        strict = (STRICT,) if settings.mode == "strict" else ()
        own = (_compiled(rule, number) for number, rule in enumerate(settings.rules, 1))
        self._rules = (*own, *BUILT_IN, *strict)

    def concerning(self, tool: Tool, role: str) -> tuple[FlowRule, ...]:
        """Return the rules that can decide on a call of a tool."""
        return tuple(rule for rule in self._rules if rule.concerns(tool, role))

    async def ruling(self, call: FlowCall, rules: Iterable[FlowRule], reading: Reading) -> Ruling | None:
        """Return the decision of the first rule that matches a call, or None."""
        for rule in rules:
            ruling = await rule.ruling(call, reading)
            if ruling is not None:
                return None if ruling.decision is Decision.ALLOW else ruling
        return None


def _compiled(settings: FlowRuleSettings, number: int) -> FlowRule:
    marked = settings.where.items()
    patterns = ((path, values) for path, values in marked if not isinstance(values, (FromMark, SecrecyMark)))
    label = f"flow rule {number}" + (f" ({settings.name})" if settings.name else "")
    return FlowRule(
        label,
        Decision(settings.decision),
        settings.reason,
        tools=Globs(settings.tools),
        effects=frozenset(map(Effect, settings.effects)) or frozenset(Effect),
        sources=frozenset(settings.sources),
        roles=frozenset(settings.roles),
        untrusted=tuple(path for path, mark in marked if isinstance(mark, FromMark)),
        private=tuple(path for path, mark in marked if isinstance(mark, SecrecyMark)),
        conditions=tuple(Condition(path, values) for path, values in patterns),
        in_conversation=settings.when is not None,
    )


def _texts(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of arguments with the names that lead to them, also those within JSON text."""
    for name, value in arguments.items():
        parameter = tool.parameter(name)
        if parameter is not None and parameter.schema.get("enum") is not None:
            continue
        for path, text in fields(value):
            yield (name, *path), text
            for inner in filter(None, map(_parsed, (text,) if " " in text.strip() else plain(text))):
                yield from (((name, *path, *further), part) for further, part in fields(inner))
        yield from (((name, *path), text) for path, text in _joined(value))


def _joined(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of each list as one: a service may join what a program has split."""
    unvisited: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while unvisited:
        path, part = unvisited.pop()
        if isinstance(part, dict):
            unvisited += [((*path, str(name)), each) for name, each in part.items()]
        elif isinstance(part, (list, tuple)):
            unvisited += [(path, each) for each in part]
            texts = [each for each in part if isinstance(each, str)]
            yield from ((path, text) for text in (*letters(part), *[" ".join(texts)] * (len(texts) > 1)))


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_meant(path: str, at: tuple[str, ...], text: str) -> bool:
    if path == "*":
        return True
    if path in (_DIRECTION, _ADDRESS):
        words, looks = (DIRECTIONS, _IS_DIRECTION) if path == _DIRECTION else (ADDRESSES, _IS_LINK)
        return looks.fullmatch(text.strip()) is not None or any(
            not words.isdisjoint(snake(name).split("_")) for name in at
        )
    steps = [_plain(step) for step in path.removesuffix("?").split(".")]
    names = [_plain(name) for name in at]
    return any(names[start : start + len(steps)] == steps for start in range(len(names) - len(steps) + 1))


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
