"""Problems of a source that can be seen before a call: no address, missing credentials, destructive words."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.effect_words import destructive_word
from codemode.catalog.tool import Effect
from codemode.errors import AddressNotAllowed, ConfigurationError, CredentialsMissing
from codemode.gateway.policy import AccessPolicy, Decision
from codemode.settings import DEFAULT_ROLE, Secrets
from codemode.shared.files import FolderStore
from codemode.sources.authentication import authentication_of
from codemode.transports.auth.requirements import ALWAYS, SchemeKind
from codemode.transports.http.addresses import base_for, checked_base, without_userinfo
from codemode.transports.http.invocation import HttpInvocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.catalog.tool import Tool
    from codemode.settings import SecretReference, Settings
    from codemode.sources.factory import LoadedSource
    from codemode.transports.auth.requirements import Authentication, Configured

#: Maximum number of tools listed by name.
_NAMED = 3


class Prediction(NamedTuple):
    """A predicted problem and its fix. `is_fatal` if no call of the source can succeed."""

    subject: str
    found: str
    fix: str
    is_fatal: bool = False


class _Assumed(Secrets):
    """Secrets that always resolve. `doctor` reports missing ones separately."""

    def text(self, reference: SecretReference | None) -> str:
        """Return a placeholder."""
        return "" if reference is None else "assumed"


def named_like_modules(settings: Settings) -> Iterator[Prediction]:
    """Yield sources whose namespace is shadowed in a program that imports the Python module of that name."""
    for name in settings.sources:
        if name in sys.stdlib_module_names:
            found = f"has the name of a Python module: a program that imports {name} no longer finds these tools"
            yield Prediction(f"{name} name", found, f"rename it; until then programs can write tools.{name}")


def predictions(source: LoadedSource, settings: Settings) -> Iterator[Prediction]:
    """Yield the predicted problems of a loaded source."""
    calls = [(tool, tool.invocation) for tool in source.tools if isinstance(tool.invocation, HttpInvocation)]
    if calls:
        yield from _addresses(source, settings, calls)
        yield from _credentials(source, settings, calls)
    yield from _words(source, settings)


def _addresses(
    source: LoadedSource, settings: Settings, calls: list[tuple[Tool, HttpInvocation]]
) -> Iterator[Prediction]:
    own = settings.sources[source.name]
    refused: list[Tool] = []
    why = ""
    for tool, invocation in calls:
        try:
            base_for(
                invocation.servers,
                common=source.surface.servers,
                configured=None if own.base_url is None else checked_base(own.base_url),
                location=without_userinfo(own.location),
                source=source.name,
            )
        except (AddressNotAllowed, ConfigurationError) as error:
            refused.append(tool)
            why = str(error)
    if refused:
        found = f"{_counted(refused, calls)} cannot be sent: {why}"
        yield Prediction(
            f"{source.name} address", found, f"set sources.{source.name}.base_url", len(refused) == len(calls)
        )


def _credentials(
    source: LoadedSource, settings: Settings, calls: list[tuple[Tool, HttpInvocation]]
) -> Iterator[Prediction]:
    own = settings.sources[source.name]
    try:
        authentication = authentication_of(source.name, own, _Assumed(), tokens=FolderStore.of(settings))
    except ConfigurationError:
        return  # reported when the source is read
    used, refused, why = _used(authentication, calls)
    if refused:
        found = f"{_counted(refused, calls)} cannot be sent: {why.splitlines()[0]}"
        fix = "\n".join(why.splitlines()[1:]) or f"set sources.{source.name}.credentials"
        yield Prediction(f"{source.name} credentials", found, fix)
    for place, one in enumerate(authentication.configured):
        if one.kind is SchemeKind.NONE or one.scheme == ALWAYS or one in used:
            continue
        fix = f'remove it, or write `scheme: "{ALWAYS}"` to send it with every call'
        yield Prediction(f"{source.name} credentials.{place}", f"no operation uses this {one.kind}", fix)


def _used(
    authentication: Authentication, calls: list[tuple[Tool, HttpInvocation]]
) -> tuple[list[Configured], list[Tool], str]:
    """Return the used credentials, the operations that lack credentials, and the message for one of them."""
    used: list[Configured] = []
    refused: list[Tool] = []
    why = ""
    for tool, invocation in calls:
        try:
            used += [one for one in authentication.chosen(invocation.security) if one not in used]
        except CredentialsMissing as error:
            refused.append(tool)
            why = str(error)
    return used, refused, why


def _words(source: LoadedSource, settings: Settings) -> Iterator[Prediction]:
    """Yield writes allowed by default whose name or description says that they destroy something."""
    policy = AccessPolicy(settings.policy)
    found = {}
    for tool in source.tools:
        word = destructive_word(" ".join((tool.path, tool.summary, tool.description)))
        if word and tool.effect is Effect.WRITE and _is_allowed(policy, tool):
            found[tool.id] = word
    if found:
        shown = ", ".join(f"{name} ({word})" for name, word in list(found.items())[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        fix = f"sources.{source.name}.effect: {{{next(iter(found)).partition('.')[2]}: destructive}}, or an `ask` rule"
        yield Prediction(f"{source.name} effects", f"allowed writes with destructive words: {shown}{more}", fix)


def _is_allowed(policy: AccessPolicy, tool: Tool) -> bool:
    first = next((rule for rule in policy.rules if rule.concerns(tool, DEFAULT_ROLE) and not rule.is_conditional), None)
    return (first.ruling if first else policy.default(tool)).decision is Decision.ALLOW


def _counted(some: list[Tool], of: list[tuple[Tool, HttpInvocation]]) -> str:
    names = ", ".join(tool.id for tool in some[:_NAMED])
    return f"{len(some)} of {len(of)} operations ({names}{' …' if len(some) > _NAMED else ''})"
